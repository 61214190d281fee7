// SPDX-License-Identifier: Apache-2.0
// Locks as kazoo makes them.
#include "core/base/text.h"
#include "core/recipes/zookeeper/locks.h"

namespace lockscope::recipes::kazoo {

namespace {

// kazoo's locks. Source: kazoo 2.8, kazoo.recipe.lock; the algorithm is that of the ZooKeeper recipes,
// "Locks" and "Shared Locks".
//   1. Join the queue: create an ephemeral sequential child "<uuid hex>__lock__" (a reader "__rlock__"),
//      and list the children pipelined with it.
//   2. A Lock holds when no lock is before it, a WriteLock when nobody is, a ReadLock when no writer is.
//   3. Otherwise watch the nearest of those before ours until it goes; list again. Go to 2.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue.
//   5. To release, delete the node. The next one wakes up; after a writer, all readers before the next
//      writer.

const QByteArray lockBase = "__lock__";
const QByteArray readBase = "__rlock__";
// The nodes of Curator, go-zookeeper and zk-mutex count in a Lock, as with kazoo's
// extra_lock_patterns; readers do not.
const QByteArrayList locks{"lock-", lockBase};

std::vector<Queued> readersAndWriters(const Listed &queue)
{
    std::vector<Queued> all = contendersIn(queue, {lockBase});
    for (auto &reader : contendersIn(queue, {readBase})) {
        reader.access = Access::Shared;
        all.push_back(std::move(reader));
    }
    sortQueue(all);
    return all;
}

// A new contender for a queue of that kind in `directory`: "<uuid hex>__lock__", readers "__rlock__".
NodeClaim contender(Kind kind, const ZPath &directory, QByteArray data, Random &random)
{
    const QByteArray id = uuidToken(random).replace("-", "");
    NodeClaim claim;
    claim.path = directory.child(NodeName(id + (kind == Kind::ReadLock ? readBase : lockBase)));
    claim.data = std::move(data);
    return claim;
}

// Whose turn it is by kazoo's rules, among the names in the directory.
Turn turnOf(Kind kind, const Listed &queue, const NodeName &me)
{
    if (kind == Kind::Lock)
        return turnInQueue(contendersBefore(queue, locks, me), me);
    return turnInReadWriteQueue(readersAndWriters(queue), me);
}

// Until it is our turn: true; false when our node is in the queue no more.
Task<Result<bool>> untilTurn(zk::Session *session, Kind kind, ZPath node, Listed queue, Deadline deadline)
{
    const ZPath directory = node.parent();
    Turn turn = turnOf(kind, std::exchange(queue, {}), node.name()); // 2
    while (turn.kind == Turn::Kind::WaitFor) {
        const ZPath predecessor = directory.child(*turn.predecessor);
        CO_TRY_VOID(co_await untilGone(session, predecessor, deadline)); // 3
        CO_TRY(const auto &listed, co_await listQueue(session, directory, Listing::Plain, deadline));
        turn = turnOf(kind, listed, node.name());
    }
    co_return turn.isMine();
}

class QueueLock : public SessionLock {
public:
    QueueLock(zk::Session &session, ZPath path, Random random, Kind kind)
        : SessionLock(session, std::move(path), std::move(random)), m_kind(kind)
    {
    }

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override
    {
        for (;;) {
            const NodeClaim claim = contender(m_kind, path(), hostAddress(), random());
            CO_TRY(auto &joined, co_await joinQueue(cleanup(), claim, Listing::Plain, deadline)); // 1
            QueueEntry entry = std::move(joined.entry);
            const ZPath node = entry.path();
            Listed queue = joined.takeQueue();
            CO_TRY(const auto &turn, co_await untilTurn(session(), m_kind, node, std::move(queue), deadline));
            if (turn)
                co_return std::move(entry);
            entry.forget(); // 4
        }
    }
    [[nodiscard]] bool minds(const ZPath &node) const override
    {
        const Listed alone = onlyThat(node.name());
        return isIn(path(), node)
               && !(m_kind == Kind::Lock ? contendersIn(alone, locks) : readersAndWriters(alone)).empty();
    }

private:
    Kind m_kind;
};

// kazoo's semaphore. Source: kazoo 2.8, kazoo.recipe.lock.
// The pool is a node whose data is the number of permits; each of its children is a lease. Who may make
// the next lease is decided by a kazoo Lock beside it, the guard, in "<pool>-__lock__".
//   1. Join the guard's queue (kazoo/queuelock.cpp), list it, and read the pool pipelined with it.
//   2. The pool's number must be ours. If there is no pool yet, make it with our number.
//   3. Wait for our turn in the guard's queue.
//   4. At its head: while all permits are taken, wait until the pool's children change.
//   5. Trade the guard for a lease, an ephemeral child "<uuid hex>" of the pool, in one transaction. If
//      the guard was taken away from us meanwhile, nothing is made; go to 1.
//   6. To release, delete the lease. Whoever is at the head wakes up, and nobody else.
//
// kazoo makes the lease first and gives the guard back afterwards, without looking whether the guard
// still was its own. The nodes are the same.

using Outcome = Result<std::vector<zk::OpResult>>;

// One place for another, in one transaction. Loop thread only.

// The answers of the transaction and of a look at what it made, which is sent along because a
// transaction's own answer does not tell the node's czxid.
struct Answers {
    std::optional<Outcome> done;
    std::optional<Result<zk::Stat>> seen;
};

void complete(const Answers &answers, const ZPath &path, const Reply<zk::Created> &reply)
{
    if (!answers.done || !answers.seen)
        return;
    if (!*answers.done)
        reply.complete(answers.done->error());
    else if (!*answers.seen) // made, but what it was we do not know
        reply.complete(Error{ErrorCode::UnknownOutcome, answers.seen->error().message, true});
    else
        reply.complete(zk::Created{path, **answers.seen});
}

// Sends both, and answers as a create would: whoever follows up a lost create can follow up this.
Reply<zk::Created> sendTrade(zk::Session *session, const ZPath &old, const NodeClaim &claim, Deadline by)
{
    zk::Op remove;
    remove.kind = zk::Op::Kind::Remove;
    remove.path = old;
    zk::Op create;
    create.kind = zk::Op::Kind::Create;
    create.path = claim.path;
    create.data = claim.data;
    create.mode = claim.mode();
    create.acls = zk::openAcl();
    const Reply<zk::Created> reply(session->loop());
    const auto answers = std::make_shared<Answers>();
    const ZPath path = claim.path;
    session->multi({remove, create}, by).then([answers, path, reply](const Outcome &outcome) {
        answers->done = outcome;
        complete(*answers, path, reply);
    });
    session->exists(path, std::nullopt, by).then([answers, path, reply](const Result<zk::Stat> &stat) {
        answers->seen = stat;
        complete(*answers, path, reply);
    });
    return reply;
}

// Gives `old` up for the claim's node, which has a name of its own (not sequential): both or neither.
// A lost reply is followed up. NoNode when the old one stands no more, or the new one's directory.
Task<Result<QueueEntry>> tradeEntry(BackgroundCleanup cleanup, QueueEntry *old, NodeClaim claim, Deadline deadline)
{
    auto *session = cleanup.session();
    for (;;) {
        auto trading = sendTrade(session, old->path(), claim, answerBy(*session, deadline));
        QueueEntry entry(cleanup, trading, claim);
        old->doubt();
        const auto traded = co_await trading;
        std::optional<zk::Created> made;
        if (traded) {
            made = *traded;
        } else if (traded.error().code == ErrorCode::UnknownOutcome) {
            CO_TRY(const auto &own, co_await findOwn(session, claim, deadline));
            made = own;
        }
        if (made) {
            old->forget();
            entry.settle(*made);
            co_return std::move(entry);
        }
        entry.forget();
        if (!isConnectionError(traded.error()))
            co_return traded.error();
        CO_TRY_VOID(co_await untilReconnected(session, deadline));
    }
}

// kazoo-semaphore: kazoo's Semaphore. One of them is one permit.
class Semaphore : public SessionLock {
public:
    // `mayMake`: a pool that is missing is made, with so many permits.
    Semaphore(zk::Session &session, ZPath pool, int limit, Random random, bool mayMake)
        : SessionLock(session, std::move(pool), std::move(random)), m_limit(limit), m_mayMake(mayMake)
    {
    }

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override
    {
        for (;;) {
            std::optional<Reply<zk::Node>> asked;
            const std::function<void(Deadline)> askPool = [&](Deadline by) {
                asked = session()->get(path(), std::nullopt, by);
            };
            const NodeClaim waiting = guard();
            CO_TRY(auto &joined, co_await joinQueue(cleanup(), waiting, Listing::Plain, deadline, askPool)); // 1
            QueueEntry entry = std::move(joined.entry);
            CO_TRY(const auto &leases, co_await leasesOut(*asked, deadline)); // 2
            const ZPath node = entry.path();
            Listed queue = joined.takeQueue();
            const bool atOnce = turnOf(Kind::Lock, queue, node.name()).isMine();
            CO_TRY(const auto &turn,
                   co_await untilTurn(session(), Kind::Lock, node, std::move(queue), deadline)); // 3
            if (!turn)
                continue;
            // Of whoever was before us we know that it took a permit or gave up, but not which.
            CO_TRY_VOID(co_await untilRoom(atOnce ? leases : m_limit, deadline)); // 4
            const NodeClaim wanted = lease();
            auto traded = co_await tradeEntry(cleanup(), &entry, wanted, deadline); // 5
            if (traded || traded.error().code != ErrorCode::NoNode)
                co_return traded;
        }
    }
    // It counts whatever stands in the pool; but what is no lease of kazoo's is no pool's.
    [[nodiscard]] bool minds(const ZPath &node) const override
    {
        return isIn(path(), node) && isHex32(node.name().bytes());
    }

private:
    [[nodiscard]] NodeClaim guard()
    {
        // kazoo passes the identifier on as Python prints bytes.
        const QByteArray host = hostAddress();
        const ZPath directory = path().parent().child(NodeName(path().name().bytes() + "-__lock__"));
        return contender(Kind::Lock, directory, host.isEmpty() ? host : "b'" + host + '\'', random());
    }

