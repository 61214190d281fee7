// SPDX-License-Identifier: Apache-2.0
// acquire: take a lock, hold it (for a time, until interrupted, or while a command runs), give it back.
#include "app/lockscopectl/childcommand.h"
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/workspace/hold.h"

namespace lockscope::ctl {

using std::chrono::milliseconds;

namespace {

// For a command whose lock is lost, to end by itself.
constexpr std::chrono::seconds graceWithoutLock{5};
// A release that got no answer is followed up so long, if its session lives so long.
constexpr std::chrono::seconds mostCleanup{30};
constexpr std::chrono::seconds noticesWithin{2}; // that a session is over

struct AcquireArguments {
    HoldRequest request;
    std::optional<milliseconds> wait;
    std::optional<milliseconds> hold;
    QStringList command;
};

struct Event {
    enum class Kind { Decided, Interrupted, Lost, CommandEnded, HoldOver } kind = Kind::Decided;
    Interrupt interrupt;
    int status = 0;
    QString why;
};
using Events = EventQueue<Event>;

Error badAcquire(const QString &what)
{
    return Error{ErrorCode::BadInput, u"acquire: "_s + what};
}

Result<std::optional<milliseconds>> durationOption(CommandContext &context, const QString &name)
{
    if (!context.has(name))
        return std::optional<milliseconds>();
    const auto span = parseDuration(context.arguments.value(name));
    if (!span)
        return badAcquire(u"--%1: %2"_s.arg(name, span.error().message));
    return std::optional(*span);
}

Result<void> checkRecipe(const QByteArray &id)
{
    if (id.isEmpty())
        return badAcquire(u"--recipe is required; run \"lockscopectl recipes\" to list recipes"_s);
    const auto *recipe = recipes::findRecipe(id);
    if (!recipe)
        return badAcquire(u"unknown recipe \"%1\"; run \"lockscopectl recipes\" to list recipes"_s.arg(label(id)));
    if (!recipe->acquirable)
        return badAcquire(u"%1 cannot be acquired in this version, only seen"_s.arg(label(id)));
    return {};
}

Result<AcquireArguments> readAcquireArguments(CommandContext &context)
{
    AcquireArguments arguments;
    TRY(const auto &name, lockOf(context));
    arguments.request.lock = name;
    arguments.request.recipe = context.arguments.value(u"recipe"_s).toUtf8();
    TRY_VOID(checkRecipe(arguments.request.recipe));
    const auto mode = context.arguments.value(u"mode"_s, u"write"_s);
    if (mode != "read"_L1 && mode != "write"_L1)
        return badAcquire(u"--mode is read or write"_s);
    arguments.request.readMode = mode == "read"_L1;
    bool isNumber = true;
    arguments.request.limit = context.arguments.value(u"limit"_s, u"1"_s).toInt(&isNumber);
    arguments.request.isLimitGiven = context.has(u"limit"_s);
    if (!isNumber || arguments.request.limit < 1)
        return badAcquire(u"--limit must be a number, 1 or more"_s);
    const auto wait = durationOption(context, u"wait"_s);
    const auto hold = durationOption(context, u"hold"_s);
    const auto ttl = durationOption(context, u"ttl"_s);
    for (const auto *option : {&wait, &hold, &ttl}) {
        if (!*option)
            return option->error();
    }
    arguments.wait = *wait;
    arguments.hold = *hold;
    arguments.request.ttl = (*ttl).value_or(arguments.request.ttl);
    if (arguments.request.ttl.count() == 0)
        return badAcquire(u"--ttl must be more than 0"_s);
    arguments.command = context.arguments.rest;
    if (context.arguments.hasRest && arguments.command.isEmpty())
        return badAcquire(u"no command after --"_s);
    if (!arguments.command.isEmpty() && arguments.hold)
        return badAcquire(
            u"--hold and a command exclude each other: with a command the lock is held while it runs"_s);
    return arguments;
}

Task<void> acquireInto(HeldLock &held, std::optional<milliseconds> wait, Events events,
                       std::optional<Result<recipes::Grant>> &grant)
{
    auto got = co_await held.acquire(wait);
    grant.emplace(std::move(got));
    events.push(Event{});
}

bool isCleaningUp(CommandContext &context, const HeldLock *held)
{
    const auto links = context.workspace.links();
    return (held && held->isCleaningUp())
           || std::ranges::any_of(links, [](Link *link) { return link->isCleaningUp(); });
}

// Clean-up that recipes left behind: nodes and keys of ours that nobody waits for any more. Their connection is ours
// and about to close, so they get a moment to be done. False when that was not enough.
Task<bool> finishCleanup(CommandContext &context, const HeldLock *held, milliseconds atMost = std::chrono::seconds(2))
{
    const auto until = context.loop().now() + atMost;
    while (isCleaningUp(context, held) && context.loop().now() < until)
        co_await sleepFor(context.loop(), milliseconds(5));
    co_return !isCleaningUp(context, held);
}

void printRemaining(const AcquireArguments &arguments, const HeldLock *held)
{
    const auto timeout = held ? held->sessionTimeout() : milliseconds{};
    if (timeout.count() > 0)
        return printError(
            u"timed out releasing %1. If its node still exists, it is deleted with its session, in at most %2"_s.arg(
                escaped(arguments.request.lock.text()), formatDuration(timeout)));
    printError(
        u"timed out releasing %1. If this client still owns the key, it remains until its TTL expires (at most %2)"_s
            .arg(escaped(arguments.request.lock.text()), formatDuration(arguments.request.ttl)));
}

// The time it is held: what happens, and how the program ends for it.
class Holding {
public:
    Holding(CommandContext &run, const AcquireArguments &arguments, HeldLock &held, Events events,
            recipes::Grant grant)
        : m_context(run), m_arguments(arguments),
          m_isOptimistic(recipes::recipeOf(arguments.request.recipe).optimistic), m_held(held),
          m_events(std::move(events)), m_grant(std::move(grant)), m_since(run.loop().now())
    {
    }

