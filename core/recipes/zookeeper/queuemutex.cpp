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

// Our place in a queue, and whose turn it is as we saw it last.
struct PlaceInQueue {
    QueueEntry entry;
    Turn turn;
};

// Steps 1 and 2, and the listing of step 3, in frames that are gone while very many wait.
Task<Result<PlaceInQueue>> takePlace(const BackgroundCleanup &cleanup, const QueueSpec &spec, Random *random,
                                     Deadline deadline)
{
    const NodeClaim claim = protectedClaim(spec.directory, spec.base, *random);
    auto joined = co_await joinQueue(cleanup, claim, Listing::Plain, deadline);
    if (!joined)
        co_return joined.error();
    const Turn turn = spec.turnOf(joined->takeQueue(), joined->entry.node());
    co_return PlaceInQueue{std::move(joined->entry), turn};
}

Task<Result<void>> lookAgain(zk::Session *session, const QueueSpec &spec, PlaceInQueue *place, Deadline deadline)
{
    const auto listed = co_await listQueue(session, spec.directory, Listing::Plain, deadline);
    if (!listed)
        co_return listed.error();
    place->turn = spec.turnOf(*listed, place->entry.node());
    co_return Result<void>();
}

} // namespace

QueueSpec mutexQueueSpec(ZPath directory)
{
    return {std::move(directory), mutexBase, turnInMutex};
}

Task<Result<QueueEntry>> acquireInQueue(BackgroundCleanup cleanup, QueueSpec spec, Random *random, Deadline deadline)
{
    for (;;) {
        auto place = co_await takePlace(cleanup, spec, random, deadline); // 1, 2
        if (!place)
            co_return place.error();
        while (place->turn.kind == Turn::Kind::WaitFor) {
            const ZPath predecessor = spec.directory.child(*place->turn.predecessor);
            auto step = co_await untilGone(cleanup.session(), predecessor, deadline); // 3
            if (step)
                step = co_await lookAgain(cleanup.session(), spec, &*place, deadline);
            if (!step)
                co_return step.error();
        }
        if (place->turn.isMine())
            co_return std::move(place->entry);
        place->entry.forget(); // 4
    }
}

Task<Result<QueueEntry>> QueueMutex::enter(Deadline deadline)
{
    // Without a frame of its own: of 100,000 who wait each would keep it.
    return acquireInQueue(cleanup(), mutexQueueSpec(path()), &random(), deadline);
}

bool QueueMutex::minds(const ZPath &node) const
{
    return isInMutexQueue(path(), node);
}

} // namespace lockscope::recipes
