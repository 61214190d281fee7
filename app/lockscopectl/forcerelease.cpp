// SPDX-License-Identifier: Apache-2.0
// force-release: the preview, the question, the act, and what came of it.
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/operate/releasemethod.h"
#include "core/operate/precheck.h"

namespace lockscope::ctl {

using operate::ForceReleasePlan;
using operate::ReleaseAction;

namespace {

QJsonArray toArray(const QStringList &texts)
{
    return QJsonArray::fromStringList(texts);
}

QStringList waysOf(const ForceReleasePlan &plan)
{
    return mapped<QStringList>(plan.ways,
                               [&](const auto &offer) { return QString::fromLatin1(operate::wordOf(offer.way)); });
}

// The answer in JSON (docs/json.md); `outcome` says in words what came of it.
QJsonObject answer(CommandContext &context, const QString &lock, const QByteArray &holder,
                   const std::optional<ForceReleasePlan> &plan)
{
    const auto next = plan ? plan->nextHolder : std::nullopt;
    QJsonObject json{{u"released"_s, false},
                     {u"lock"_s, lock},
                     {u"holder"_s, escaped(holder)},
                     {u"commands"_s, toArray(plan ? plan->commands : QStringList())},
                     {u"guard"_s, plan ? QJsonValue(plan->guardText) : QJsonValue(QJsonValue::Null)},
                     {u"nextHolder"_s, next ? QJsonValue(escaped(*next)) : QJsonValue(QJsonValue::Null)},
                     {u"warnings"_s, toArray(plan ? plan->allWarnings() : QStringList())},
                     {u"reason"_s, context.has(u"reason"_s) ? QJsonValue(context.arguments.value(u"reason"_s))
                                                            : QJsonValue(QJsonValue::Null)}};
    if (plan) {
        json["wakes"_L1] = plan->wakes;
        json["alternatives"_L1] = toArray(plan->alternatives);
        json["exact"_L1] = plan->exact;
        json["method"_L1] = QString::fromLatin1(operate::wordOf(plan->way));
        json["methods"_L1] = toArray(waysOf(*plan));
        if (plan->way != ReleaseAction::Release)
            json["otherLosses"_L1] = plan->alsoLost;
        if (plan->leaseKeys) {
            const auto keys = mapped<QJsonArray>(*plan->leaseKeys, [&](const auto &key) { return escaped(key); });
            json["leaseKeys"_L1] = keys;
        }
        const auto others = mapped<QJsonArray>(plan->otherLocksLost, [&](const auto &name) {
            return escaped(inspect::LockName{plan->before.lock.connection, name}.text());
        });
        json["otherLocksLost"_L1] = others;
        json["otherLocksComplete"_L1] = plan->otherLocksKnown;
    }
    return json;
}

QString otherLocks(const ForceReleasePlan &plan)
{
    const auto names = mapped<QStringList>(plan.otherLocksLost, [&](const auto &name) { return label(name, 120); });
    if (names.isEmpty())
        return plan.otherLocksKnown ? u"no other lock"_s : u"not known"_s;
    const auto seen = names.join(u", "_s);
    return plan.otherLocksKnown ? seen : u"%1; there may be more"_s.arg(seen);
}

// A MultiLock has lost its meaning when one of its members is somebody else's, and its client does not learn of it.
QStringList besideTexts(const std::optional<HeldBeside> &beside)
{
    if (!beside)
        return {u"other locks of the thread are unknown: the server has not been read completely yet"_s};
    if (beside->empty())
        return {};
    return {u"holds %1 too, maybe as one MultiLock; it keeps what is not released"_s.arg(
        inspect::heldWithNames(*beside))};
}

QString preview(const ForceReleasePlan &plan, const std::optional<HeldBeside> &beside)
{
    QStringList lines;
    const auto add = [&](const QString &title, const QStringList &texts) {
        for (qsizetype i = 0; i < texts.size(); ++i)
            lines << (i == 0 ? title : QString()).leftJustified(13) + texts[i];
    };
    const bool isRelease = plan.way == ReleaseAction::Release;
    add(isRelease ? u"release"_s : QString::fromLatin1(operate::wordOf(plan.way)),
        {escaped(plan.before.lock.text())});
    add(plan.way == ReleaseAction::KillWaiter ? u"waiter"_s
        : isRelease                           ? u"taken from"_s
                                              : u"holder"_s,
        {idWithLabel(plan.before, plan.holder)});
    add(u"same thread"_s, besideTexts(beside));
    add(u"alternatives"_s, plan.alternatives);
    add(u"methods"_s, {waysOf(plan).join(u", "_s) + u" (--method)"_s});
    add(u"will send"_s, plan.commands);
    add(u"only if"_s, {plan.exact ? plan.guardText : u"%1 (not exact, see the warning)"_s.arg(plan.guardText)});
    add(u"next holder"_s, {plan.nextHolder && isRelease ? idWithLabel(plan.before, *plan.nextHolder)
                           : plan.who.isEmpty()         ? u"unknown"_s
                                                        : plan.who});
    add(u"wakes"_s, {plan.wakes});
    add(u"also lost"_s, {isRelease ? otherLocks(plan) : plan.alsoLost});
    if (plan.leaseKeys) {
        const auto keys = mapped<QStringList>(*plan.leaseKeys, [&](const auto &key) { return escaped(key); });
        add(u"all its keys"_s, keys);
    }
    add(u"warning"_s, plan.allWarnings());
    return lines.join(u'\n') + u'\n';
}

// What else its thread holds. Of one that holds only: a waiter's thread says nothing of what it waits for.
Task<std::optional<HeldBeside>> besideHolder(CommandContext &context, ForceReleasePlan plan)
{
    const auto *holder = plan.before.find(plan.holder);
    if (!holder || holder->role != inspect::Role::Holder)
        co_return HeldBeside();
    auto ofHolder = plan.before;
    ofHolder.contenders = {*holder};
    auto beside = co_await context.pictures.heldWith(std::move(ofHolder));
    co_return beside;
}

// A line from the terminal without stopping the event loop: sessions have to be kept alive meanwhile.
// An end of file or an interrupt answers with nothing, and ends the line of the question.
Task<QString> askTerminal(CommandContext &context, QString question)
{
    context.waiting.cancel();
    printNote(question + u": "_s);
    const EventQueue<QString> lines(context.loop());
    QSocketNotifier notifier(STDIN_FILENO, QSocketNotifier::Read);
    QObject::connect(&notifier, &QSocketNotifier::activated, &notifier, [lines, &notifier] {
        char buffer[256];
        const auto got = ::read(STDIN_FILENO, buffer, sizeof buffer);
        notifier.setEnabled(false);
        if (got <= 0)
            printNote(u"\n"_s);
        lines.push(QString::fromUtf8(buffer, std::max<ssize_t>(0, got)).trimmed());
    });
    context.interrupts.setHandler([lines](Interrupt) {
        printNote(u"\n"_s);
        lines.push(QString());
    });
    const auto line = co_await lines.next();
    co_return line;
}

// While a person thinks, what was shown is followed: a hold that is let go of and taken again by the same id is
// another one, which only whoever looks meanwhile can tell (core/operate/precheck.h). Costs a look at all of its
// server, so only where ids come again.
Task<void> followMeanwhile(CommandContext &context, ForceReleasePlan plan)
{
    if (!operate::keepsItsId(plan.before))
        co_return;
    co_await lookThrough(&context.workspace, plan.before.lock.connection);
}

enum class Hold { AsShown, Gone, Another };

Hold holdNow(const ForceReleasePlan &plan, const inspect::SnapshotChange &change)
{
    const auto *holder = change.kind == inspect::ChangeKind::Removed ? nullptr : change.lock.find(plan.holder);
    if (!holder || holder->role != inspect::Role::Holder)
        return Hold::Gone;
    return operate::isAnotherHold(plan.before, change.lock, plan.holder) ? Hold::Another : Hold::AsShown;
}

// Told beside the question, as soon as it is seen; then the question again.
void printChanges(CommandContext &context, const ForceReleasePlan &plan, const QString &question)
{
    if (!operate::keepsItsId(plan.before))
        return;
    context.sink.onChange([plan, question, known = Hold::AsShown](const inspect::SnapshotChange &change) mutable {
        const bool isOurs = change.lock.lock == plan.before.lock;
        const auto now = isOurs ? holdNow(plan, change) : known;
        if (now == std::exchange(known, now) || now == Hold::AsShown)
            return;
        const auto holder = escaped(plan.holder);
        const auto words = now == Hold::Gone
                               ? u"%1 no longer appears as the holder"_s.arg(holder)
                               : u"%1 released the lock and acquired it again; this is a new hold"_s.arg(holder);
        printNote(u"\n%1\n%2: "_s.arg(words, question));
    });
}

// On a production connection a yes out of habit is not enough.
Task<Result<void>> confirmed(CommandContext &context, ForceReleasePlan plan)
{
    if (context.has(u"yes"_s))
        co_return Result<void>();
    const auto &name = plan.before.lock.connection;
    const bool isProduction = context.workspace.find(name)->gate().isProduction();
    const Error no{ErrorCode::Refused,
                   u"not confirmed; nothing was sent. Use %1, or run on a terminal and confirm"_s.arg(
                       isProduction ? u"--yes --confirm %1"_s.arg(escaped(name.bytes())) : u"--yes"_s)};
    if (!::isatty(STDIN_FILENO))
        co_return no;
    const auto wanted = isProduction ? escaped(name.bytes()) : u"yes"_s;
    const auto act = plan.act.isEmpty() ? u"release"_s : plan.act;
    const auto question = isProduction
                              ? u"This is production. Type the connection's name (%1) to %2"_s.arg(wanted, act)
                              : u"Type yes to %1"_s.arg(act);
    printChanges(context, plan, question);
    const auto typed = co_await askTerminal(context, question);
    context.sink.onChange({});
    if (typed == wanted)
        co_return Result<void>();
    co_return no;
}

// In production a script says which connection it means, and every act has a reason.
Result<void> checkProduction(const CommandContext &context, const ConnectionName &connection)
{
    const auto name = escaped(connection.bytes());
    const bool isNamed = context.arguments.value(u"confirm"_s) == name;
    const auto refused = [&name](const QString &what) {
        return Error{ErrorCode::Refused, u"%1: %2; nothing was sent"_s.arg(name, what)};
    };
    if (context.has(u"confirm"_s) && !isNamed)
        return refused(u"--confirm names another connection"_s);
    if (!context.workspace.find(connection)->gate().isProduction())
        return {};
    if (context.arguments.value(u"reason"_s).trimmed().isEmpty())
        return refused(u"it is production: give --reason TEXT"_s);
    if (context.has(u"yes"_s) && !isNamed)
        return refused(u"it is production: --yes is not enough, add --confirm %1"_s.arg(name));
    return {};
}

Exit refuse(CommandContext &context, QJsonObject json, const Error &error)
{
    if (context.json) {
        json["outcome"_L1] = error.message;
        printJson(json);
    }
    // No such lock is the same to this command as nobody holding it.
    printError(u"force-release: "_s + error.message);
    return error.code == ErrorCode::NoNode ? Exit::Refused : app::exitFor(error.code);
}

Task<Exit> act(CommandContext &context, ForceReleasePlan plan, QJsonObject json)
{
    const auto reason = context.arguments.value(u"reason"_s);
    const auto outcome = co_await context.workspace.forceRelease(plan, reason, requestDeadline(context));
    if (!outcome)
        co_return refuse(context, json, outcome.error());
    json["released"_L1] = outcome->released;
    json["done"_L1] = outcome->done;
    json["outcome"_L1] = outcome->message;
    if (context.json)
        printJson(json);
    else
        print(outcome->message);
    co_return outcome->done && outcome->isRecorded ? Exit::Done : Exit::Failed;
}

} // namespace

Task<Result<Exit>> runForceRelease(CommandContext &context)
{
    CO_TRY(const auto &lock, lockOf(context));
    const auto holder = unescaped(context.arguments.value(u"holder"_s));
    if (!holder || holder->isEmpty())
        co_return fail(
            Error{ErrorCode::BadInput,
                  u"force-release: --holder ID is required; run \"lockscopectl show LOCK\" to list IDs"_s});
    const auto word = context.has(u"method"_s) ? context.arguments.value(u"method"_s) : u"release"_s;
    const auto way = operate::wayNamed(word);
    if (!way)
        co_return fail(Error{ErrorCode::BadInput,
                             u"force-release: unknown method \"%1\"; --method takes %2"_s.arg(word, releaseMethods)});
    const auto name = escaped(lock.text());
    auto plan = co_await context.workspace.planForceRelease(lock, *holder, requestDeadline(context), *way);
    if (!plan && (plan.error().code == ErrorCode::Refused || plan.error().code == ErrorCode::NoNode))
        co_return refuse(context, answer(context, name, *holder, {}), plan.error());
    if (!plan)
        co_return fail(plan.error());
    inspect::addLabels(plan->before, context.labels);

    if (!plan->risk.isEmpty() && !context.has(u"not-exact"_s))
        co_return refuse(
            context, answer(context, name, plan->holder, *plan),
            Error{ErrorCode::Refused,
                  u"%1: nothing was sent: %2; use --not-exact to release it anyway"_s.arg(name, plan->risk)});
    plan->isRiskAccepted = true;

    auto json = answer(context, name, plan->holder, *plan);
    const bool isDry = context.has(u"dry-run"_s);
    const bool willAsk = !isDry && !context.has(u"yes"_s) && ::isatty(STDIN_FILENO);
    if (willAsk)
        co_await followMeanwhile(context, *plan);
    std::optional<HeldBeside> beside = HeldBeside();
    if (isDry || !context.has(u"yes"_s)) { // who has said yes does not wait for a look at the whole server
        beside = co_await besideHolder(context, *plan);
    }
    if (!beside || !beside->empty())
        json["heldWith"_L1] = beside ? QJsonValue(namesBeside(plan->before, *beside)) : QJsonValue();
    if (isDry) {
        json["dryRun"_L1] = true;
        if (context.json)
            printJson(json);
        else
            print(preview(*plan, beside) + u"dry run: nothing was sent"_s);
        co_return Exit::Done;
    }
    const auto &gate = context.workspace.find(lock.connection)->gate();
    if (gate.isReadOnly())
        co_return refuse(context, json,
                         Error{ErrorCode::Refused,
                               u"%1: its connection is %2read-only, nothing was sent; %3"_s.arg(
                                   name, gate.isProduction() ? u"production, so "_s : QString(), gate.remedy())});
    if (const auto meant = checkProduction(context, lock.connection); !meant)
        co_return refuse(context, json, meant.error());
    if (!context.json)
        print(preview(*plan, beside).chopped(1));
    else if (willAsk)
        printNote(preview(*plan, beside));
    const auto yes = co_await confirmed(context, *plan);
    if (!yes)
        co_return refuse(context, json, yes.error());
    const auto status = co_await act(context, *plan, json);
    co_return status;
}

} // namespace lockscope::ctl
