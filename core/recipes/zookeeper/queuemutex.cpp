// SPDX-License-Identifier: Apache-2.0
// The queue lock. Source: ZooKeeper recipes, "Locks"; names as Curator's InterProcessMutex.
//   1. Join the queue: create an ephemeral sequential child "_c_<uuid>-lock-", and list the children in
//      the same pipeline.
//   2. The lowest number holds the lock. (Read and write locks decide otherwise: theirs is the same queue.)
//   3. Otherwise watch the child just before ours, and only that one, until it goes; list again.
//      Go to 2.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue, as Curator does.
//   5. To release, delete the node. The next one wakes up, and only that one.
#include "core/recipes/zookeeper/locks.h"

namespace lockscope::recipes {

namespace {

Turn turnInMutex(const Listed &queue, const NodeName &me)
{
    return turnInQueue(mutexQueue(queue, me), me);
}

// Our place in a queue, whose turn it is as we saw it last, and whom we wait for, if it is another's.
struct PlaceInQueue {
    QueueEntry entry;
    Turn::Kind turn = Turn::Kind::Gone;
    ZPath predecessor;

    void see(const Turn &seen, const ZPath &directory)
    {
        turn = seen.kind;
        predecessor = seen.predecessor ? directory.child(*seen.predecessor) : ZPath();
        // Without the room that a string has got while it grew.
        predecessor = ZPath(QByteArray(predecessor.bytes().constData(), predecessor.bytes().size()));
    }
};

// Steps 1 and 2, and the listing of step 3, in frames that are gone while very many wait.
Task<Result<PlaceInQueue>> takePlace(const BackgroundCleanup &cleanup, const QueueSpec &spec, Random *random,
                                     Deadline deadline)
{
    const NodeClaim claim = protectedClaim(*spec.directory, *spec.base, *random);
    CO_TRY(auto &joined, co_await joinQueue(cleanup, claim, Listing::Plain, deadline));
    const Turn turn = spec.turnOf(joined.takeQueue(), joined.entry.node());
    PlaceInQueue place{std::move(joined.entry), turn.kind, {}};
    place.see(turn, *spec.directory);
    co_return std::move(place);
}

Task<Result<void>> lookAgain(zk::Session *session, const QueueSpec &spec, PlaceInQueue *place, Deadline deadline)
{
    CO_TRY(const auto &listed, co_await listQueue(session, *spec.directory, Listing::Plain, deadline));
    place->see(spec.turnOf(listed, place->entry.node()), *spec.directory);
    co_return Result<void>();
}

} // namespace

QueueSpec mutexQueueSpec(const ZPath *directory)
{
    return {directory, &mutexBase, turnInMutex};
}

Task<Result<QueueEntry>> acquireInQueue(const BackgroundCleanup *cleanup, QueueSpec spec, Random *random,
                                        Deadline deadline)
{
    for (;;) {
        CO_TRY(auto &place, co_await takePlace(*cleanup, spec, random, deadline)); // 1, 2
        while (place.turn == Turn::Kind::WaitFor) {
            auto step = co_await untilGone(cleanup->session(), place.predecessor, deadline); // 3
            if (step)
                step = co_await lookAgain(cleanup->session(), spec, &place, deadline);
            if (!step)
                co_return step.error();
        }
        if (place.turn == Turn::Kind::Mine)
            co_return std::move(place.entry);
        place.entry.forget(); // 4
    }
}

Task<Result<QueueEntry>> QueueMutex::enter(Deadline deadline)
{
    // Without a frame of its own: of 100,000 who wait each would keep it.
    return acquireInQueue(&cleanup(), mutexQueueSpec(&path()), &random(), deadline);
}

bool QueueMutex::minds(const ZPath &node) const
{
    return isInMutexQueue(path(), node);
}

NodeClaim mutexClaim(const ZPath &directory, Random &random)
{
    return protectedClaim(directory, mutexBase, random);
}

namespace {

const QByteArrayList bases{"lock-", "__lock__"};

} // namespace

std::vector<Queued> mutexQueue(const Listed &children)
{
    return contendersIn(children, bases);
}

std::vector<Queued> mutexQueue(const Listed &children, const NodeName &me, int ahead)
{
    return contendersBefore(children, bases, me, ahead);
}

bool isInMutexQueue(const ZPath &directory, const ZPath &node)
{
    return isIn(directory, node) && !mutexQueue(onlyThat(node.name())).empty();
}

} // namespace lockscope::recipes
