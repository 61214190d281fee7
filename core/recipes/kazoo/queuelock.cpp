// SPDX-License-Identifier: Apache-2.0
// kazoo's locks. Source: kazoo 2.8, kazoo.recipe.lock; the algorithm is that of the ZooKeeper recipes,
// "Locks" and "Shared Locks".
//   1. Join the queue: create an ephemeral sequential child "<uuid hex>__lock__" (a reader "__rlock__"),
//      and list the children pipelined with it.
//   2. A Lock holds when no lock is before it, a WriteLock when nobody is, a ReadLock when no writer is.
//   3. Otherwise watch the nearest of those before ours until it goes; list again. Go to 2.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue.
//   5. To release, delete the node. The next one wakes up; after a writer, all readers before the next
//      writer.
#include "core/recipes/kazoo/locks.h"

#include "core/recipes/lockbase.h"

namespace lockscope::recipes::kazoo {

namespace {

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

} // namespace

NodeClaim contender(Kind kind, const ZPath &directory, QByteArray data, Random &random)
{
    const QByteArray id = uuidToken(random).replace("-", "");
    NodeClaim claim;
    claim.path = directory.child(NodeName(id + (kind == Kind::ReadLock ? readBase : lockBase)));
    claim.data = std::move(data);
    return claim;
}

Turn turnOf(Kind kind, const Listed &queue, const NodeName &me)
{
    if (kind == Kind::Lock)
        return turnInQueue(contendersBefore(queue, locks, me), me);
    return turnInReadWriteQueue(readersAndWriters(queue), me);
}

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

QueueLock::QueueLock(zk::Session &session, ZPath path, Random random, Kind kind)
    : SessionLock(session, std::move(path), std::move(random)), m_kind(kind)
{
}

Task<Result<QueueEntry>> QueueLock::enter(Deadline deadline)
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

bool QueueLock::minds(const ZPath &node) const
{
    const Listed alone = onlyThat(node.name());
    return isIn(path(), node)
           && !(m_kind == Kind::Lock ? contendersIn(alone, locks) : readersAndWriters(alone)).empty();
}

} // namespace lockscope::recipes::kazoo