    [[nodiscard]] NodeClaim lease()
    {
        NodeClaim claim;
        claim.path = path().child(NodeName(uuidToken(random()).replace("-", "")));
        claim.data = hostAddress();
        claim.sequential = false;
        claim.isUnique = true; // a new one for each lease; kazoo's own has one for each Semaphore object
        return claim;
    }

    // How many leases are out; the pool is made if it is missing. `asked` is a read of the pool that was
    // sent already. BadInput when the pool has another number of permits.
    Task<Result<int>> leasesOut(Reply<zk::Node> asked, Deadline deadline)
    {
        for (;;) {
            const auto pool = co_await asked;
            Result<void> next;
            if (pool) {
                bool isNumber = false;
                const int permits = pool->data.toInt(&isNumber); // other data is somebody's else, and no limit
                if (isNumber && permits != m_limit)
                    co_return Error{
                        ErrorCode::BadInput,
                        u"the semaphore has %1 permits by its node's data, not %2"_s.arg(permits).arg(m_limit)};
                co_return pool->stat.numChildren;
            }
            if (pool.error().code == ErrorCode::NoNode && !m_mayMake)
                co_return Error{
                    ErrorCode::BadInput,
                    u"the semaphore does not exist; give its number of permits to create it. The number stays, also for its application"_s};
            if (pool.error().code == ErrorCode::NoNode)
                next = co_await makePool(deadline);
            else if (isConnectionError(pool.error()))
                next = co_await untilReconnected(session(), deadline);
            else
                next = pool.error();
            if (!next)
                co_return next.error();
            asked = session()->get(path(), std::nullopt, answerBy(*session(), deadline));
        }
    }