    // An optimistic lock learns only at the end that somebody was faster: then the work is done again, from
    // what is there now. The recipe bounds how often.
    Task<Exit> go(Duration waited)
    {
        for (;;) {
            bool isConflict = false;
            const auto status = co_await once(waited, &isConflict);
            if (!isConflict)
                co_return status;
            const auto begun = m_context.loop().now();
            const auto again = co_await m_held.acquire(m_arguments.wait);
            if (!again)
                co_return fail(again.error());
            m_grant = *again;
            m_since = m_context.loop().now();
            waited = m_since - begun;
        }
    }

private:
    Task<Exit> once(Duration waited, bool *isConflict)
    {
        m_held.lost().then([events = m_events](const QString &why) {
            events.push(Event{Event::Kind::Lost, {}, 0, why});
        });
        printHad(waited);
        const bool begun = begin();
        if (!begun)
            m_events.push(Event{Event::Kind::HoldOver, {}, 0, {}});
        const auto reason = co_await untilOver();
        const auto deadline = Deadline::after(m_context.loop(), std::chrono::seconds(10));
        if (reason == "lost"_L1) {
            printGivenBack(reason);
            // Lost on a majority of the nodes; what is still ours on the others goes, too.
            if (recipes::recipeOf(m_arguments.request.recipe).quorum)
                (void)co_await m_held.release(deadline);
            co_return Exit::Failed;
        }
        const auto released = co_await m_held.release(deadline);
        const auto code = released ? ErrorCode::Server : released.error().code;
        if (code == ErrorCode::UnknownOutcome || code == ErrorCode::NotConnected) {
            printError(u"release of %1: %2"_s.arg(lock(), released.error().message));
            const auto limit =
                m_held.sessionTimeout().count() > 0 ? m_held.sessionTimeout() : m_arguments.request.ttl;
            const auto untilKnown = std::min<milliseconds>(limit, mostCleanup) + noticesWithin;
            const auto isGone = co_await finishCleanup(m_context, &m_held, untilKnown);
            if (isGone)
                printGivenBack(reason);
            // The command has done its work in any case. Of what is left acquire() tells.
            co_return begun && (isGone || m_command) ? static_cast<Exit>(m_status) : Exit::Failed;
        }
        if (!released) {
            const bool isLost = released.error().code == ErrorCode::NotHeld;
            printError(u"release of %1: %2"_s.arg(lock(), released.error().message));
            *isConflict = released.error().code == ErrorCode::BadVersion && reason == "done"_L1 && begun;
            if (isLost)
                printGivenBack(u"lost"_s);
            co_return Exit::Failed;
        }
        printGivenBack(reason);
        // The command's own status, or ours.
        co_return begun ? static_cast<Exit>(m_status) : Exit::Failed;
    }
    void printHad(Duration waited) const
    {
        const auto span = std::chrono::duration_cast<milliseconds>(waited);
        if (m_context.json) {
            QJsonObject had{{u"acquired"_s, true},
                            {u"lock"_s, lock()},
                            {u"id"_s, escaped(m_grant.id)},
                            {u"fencingToken"_s, token().isEmpty() ? QJsonValue(QJsonValue::Null) : token()},
                            {u"waitedMs"_s, qint64(span.count())}};
            if (m_isOptimistic)
                had.insert(u"conflicts"_s, m_grant.conflicts);
            printJsonLine(had);
            return;
        }
        QStringList facts{u"acquired %1 as %2 after %3"_s.arg(lock(), escaped(m_grant.id), formatDuration(span))};
        if (!token().isEmpty() && !m_grant.node.isEmpty()) // the recipes of ZooKeeper hand out none
            facts << u"czxid %1, which can serve as a fencing token"_s.arg(token());
        else if (!token().isEmpty())
            facts << u"fencing token %1"_s.arg(token());
        if (m_isOptimistic)
            facts << u"conflicts so far: %1"_s.arg(m_grant.conflicts);
        print(facts.join(u", "_s));
    }
    void printGivenBack(const QString &reason) const
    {
        const auto span = std::chrono::duration_cast<milliseconds>(m_context.loop().now() - m_since);
        if (m_context.json) {
            QJsonObject back{{u"released"_s, true},
                             {u"lock"_s, lock()},
                             {u"id"_s, escaped(m_grant.id)},
                             {u"heldMs"_s, qint64(span.count())},
                             {u"reason"_s, reason}};
            if (m_isOptimistic)
                back.insert(u"conflicts"_s, m_grant.conflicts);
            printJsonLine(back);
            return;
        }
        const auto word = reason == "lost"_L1 ? u"lost"_s : u"released"_s;
        print(u"%1 %2 after %3 (%4)"_s.arg(word, lock(), formatDuration(span), reason));
    }
    // Starts what ends the hold: the command, the timer, or nothing but an interrupt. False when the command
    // could not be started: then it ends at once.
    [[nodiscard]] bool begin()
    {
        if (m_arguments.hold) {
            m_holdTimer = m_context.loop().callAt(m_since + *m_arguments.hold, [events = m_events] {
                events.push(Event{Event::Kind::HoldOver, {}, 0, {}});
            });
        }
        if (m_arguments.command.isEmpty())
            return true;
        m_command =
            std::make_unique<ChildCommand>(m_arguments.command, m_context.json, [events = m_events](int status) {
                events.push(Event{Event::Kind::CommandEnded, {}, status, {}});
            });
        const auto started = m_command->start(lock(), token());
        if (!started) {
            printError(started.error().message);
            m_command.reset();
        }
        return bool(started);
    }
    // The reason in the answer: done, interrupted or lost.
    Task<QString> untilOver()
    {
        QString reason = u"done"_s;
        for (;;) {
            const auto event = co_await m_events.next();
            switch (event.kind) {
            case Event::Kind::Interrupted:
                if (reason == "done"_L1)
                    reason = u"interrupted"_s;
                if (!m_command)
                    co_return reason;
                m_command->heed(event.interrupt); // the lock is kept until the command has ended
                break;
            case Event::Kind::Lost:
                printError(u"lost %1: %2"_s.arg(lock(), event.why));
                reason = u"lost"_s;
                if (!m_command)
                    co_return reason;
                m_command->terminate(graceWithoutLock);
                break;
            case Event::Kind::CommandEnded: m_status = event.status; co_return reason;
            case Event::Kind::HoldOver: co_return reason;
            case Event::Kind::Decided: break;
            }
        }
    }
    [[nodiscard]] QString lock() const { return escaped(m_arguments.request.lock.text()); }
    [[nodiscard]] QString token() const
    {
        return m_grant.fencingToken ? QString::number(*m_grant.fencingToken) : QString();
    }

