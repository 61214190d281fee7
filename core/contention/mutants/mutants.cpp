// SPDX-License-Identifier: Apache-2.0
#include "core/contention/mutants/mutants.h"

#include "core/base/text.h"
#include "core/recipes/zookeeper/locks.h"

namespace lockscope::contention {

using namespace recipes;

// Ports that leave out one precaution of the recipes above them.

// Reads without asking the follower to catch up first.
class UnsyncedSession : public TracedSession {
public:
    using TracedSession::TracedSession;
    void send(Request &&request) override
    {
        if (const auto *sync = std::get_if<Asked<zk::SyncRequest>>(&request))
            sync->reply.complete(true);
        else
            TracedSession::send(std::move(request));
    }
};

// Creates nodes that outlive their session.
class PersistentSession : public TracedSession {
public:
    using TracedSession::TracedSession;
    void send(Request &&request) override
    {
        auto *const create = std::get_if<Asked<zk::CreateRequest>>(&request);
        if (create && create->request.mode == zk::CreateMode::Ephemeral)
            create->request.mode = zk::CreateMode::Persistent;
        TracedSession::send(std::move(request));
    }
};

// Deletes a key without comparing whose it is.
class UncomparingConnection : public TracedConnection {
public:
    using TracedConnection::TracedConnection;
    void send(Request &&request) override
    {
        auto *const script = std::get_if<Asked<redis::ScriptRequest>>(&request);
        if (!script || !script->request.script.name.startsWith("compare-and-delete"))
            return TracedConnection::send(std::move(request));
        redis::CommandRequest removal{{"DEL", script->request.keys.value(0)}};
        TracedConnection::send(Asked<redis::CommandRequest>{std::move(removal), script->deadline, script->reply});
    }
};

// The queue lock with one step left out.

// Whether the end of the wait is all it asks for: its predecessor went, or its time is over; and whether that
// predecessor was the head when it last listed.
using TakesItForTheLock = bool (*)(bool isTimeOver, bool isBehindTheHead);

// The steps of zk-mutex. Where a wait ends, each of those below has a mistake of its own, and nothing else.
class BrokenQueue : public recipes::SessionLock {
public:
    BrokenQueue(zk::Session &session, const ZPath &lock, Random random, TakesItForTheLock mistake)
        : SessionLock(session, lock, std::move(random)), m_takesItForTheLock(mistake)
    {
    }

protected:
    Task<Result<recipes::QueueEntry>> enter(Deadline deadline) override;

private:
    TakesItForTheLock m_takesItForTheLock;
};

Task<Result<QueueEntry>> BrokenQueue::enter(Deadline deadline)
{
    const NodeClaim claim = mutexClaim(path(), random());
    CO_TRY(auto &joined, co_await joinQueue(cleanup(), claim, Listing::Plain, deadline));
    QueueEntry entry = std::move(joined.entry);
    auto queue = mutexQueue(joined.takeQueue());
    for (;;) {
        const auto turn = turnInQueue(queue, entry.node());
        if (turn.kind != Turn::Kind::WaitFor)
            co_return std::move(entry);
        const bool isBehindTheHead = turnInQueue(queue, *turn.predecessor).isMine();
        const ZPath predecessor = path().child(*turn.predecessor);
        const auto gone = co_await untilGone(session(), predecessor, deadline);
        const bool isTimeOver = !gone && gone.error().code == ErrorCode::TimedOut;
        if ((gone || isTimeOver) && m_takesItForTheLock(isTimeOver, isBehindTheHead))
            co_return std::move(entry); // the mistake
        if (!gone)
            co_return gone.error();
        CO_TRY(const auto &listed, co_await listQueue(session(), path(), Listing::Plain, deadline));
        queue = mutexQueue(listed);
    }
}

namespace {

// What is another's than the recipe's; null where it is not.
struct Mistake {
    std::unique_ptr<recipes::Lock> (*lock)(zk::Session &session, const ZPath &lock, Random random) = nullptr;
    std::unique_ptr<TracedSession> (*session)(zk::Session &inner, Trace &trace, int contender) = nullptr;
    std::unique_ptr<TracedConnection> (*connection)(redis::Connection &inner, Trace &trace, int contender) = nullptr;
};

// As many a tutorial ends: "when the event comes, the lock is ours", without looking again who else is before it.
bool skipsRecheck(bool isTimeOver, bool)
{
    return !isTimeOver;
}

// latch.await(timeout) returns, and nobody asks whether it was the watch or the time: who is before it is still
// there.
bool takesTimeoutAsGrant(bool isTimeOver, bool)
{
    return isTimeOver;
}

// zk-eager-mutex without the watch on its own node, which may be gone.
bool skipsOwnWatch(bool isTimeOver, bool isBehindTheHead)
{
    return !isTimeOver && isBehindTheHead;
}

template <TakesItForTheLock mistake>
std::unique_ptr<recipes::Lock> mistakenLock(zk::Session &session, const ZPath &lock, Random random)
{
    return std::make_unique<BrokenQueue>(session, lock, std::move(random), mistake);
}

template <class Port, class Traced, class Inner>
std::unique_ptr<Traced> mistakenPort(Inner &inner, Trace &trace, int contender)
{
    return std::make_unique<Port>(inner, trace, contender);
}

struct MutantRow {
    Mutant mutant;
    Mistake mistake;
};

const std::vector<MutantRow> &mutantRows()
{
    static const std::vector<MutantRow> all{
        {{"broken-forgets-to-look", "zk-mutex", QT_TRANSLATE_NOOP("Recipe", "Broken: does not check again"),
          u"woken by its predecessor's end it takes the lock without checking again. That is wrong when that one "
          u"only gave up, crashed or was removed while it waited"_s},
         {.lock = mistakenLock<skipsRecheck>}},
        {{"broken-timeout-as-grant", "zk-mutex",
          QT_TRANSLATE_NOOP("Recipe", "Broken: takes the timeout for the lock"),
          u"takes the end of its wait for the lock: wrong when its wait timed out without a notification"_s,
          std::chrono::milliseconds(100)},
         {.lock = mistakenLock<takesTimeoutAsGrant>}},
        {{"broken-blind-shortcut", "zk-eager-mutex",
          QT_TRANSLATE_NOOP("Recipe", "Broken: does not watch its own node"),
          u"trusts its predecessor's end without watching its own node: wrong when an operator removed that"_s},
         {.lock = mistakenLock<skipsOwnWatch>}},
        {{"broken-lookup-without-sync", "zk-mutex", QT_TRANSLATE_NOOP("Recipe", "Broken: looks without sync"),
          u"after a lost reply it looks for its node on a follower that may lag, and makes a second one"_s},
         {.session = mistakenPort<UnsyncedSession, TracedSession>}},
        {{"broken-persistent-node", "zk-ephemeral", QT_TRANSLATE_NOOP("Recipe", "Broken: a persistent node"),
          u"its node is persistent: it remains forever when the holder crashes or its session ends"_s},
         {.session = mistakenPort<PersistentSession, TracedSession>}},
        {{"broken-unlock-without-compare", "redis-set-nx",
          QT_TRANSLATE_NOOP("Recipe", "Broken: DEL without comparing"),
          u"unlocks with DEL: after its lease it deletes its successor's key"_s},
         {.connection = mistakenPort<UncomparingConnection, TracedConnection>}},
    };
    return all;
}

Mistake mistakeOf(const QByteArray &id)
{
    const auto row =
        std::ranges::find(mutantRows(), id, [](const MutantRow &one) -> const QByteArray & { return one.mutant.id; });
    return row == mutantRows().end() ? Mistake() : row->mistake;
}

} // namespace

const std::vector<Mutant> &mutants()
{
    static const auto all = [] {
        return mapped<std::vector<Mutant>>(mutantRows(), [&](const auto &row) { return row.mutant; });
    }();
    return all;
}

const Mutant *findMutant(const QByteArray &id)
{
    const auto at = std::ranges::find(mutants(), id, &Mutant::id);
    return at == mutants().end() ? nullptr : &*at;
}

const recipes::RecipeInfo *playable(const QByteArray &id)
{
    const auto *mutant = findMutant(id);
    return recipes::findRecipe(mutant ? mutant->of : id);
}

Result<std::unique_ptr<recipes::Lock>> makePlayableLock(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                                        const recipes::AcquireOptions &options, Random random)
{
    if (const auto make = mistakeOf(id).lock)
        return make(session, lock, std::move(random));
    const auto *mutant = findMutant(id);
    return recipes::makeLock(mutant ? mutant->of : id, session, lock, options, std::move(random));
}

std::unique_ptr<TracedSession> tracedFor(const QByteArray &id, zk::Session &inner, Trace &trace, int contender)
{
    if (const auto make = mistakeOf(id).session)
        return make(inner, trace, contender);
    return std::make_unique<TracedSession>(inner, trace, contender);
}

std::unique_ptr<TracedConnection> tracedFor(const QByteArray &id, redis::Connection &inner, Trace &trace,
                                            int contender)
{
    if (const auto make = mistakeOf(id).connection)
        return make(inner, trace, contender);
    return std::make_unique<TracedConnection>(inner, trace, contender);
}

} // namespace lockscope::contention