    Task<Result<void>> makePool(Deadline deadline)
    {
        const QByteArray number = QByteArray::number(m_limit);
        for (;;) {
            const auto created = co_await session()->create(path(), number, zk::CreateMode::Persistent, zk::openAcl(),
                                                            answerBy(*session(), deadline));
            if (created || created.error().code == ErrorCode::NodeExists)
                co_return Result<void>();
            Result<void> next = created.error();
            const ZPath above = path().parent();
            if (created.error().code == ErrorCode::NoNode && !above.isRoot())
                next = co_await makeDirectory(session(), above, zk::CreateMode::Persistent, deadline);
            else if (isConnectionError(created.error()))
                next = co_await untilReconnected(session(), deadline);
            if (!next)
                co_return next.error();
        }
    }

    // Until there is room, as far as we know, starting with so many leases out.
    Task<Result<void>> untilRoom(int leases, Deadline deadline)
    {
        while (leases >= m_limit) {
            CO_TRY(const auto &listed, co_await listQueue(session(), path(), Listing::Watched, deadline));
            if (static_cast<int>(listed.names.size()) < m_limit)
                break;
            const zk::Watch watch = *listed.watch;
            CO_TRY_VOID(co_await untilFired(session(), watch, deadline));
            // Counted without a watch: our own lease shall not wake us.
            const auto asked = session()->get(path(), std::nullopt, answerBy(*session(), deadline));
            CO_TRY(const auto &counted, co_await leasesOut(asked, deadline));
            leases = counted;
        }
        co_return Result<void>();
    }

    int m_limit;
    bool m_mayMake;
};

} // namespace

std::unique_ptr<Lock> makeQueueLock(zk::Session &session, const ZPath &lock, Random random, Kind kind)
{
    return std::make_unique<QueueLock>(session, lock, std::move(random), kind);
}

std::unique_ptr<Lock> makeSemaphore(zk::Session &session, const ZPath &pool, int limit, Random random, bool mayMake)
{
    return std::make_unique<Semaphore>(session, pool, limit, std::move(random), mayMake);
}

} // namespace lockscope::recipes::kazoo
