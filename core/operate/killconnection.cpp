// SPDX-License-Identifier: Apache-2.0
#include "core/operate/sql.h"

#include "core/base/random.h"

namespace lockscope::operate {

using mariadb::Rows;

namespace {

using Verdict = KillVerdict;
using Target = KillTarget;

// "said": held, gone or another. `then` is done when it is held, in the same statement.
QByteArray namedBlock(const Target &target, const QByteArray &then)
{
    return mariadb::sqlText("mariadb-kill-named",
                            {target.session->features().statusSchema, target.serverStarted, target.held, then});
}

// The same, or old.
QByteArray rowBlock(const Target &target, const QByteArray &then)
{
    const auto act = target.held.isEmpty()
                         ? then
                         : "IF " + target.held + " THEN " + then + "ELSE SET same = 0, present = 0; END IF; ";
    return mariadb::sqlText("mariadb-kill-row",
                            {mariadb::withoutReadView, mariadb::beginLook, rowFacts(target), act, mariadb::endLook});
}

Result<Verdict> verdictOf(const Result<Rows> &answer)
{
    if (!answer && answer.error().code == ErrorCode::NoRow) // no such connection: gone before the KILL
        return Verdict::Gone;
    const auto code = answer ? ErrorCode::Server : answer.error().code;
    if (code == ErrorCode::TimedOut || code == ErrorCode::Cancelled) // ended before or after the KILL in it
        return Error{ErrorCode::UnknownOutcome, answer.error().message, true};
    if (!answer)
        return answer.error();
    const auto said = answer->cell(0, "said").value_or("old");
    return said == "held"      ? Verdict::Killed
           : said == "gone"    ? Verdict::Gone
           : said == "another" ? Verdict::Another
           : said == "busy"    ? Verdict::Busy
           : said == "idle"    ? Verdict::Idle
                               : Verdict::Old;
}

Task<Result<Verdict>> killInBlock(Target target, Deadline deadline)
{
    const auto then = "KILL CONNECTION " + target.number() + "; ";
    const auto block = target.isTransaction() ? rowBlock(target, then) : namedBlock(target, then);
    const auto answer = co_await target.act(block, deadline);
    if (!answer && target.isTransaction()) {
        // Whatever broke it off: the look's transaction is not to stay open.
        (void)co_await target.ask(mariadb::endLook, Deadline::after(target.session->loop(), 5s));
    }
    co_return verdictOf(answer);
}

// What the connection does now: the number of its last statement, and whether that runs. Empty: there is none of its
// number. Not every server numbers statements.
Task<Result<QByteArray>> askActivity(Target target, Deadline deadline)
{
    if (!target.hasNumbersInBlocks())
        co_return QByteArray("unknown");
    CO_TRY(
        const auto &answer,
        co_await target.ask("SELECT CONCAT(QUERY_ID, ' ', COMMAND) AS activity FROM information_schema.PROCESSLIST "
                            "WHERE ID = "
                                + target.number(),
                            deadline));
    co_return answer.cell(0, "activity").value_or(QByteArray());
}

// Where a proxy stands between, on the server that was looked at or not at all.
QByteArray killIfStill(const Target &target, const QByteArray &activity)
{
    const auto kill = "KILL CONNECTION " + target.number();
    if (!target.hasNumbersInBlocks())
        return kill;
    return mariadb::sqlText("mariadb-kill-if-idle",
                            {QByteArray::number(target.ours), target.number(), sqlLiteral(activity), kill});
}

Task<Result<Verdict>> killAfterLook(Target target, QByteArray activity, Deadline deadline)
{
    const auto killed = co_await target.act(killIfStill(target, activity), deadline);
    if (killed && killed->rows.empty())
        co_return Verdict::Killed; // a KILL by itself says nothing
    co_return verdictOf(killed);
}

Task<Result<Verdict>> killByStatus(Target target, Deadline deadline)
{
    if (target.transaction.isEmpty())
        co_return Verdict::Old;
    constexpr int tries = 5;
    for (int i = 0; i < tries; ++i) {
        CO_TRY(const auto &activity, co_await askActivity(target, deadline));
        CO_TRY(const auto &found, co_await lookAtWhatIs(target, deadline));
        if (activity.isEmpty() || found == mariadb::InStatus::NotThere)
            co_return Verdict::Gone;
        if (found == mariadb::InStatus::NotKnown)
            co_return Verdict::Old;
        const auto verdict = co_await killAfterLook(target, activity, deadline);
        if (!verdict || *verdict != Verdict::Busy)
            co_return verdict;
    }
    co_return Verdict::Busy;
}

// Ends its running statement, where it is the one meant. A waiter of a named lock does not hold it: all that is known
// of it is that it waits for some.
QByteArray queryBlock(const Target &target, bool isWaiter)
{
    const auto of = "(SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = " + target.number()
                    + " AND COMMAND IN ('Query', 'Execute')";
    const auto kill = "KILL QUERY " + target.number() + "; ";
    if (!target.isTransaction() && isWaiter)
        return mariadb::sqlText("mariadb-kill-waiting-query",
                                {QByteArray::number(target.ours), target.number(), target.waits, kill});
    if (!target.isTransaction())
        return namedBlock(target, "IF " + of + ") = 1 THEN " + kill + "ELSE SET said = 'idle'; END IF; ");
    const auto waits =
        isWaiter ? " AND (SELECT COUNT(*) FROM information_schema.INNODB_TRX w WHERE w.trx_mysql_thread_id = "
                       + target.number() + " AND w.trx_state = 'LOCK WAIT') = 1"
                 : QByteArray();
    return rowBlock(target, "IF " + of + ") = 1" + waits + " THEN " + kill + "ELSE SET same = -1; END IF; ");
}

Task<Result<Verdict>> killQueryOf(Target target, bool isWaiter, Deadline deadline)
{
    constexpr int tries = 5;
    auto random = Random::fromSystem();
    Result<Verdict> verdict = Verdict::Old;
    for (int i = 0; i < tries; ++i) {
        if (target.isTransaction()) { // a copy that was made while we asked
            const auto rest =
                mariadb::copyRestsFor + std::chrono::milliseconds(random.below(static_cast<quint64>(60 * (i + 1))));
            co_await sleepFor(target.session->loop(), rest);
        }
        const auto answer = co_await target.act(queryBlock(target, isWaiter), deadline);
        if (!answer && target.isTransaction())
            (void)co_await target.ask(mariadb::endLook, Deadline::after(target.session->loop(), 5s));
        verdict = verdictOf(answer);
        if (!verdict || *verdict != Verdict::Old)
            break;
    }
    co_return verdict;
}

// Where there are no blocks.
Task<Result<bool>> holds(Target target, Deadline deadline)
{
    CO_TRY(const auto &answer, co_await target.ask("SELECT " + target.held + " AS held", deadline));
    co_return answer.cell(0, "held") == QByteArray("1");
}

Task<Result<Verdict>> killNamed(Target target, Deadline deadline)
{
    if (target.hasBlocks()) {
        const auto verdict = co_await killInBlock(target, deadline);
        co_return verdict;
    }
    const auto question = mariadb::serverQuestion(*target.session);
    CO_TRY(const auto &server, co_await target.ask(question, deadline));
    if (server.cell(0, "started") != target.serverStarted)
        co_return Verdict::Another;
    CO_TRY(const auto &still, co_await holds(target, deadline));
    if (!still)
        co_return Verdict::Gone;
    const QByteArray notNumbered;
    const auto verdict = co_await killAfterLook(target, notNumbered, deadline);
    co_return verdict;
}

Task<Result<Verdict>> killAfterFreshLook(Target target, Deadline deadline)
{
    const auto seen = co_await lookAfresh(target, deadline);
    if (!seen || *seen != Verdict::Killed)
        co_return seen;
    const QByteArray notNumbered;
    const auto verdict = co_await killAfterLook(target, notNumbered, deadline);
    co_return verdict;
}

// A few rests at random for the copy to be made anew; what is not copied where others never let it.
Task<Result<Verdict>> killRow(Target target, Deadline deadline)
{
    constexpr int tries = 3;
    auto random = Random::fromSystem();
    for (int i = 0; i < tries; ++i) {
        const auto rest =
            mariadb::copyRestsFor + std::chrono::milliseconds(random.below(static_cast<quint64>(60 * (i + 1))));
        co_await sleepFor(target.session->loop(), rest);
        auto killing = target.hasBlocks() ? killInBlock(target, deadline) : killAfterFreshLook(target, deadline);
        const auto verdict = co_await killing;
        if (!verdict || *verdict != Verdict::Old)
            co_return verdict;
    }
    const auto verdict = co_await killByStatus(target, deadline);
    co_return verdict;
}

// The server ends the connection, and rolls back, in its own time. What is not known in ours the next look says.
Task<void> untilGone(Target target)
{
    auto &loop = target.session->loop();
    const auto limit = Deadline::after(loop, 2s);
    for (auto pause = 2ms; !limit.hasPassed(loop); pause *= 2) {
        bool isHeld = false;
        if (target.isTransaction()) {
            const auto found = co_await lookAtWhatIs(target, limit);
            isHeld = found && *found == mariadb::InStatus::Active;
        } else {
            const auto still = co_await holds(target, limit);
            isHeld = still && *still;
        }
        if (!isHeld)
            co_return;
        co_await sleepFor(loop, pause);
    }
}

// A prepared XA transaction: there is no connection that could be ended.
bool hasNoSession(const inspect::Contender &holder)
{
    return holder.guard.sql().text.startsWith("xa=");
}

// In PROCESSLIST, while it waits for that.
QByteArray waitingStateOf(const QByteArray &lock)
{
    const auto type = inspect::objectOfLock(lock).value_or(inspect::SqlObject()).type.toLower();
    return "Waiting for "
           + (type == "global"                      ? "global read"
              : type == "table" || type == "schema" ? type + " metadata"
                                                    : type)
           + " lock";
}

// By what a look said it was; refused where that is not enough to know it again.
Result<Target> targetOf(const ForceReleasePlan &plan, mariadb::Session *session, bool isByPlugin)
{
    const QByteArray namedPrefix("GET_LOCK#");
    const auto *holder = plan.before.find(plan.holder);
    Target target;
    target.session = session;
    target.ours = session->connectionId();
    target.connection = holder && holder->session ? holder->session->toULongLong() : 0;
    if (holder && hasNoSession(*holder))
        return Error{ErrorCode::Unsupported, sentence("prepared-refused", {sentence("prepared-remedy")})};
    if (target.connection == 0)
        return changedMeanwhile(plan, u"its connection is not known"_s);
    const auto shape = recipes::recipeOf(plan.before.recipe).shape;
    if (shape == recipes::Shape::NamedLock) {
        target.waits = "User lock";
        target.held = "COALESCE(IS_USED_LOCK(" + sqlLiteral(plan.before.lock.name.mid(namedPrefix.size()))
                      + ") = " + target.number() + ", 0)";
        if (!holder->hold.isEmpty())
            target.held += " AND (SELECT COUNT(*) FROM performance_schema.metadata_locks m WHERE m.OBJECT_TYPE = "
                           "'USER LEVEL LOCK' AND m.LOCK_STATUS = 'GRANTED' AND "
                           + inspect::metadataHold + " = " + sqlLiteral(holder->hold) + ") = 1";
    }
    if (shape == recipes::Shape::Table) {
        target.waits = waitingStateOf(plan.before.lock.name);
        target.held = hasTable(plan.before.lock.name, plan.guard.sql().text, target.connection, isByPlugin);
    }
    if (!plan.guard.sql().text.startsWith("trx ")) {
        target.serverStarted = QByteArray::number(plan.holder.mid(plan.holder.indexOf('@') + 1).toLongLong() / 1000);
        return target;
    }
    target.guard = plan.guard.sql().text;
    target.transaction = target.guard.split(' ').value(1);
    if (isNumbered(target.transaction))
        return target;
    // It has locked for reading only and so has no number. Its start is told in whole seconds: until the second of
    // the look is over, another of the same connection may say the same.
    target.transaction.clear();
    if (!holder->heldSince || plan.before.observed - *holder->heldSince < 2s)
        return changedMeanwhile(plan, sentence("too-recent"));
    return target;
}

Error mayBeOld(const ForceReleasePlan &plan)
{
    const auto lock = label(plan.before.lock.text());
    return Error{ErrorCode::Refused, sentence("may-be-old", {label(plan.holder, 80), lock}), true};
}

void planKill(ForceReleasePlan &plan, const inspect::Contender &holder)
{
    if (hasNoSession(holder))
        return addTexts(plan, "kill-prepared",
                        {label(holder.identity.value_or(QByteArray()), 200), sentence("prepared-remedy")});
    const bool isTable = recipes::recipeOf(plan.before.recipe).shape == recipes::Shape::Table;
    const auto &guard = holder.guard.sql().text;
    const auto connection = label(holder.session.value_or(QString()).toUtf8(), 40);
    addTexts(plan, "kill", {connection});
    addTexts(plan,
             guard.startsWith("trx ") ? "kill-row"
             : isTable                ? "kill-table"
                                      : "kill-named",
             {connection, label(guard)});
}

QString nextInLine(const inspect::LockSnapshot &snapshot, const inspect::Contender &)
{
    if (snapshot.waiterCount() > 0)
        return u"the first in line (the server wakes it)"_s;
    return snapshot.waitersKnown ? u"no client waits"_s : sentence("first-in-line-unseen");
}

Error noStatement(const ForceReleasePlan &plan)
{
    const bool isWaiter = plan.way == ReleaseAction::KillWaiter;
    return changedMeanwhile(plan, isWaiter ? u"it no longer waits"_s : sentence("no-statement"));
}

Task<Result<Sent>> killQuery(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline)
{
    if (!session->features().blocks)
        co_return Error{ErrorCode::Unsupported, sentence("kill-query-apart")};
    const auto isByPlugin = co_await saysTablesByPlugin(plan, session, deadline);
    CO_TRY(const auto &target, targetOf(plan, session, isByPlugin));
    CO_TRY(const auto &verdict, co_await killQueryOf(target, plan.way == ReleaseAction::KillWaiter, deadline));
    switch (verdict) {
    case Verdict::Killed: break;
    case Verdict::Gone: co_return goneAlready(plan);
    case Verdict::Another: co_return changedMeanwhile(plan, u"it is now another transaction or another connection"_s);
    case Verdict::Old: co_return mayBeOld(plan);
    case Verdict::Busy:
    case Verdict::Idle: co_return noStatement(plan);
    }
    co_return Sent();
}

Task<Result<Sent>> killConnection(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline)
{
    const auto isByPlugin = co_await saysTablesByPlugin(plan, session, deadline);
    CO_TRY(const auto &target, targetOf(plan, session, isByPlugin));
    auto acting = target.isTransaction() ? killRow(target, deadline) : killNamed(target, deadline);
    const auto verdict = co_await acting;
    if (!verdict && verdict.error().code == ErrorCode::UnknownOutcome)
        co_return verdict.error();
    if (!verdict)
        co_return Error{verdict.error().code,
                        sentence("kill-check-failed", {label(plan.before.lock.text()), verdict.error().message}),
                        verdict.error().retryable};
    if (*verdict == Verdict::Gone)
        co_return goneAlready(plan);
    if (*verdict == Verdict::Another)
        co_return changedMeanwhile(plan, u"it is now another transaction or another connection"_s);
    if (*verdict == Verdict::Busy)
        co_return Error{ErrorCode::Refused, sentence("kill-busy", {label(plan.holder, 80)}), true};
    if (*verdict == Verdict::Old)
        co_return mayBeOld(plan);
    co_await untilGone(target);
    co_return Sent();
}

} // namespace

std::vector<ReleaseMethod> releaseMethodsOfMariaDb()
{
    const auto planRow = [](ForceReleasePlan &plan, const inspect::Contender &holder) {
        planClearRow(plan, holder, freeingText);
    };
    return {{ReleaseMechanism::KillConnection, &planKill, &nextInLine, {}, true},
            {ReleaseMechanism::ClearRow, planRow, &askedAgain, &hasRow}};
}

Task<Result<Sent>> sendRelease(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline)
{
    if (plan.way == ReleaseAction::KillQuery || plan.way == ReleaseAction::KillWaiter)
        return killQuery(std::move(plan), session, deadline);
    const auto way = plan.way == ReleaseAction::Release ? releaseWay(plan.before)
                                                        : Result<ReleaseMechanism>(ReleaseMechanism::None);
    if (way && *way == ReleaseMechanism::ClearRow)
        return clearRow(std::move(plan), session, freeingText, deadline);
    return way && *way == ReleaseMechanism::KillConnection ? killConnection(plan, session, deadline)
                                                           : nothingSent(plan);
}

} // namespace lockscope::operate
