// SPDX-License-Identifier: Apache-2.0
// The queue lock with a faster hand-off. Names, order and release are zk-mutex's; what differs is how a
// waiter learns that it is its turn. A server tells a session of changes in their order, so:
//   1. Join the queue: create an ephemeral sequential child "_c_<uuid>-lock-", and list the children in
//      the same pipeline.
//   2. The lowest number holds the lock.
//   3. Otherwise watch our own node, the child just before ours, and (unless that one is the lowest) the
//      child before it, until one of them goes. Far behind in a crowd this begins a moment later: who has
//      released and joins again sends all its requests when the next one has to send its own.
//   4. If the child before ours was the lowest when we listed, its going makes us the lowest: the lock is
//      ours, without asking again. Provided that our own node stood then (had it gone earlier, we would
//      have been told earlier) and that the connection never broke since that list.
//   5. Else list again and go to 2. Mostly the child before our predecessor went, and the list tells that
//      our predecessor is now the lowest, while that one still holds the lock: nobody waits for this list.
//   6. If our own node was taken away, go to 1: at the end of the queue.
//   7. To release, delete the node. It wakes the next one, and the one after it.
// One transaction that deletes our predecessor first and our own node second may, between the two events,
// look like a hand-off that is forced away at once: as after any force-release, ask whether it is still ours.
// Saves a round trip per hand-off, for one or two requests more; without network delay it gains nothing.
#include "core/recipes/zookeeper/eagermutex.h"

#include "core/async/sleep.h"
#include "core/recipes/zookeeper/mutexnames.h"
#include "core/recipes/zookeeper/waiting.h"
#include "core/recipes/zookeeper/watchset.h"

namespace lockscope::recipes {

using namespace std::chrono_literals;

namespace {

constexpr int countedAhead = 8;

struct Rank {
    Turn turn;         // ours
    Turn predecessors; // of whom we wait for
    int ahead = 0;     // of us, as far as they are counted
};

Rank rankOf(const Listed &children, const NodeName &me)
{
    const auto queue = mutexQueue(children, me, countedAhead);
    Rank rank{turnInQueue(queue, me), {}, static_cast<int>(queue.size()) - 1};
    if (rank.turn.kind == Turn::Kind::WaitFor)
        rank.predecessors = turnInQueue(queue, *rank.turn.predecessor);
    return rank;
}

// For how long the watches can wait of one whose join took so long: half of the time until the first of them is of
// use. That is when the last but two before us goes; each before it takes a round trip at least, and ours has begun
// with the join. Whole milliseconds, as timers have them: beside a near server none. Should all of them vanish at
// once, we hear of it so much later.
Duration leisure(const Rank &rank, Duration joining)
{
    constexpr Duration most = 2ms;
    const auto half = joining * std::max(rank.ahead - 3, 0) / 2;
    return std::min<Duration>(std::chrono::floor<std::chrono::milliseconds>(half), most);
}

} // namespace

Task<Result<QueueEntry>> EagerMutex::enter(Deadline deadline)
{
    for (;;) {
        WatchSet watchSet(session());
        const NodeClaim claim = mutexClaim(path(), random());
        const auto came = session()->loop().now();
        auto joined = co_await joinQueue(cleanup(), claim, Listing::Plain, deadline); // 1
        if (!joined)
            co_return joined.error();
        QueueEntry entry = std::move(joined->entry);
        Rank rank = rankOf(joined->takeQueue(), entry.node()); // 2
        const auto now = session()->loop().now();
        const auto pause = leisure(rank, now - came);
        if (pause > Duration::zero()) {
            auto woken = sleepUntil(session()->loop(), std::min(now + pause, deadline.when()));
            co_await woken;
        }
        while (rank.turn.kind == Turn::Kind::WaitFor) {
            const ZPath predecessor = path().child(*rank.turn.predecessor);
            std::vector<ZPath> watched{entry.path(), predecessor};
            if (rank.predecessors.kind == Turn::Kind::WaitFor)
                watched.push_back(path().child(*rank.predecessors.predecessor));
            const auto changed = co_await watchSet.untilChange(watched, deadline); // 3
            if (!changed)
                co_return waitedFor(changed.error(), predecessor);
            if (rank.predecessors.isMine() && watchSet.sawGo(predecessor, entry.path())) // 4
                co_return std::move(entry);
            watchSet.startAnew();
            const auto listed = co_await listQueue(session(), path(), Listing::Plain, deadline); // 5
            if (!listed)
                co_return listed.error();
            rank = rankOf(*listed, entry.node());
        }
        if (rank.turn.isMine())
            co_return std::move(entry);
        entry.forget(); // 6
    }
}

bool EagerMutex::minds(const ZPath &node) const
{
    return isInMutexQueue(path(), node);
}

} // namespace lockscope::recipes