    CommandContext &m_context;
    const AcquireArguments &m_arguments;
    const bool m_isOptimistic;
    HeldLock &m_held;
    Events m_events;
    recipes::Grant m_grant;
    Instant m_since;
    std::unique_ptr<ChildCommand> m_command;
    Timer m_holdTimer;
    int m_status = 0; // of the command
};

Exit failedToGet(const AcquireArguments &arguments, Error error)
{
    const auto &request = arguments.request;
    if (error.code == ErrorCode::BadInput && recipes::recipeOf(request.recipe).storesLimit && !request.isLimitGiven)
        error.message = u"%1. For a new semaphore, give --limit N"_s.arg(error.message);
    if (error.code != ErrorCode::TimedOut)
        return fail(error);
    const auto waited = arguments.wait ? formatDuration(*arguments.wait) : u"a while"_s;
    const auto whom = error.isExplained ? error.message : u"`show` says who holds it"_s;
    printError(u"%1 was not free within %2; %3, --wait waits longer"_s.arg(escaped(arguments.request.lock.text()),
                                                                           waited, harmless(whom)));
    return Exit::TimedOut;
}

} // namespace

Task<Result<Exit>> runAcquire(CommandContext &context)
{
    CO_TRY(const auto &arguments, readAcquireArguments(context));
    const Events events(context.loop());
    context.interrupts.setHandler([events](Interrupt interrupt) {
        events.push(Event{Event::Kind::Interrupted, interrupt, 0, {}});
    });
    const auto connectBy = Deadline::after(context.loop(), std::chrono::seconds(15));
    CO_TRY_VOID(co_await context.workspace.whenConnected(arguments.request.lock.connection, connectBy));
    printRemark(*context.workspace.find(arguments.request.lock.connection));

    const auto begun = context.loop().now();
    auto held = std::make_unique<HeldLock>(context.workspace, arguments.request);
    std::optional<Result<recipes::Grant>> grant;
    Scope scope(context.loop());
    scope.launch(acquireInto(*held, arguments.wait, events, grant));
    const auto event = co_await events.next();
    if (event.kind == Event::Kind::Interrupted) {
        // Cancelled first, then destroyed: neither may be left waiting for the other.
        scope.cancelAll();
        held.reset();
        const auto isClean = co_await finishCleanup(context, nullptr);
        const auto message = isClean ? u"interrupted while waiting for %1; nothing was left behind"_s
                                     : u"interrupted while waiting for %1"_s;
        printError(message.arg(escaped(arguments.request.lock.text())));
        if (!isClean)
            printRemaining(arguments, nullptr);
        co_return Exit::Failed;
    }
    if (!*grant) {
        const auto isClean = co_await finishCleanup(context, held.get());
        if (!isClean)
            printRemaining(arguments, held.get());
        co_return failedToGet(arguments, grant->error());
    }
    Holding holding(context, arguments, *held, events, **grant);
    const auto status = co_await holding.go(context.loop().now() - begun);
    const auto isClean = co_await finishCleanup(context, held.get());
    if (!isClean)
        printRemaining(arguments, held.get());
    co_return status;
}

} // namespace lockscope::ctl
