// The queue lock. Source: ZooKeeper recipes, "Locks"; names as Curator's InterProcessMutex.
//   1. Join the queue: create an ephemeral sequential child "_c_<uuid>-lock-", and list the children in
//      the same breath.
//   2. The lowest number holds the lock.
//   3. Otherwise watch the child just before ours, and only that one, until it goes; list again.
//      Go to 2.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue, as Curator does.
//   5. To release, delete the node. The next one wakes up, and only that one.
#include "core/recipes/zookeeper/queuemutex.h"

#include "core/recipes/zookeeper/mutexnames.h"
#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::recipes {

Task<Result<Place>> QueueMutex::enter(Deadline deadline)
{
    for (;;) {
        const Claim claim = mutexClaim(path(), random());
        auto joined = co_await joinQueue(janitor(), claim, Listing::Plain, deadline);        // 1
        if (!joined)
            co_return joined.error();
        Place place = std::move(joined->place);
        Turn turn = turnInQueue(mutexQueue(joined->queue), place.node());                    // 2
        while (turn.kind == Turn::Kind::WaitFor) {
            const ZPath predecessor = path().child(*turn.predecessor);
            const auto gone = co_await untilGone(session(), predecessor, deadline);          // 3
            if (!gone)
                co_return gone.error();
            const auto listed = co_await listQueue(session(), path(), Listing::Plain, deadline);
            if (!listed)
                co_return listed.error();
            turn = turnInQueue(mutexQueue(*listed), place.node());
        }
        if (turn.isMine())
            co_return std::move(place);
        place.forget();                                                                      // 4
    }
}

} // namespace lockscope::recipes
