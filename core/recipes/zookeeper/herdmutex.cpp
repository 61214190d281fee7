// SPDX-License-Identifier: Apache-2.0
// The queue lock with the herd effect; for teaching and for comparison with zk-mutex. Source: the
// remark on the herd effect in the ZooKeeper recipes, "Locks".
//   1. Join the queue: create an ephemeral sequential child "herd-", and pipelined with it list the
//      children with a watch on them.
//   2. The lowest number holds the lock.
//   3. Otherwise wait until any child comes or goes, list again with a watch. Go to 2.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue.
//   5. To release, delete the node. Everybody wakes up, one of them gets in.
#include "core/recipes/zookeeper/locks.h"

#include "core/recipes/lockbase.h"

namespace lockscope::recipes {

namespace {

const QByteArrayList herdBases{"herd-"};

} // namespace

Task<Result<QueueEntry>> HerdMutex::enter(Deadline deadline)
{
    NodeClaim claim;
    claim.path = path().child(NodeName(herdBases.front()));
    claim.data = hostAddress() + ' ' + uuidToken(random()); // the name does not tell ours from others'
    for (;;) {
        CO_TRY(auto &joined, co_await joinQueue(cleanup(), claim, Listing::Watched, deadline)); // 1
        QueueEntry entry = std::move(joined.entry);
        const NodeName me = entry.node();
        std::optional<zk::Watch> news = joined.queue.watch;
        Turn turn = turnInQueue(contendersBefore(joined.takeQueue(), herdBases, me), me);
        while (turn.kind == Turn::Kind::WaitFor) {
            const auto changed = co_await untilFired(session(), *std::exchange(news, std::nullopt), deadline); // 3
            if (!changed)
                co_return waitedFor(changed.error(), path().child(*turn.predecessor));
            CO_TRY(auto &listed, co_await listQueue(session(), path(), Listing::Watched, deadline));
            news = std::move(listed.watch);
            turn = turnInQueue(contendersBefore(listed, herdBases, me), me);
        }
        if (turn.isMine()) // 2
            co_return std::move(entry);
        entry.forget(); // 4
    }
}

bool HerdMutex::minds(const ZPath &node) const
{
    return isIn(path(), node) && !contendersIn(onlyThat(node.name()), herdBases).empty();
}

} // namespace lockscope::recipes
