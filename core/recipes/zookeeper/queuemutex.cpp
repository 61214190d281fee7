// SPDX-License-Identifier: Apache-2.0
// The queue lock. Source: ZooKeeper recipes, "Locks"; names as Curator's InterProcessMutex.
//   1. Join the queue: create an ephemeral sequential child "_c_<uuid>-lock-", and list the children in
//      the same pipeline.
//   2. The lowest number holds the lock. (Read and write locks decide otherwise: theirs is the same queue.)
//   3. Otherwise watch the child just before ours, and only that one, until it goes; list again.
//      Go to 2.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue, as Curator does.
//   5. To release, delete the node. The next one wakes up, and only that one.
#include "core/recipes/zookeeper/queuemutex.h"

#include "core/recipes/zookeeper/mutexnames.h"
#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::recipes {

namespace {

Turn turnInMutex(const Listed &queue, const NodeName &me)
{
    return turnInQueue(mutexQueue(queue, me), me);
}

} // namespace

QueueSpec mutexQueueSpec(ZPath directory)
{
    return {std::move(directory), mutexBase, turnInMutex};
}

Task<Result<QueueEntry>> acquireInQueue(BackgroundCleanup cleanup, QueueSpec spec, Random *random, Deadline deadline)
{
    auto *session = cleanup.session();
    for (;;) {
        const Claim claim = protectedClaim(spec.directory, spec.base, *random);
        auto joined = co_await joinQueue(cleanup, claim, Listing::Plain, deadline); // 1
        if (!joined)
            co_return joined.error();
        QueueEntry entry = std::move(joined->entry);
        Turn turn = spec.turnOf(joined->takeQueue(), entry.node()); // 2
        while (turn.kind == Turn::Kind::WaitFor) {
            const ZPath predecessor = spec.directory.child(*turn.predecessor);
            const auto gone = co_await untilGone(session, predecessor, deadline); // 3
            if (!gone)
                co_return gone.error();
            const auto listed = co_await listQueue(session, spec.directory, Listing::Plain, deadline);
            if (!listed)
                co_return listed.error();
            turn = spec.turnOf(*listed, entry.node());
        }
        if (turn.isMine())
            co_return std::move(entry);
        entry.forget(); // 4
    }
}

Task<Result<QueueEntry>> QueueMutex::enter(Deadline deadline)
{
    // Without a frame of its own: of 100,000 who wait each would keep it.
    return acquireInQueue(cleanup(), mutexQueueSpec(path()), &random(), deadline);
}

} // namespace lockscope::recipes
