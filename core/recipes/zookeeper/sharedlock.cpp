// SPDX-License-Identifier: Apache-2.0
// The shared lock without the herd. Source: "From Paxos to ZooKeeper" (Ni Chao, 2015), shared locks, the
// improvement; the same as the ZooKeeper recipes, "Shared Locks".
//   1. Join the queue: create an ephemeral sequential child "<host>-R-" to read or "<host>-W-" to write,
//      and list the children pipelined with it.
//   2. A reader is in when no writer has a lower number, a writer when nobody has.
//   3. Otherwise a reader watches the last writer before it, a writer the child just before it, whatever
//      that is; only that one, until it goes; list again. Go to 2: there may be others before it.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue.
//   5. To release, delete the node. It wakes whoever watches it: the writer behind it, or the readers
//      behind the writer that it was, and those get in together.
#include "core/recipes/zookeeper/locks.h"

#include "core/recipes/lockbase.h"

namespace lockscope::recipes {

namespace {

// The wire layout of the textbook's shared lock: <host>-R-<seq> for a reader, <host>-W-<seq> for a writer.
constexpr auto reader = "-R-";
constexpr auto writer = "-W-";

// A new node of this host in that directory. Its data tells it from the others of this host.
NodeClaim sharedClaim(const ZPath &directory, Access access, Random &random)
{
    const QByteArray address = hostAddress();
    const QByteArray host = address.isEmpty() ? QByteArray("localhost") : address;
    NodeClaim claim;
    claim.path = directory.child(NodeName(host + (access == Access::Shared ? reader : writer)));
    claim.data = host + ' ' + uuidToken(random);
    return claim;
}

// Readers and writers among the children, whatever their host. Sorted.
std::vector<Queued> sharedQueue(const Listed &children)
{
    std::vector<Queued> queue;
    queue.reserve(children.names.size());
    for (const auto &name : children.names) {
        if (const auto read = readSequence(name, reader))
            queue.push_back({*read, Access::Shared});
        else if (const auto write = readSequence(name, writer))
            queue.push_back({*write, Access::Exclusive});
    }
    sortQueue(queue);
    return queue;
}

} // namespace

Task<Result<QueueEntry>> SharedLock::enter(Deadline deadline)
{
    const NodeClaim claim = sharedClaim(path(), m_access, random());
    for (;;) {
        CO_TRY(auto &joined, co_await joinQueue(cleanup(), claim, Listing::Plain, deadline)); // 1
        QueueEntry entry = std::move(joined.entry);
        Turn turn = turnInReadWriteQueue(sharedQueue(joined.takeQueue()), entry.node()); // 2
        while (turn.kind == Turn::Kind::WaitFor) {
            const ZPath blocker = path().child(*turn.predecessor);
            CO_TRY_VOID(co_await untilGone(session(), blocker, deadline)); // 3
            CO_TRY(const auto &listed, co_await listQueue(session(), path(), Listing::Plain, deadline));
            turn = turnInReadWriteQueue(sharedQueue(listed), entry.node());
        }
        if (turn.isMine())
            co_return std::move(entry);
        entry.forget(); // 4
    }
}

bool SharedLock::minds(const ZPath &node) const
{
    return isIn(path(), node) && !sharedQueue(onlyThat(node.name())).empty();
}

// The shared lock with the herd effect; for teaching and for comparison with zk-shared. Source: "From Paxos
// to ZooKeeper" (Ni Chao, 2015), shared locks; the order is that of the ZooKeeper recipes, "Shared Locks".
//   1. Join the queue: create an ephemeral sequential child "<host>-R-" to read or "<host>-W-" to write,
//      and pipelined with it list the children with a watch on them.
//   2. A reader is in when no writer has a lower number, a writer when nobody has.
//   3. Otherwise wait until any child comes or goes, list again with a watch. Go to 2.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue.
//   5. To release, delete the node. Everybody wakes up, whoever may get in.
Task<Result<QueueEntry>> SharedHerd::enter(Deadline deadline)
{
    const NodeClaim claim = sharedClaim(path(), m_access, random());
    for (;;) {
        CO_TRY(auto &joined, co_await joinQueue(cleanup(), claim, Listing::Watched, deadline)); // 1
        QueueEntry entry = std::move(joined.entry);
        std::optional<zk::Watch> news = joined.queue.watch;
        Turn turn = turnInReadWriteQueue(sharedQueue(joined.takeQueue()), entry.node()); // 2
        while (turn.kind == Turn::Kind::WaitFor) {
            const zk::Watch watch = *news;
            const auto changed = co_await untilFired(session(), watch, deadline); // 3
            if (!changed)
                co_return waitedFor(changed.error(), path().child(*turn.predecessor));
            CO_TRY(const auto &listed, co_await listQueue(session(), path(), Listing::Watched, deadline));
            news = listed.watch;
            turn = turnInReadWriteQueue(sharedQueue(listed), entry.node());
        }
        if (turn.isMine())
            co_return std::move(entry);
        entry.forget(); // 4
    }
}

} // namespace lockscope::recipes
