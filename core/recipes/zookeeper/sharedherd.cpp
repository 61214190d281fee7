// SPDX-License-Identifier: Apache-2.0
// The shared lock with the herd effect; for teaching and for comparison with zk-shared. Source: "From Paxos
// to ZooKeeper" (Ni Chao, 2015), shared locks; the order is that of the ZooKeeper recipes, "Shared Locks".
//   1. Join the queue: create an ephemeral sequential child "<host>-R-" to read or "<host>-W-" to write,
//      and pipelined with it list the children with a watch on them.
//   2. A reader is in when no writer has a lower number, a writer when nobody has.
//   3. Otherwise wait until any child comes or goes, list again with a watch. Go to 2.
//   4. If our own node was taken away meanwhile, go to 1: at the end of the queue.
//   5. To release, delete the node. Everybody wakes up, whoever may get in.
#include "core/recipes/zookeeper/sharedherd.h"

#include "core/recipes/zookeeper/sharednames.h"
#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::recipes {

Task<Result<QueueEntry>> SharedHerd::enter(Deadline deadline)
{
    const NodeClaim claim = sharedClaim(path(), m_access, random());
    for (;;) {
        auto joined = co_await joinQueue(cleanup(), claim, Listing::Watched, deadline); // 1
        if (!joined)
            co_return joined.error();
        QueueEntry entry = std::move(joined->entry);
        std::optional<zk::Watch> news = joined->queue.watch;
        Turn turn = turnInReadWriteQueue(sharedQueue(joined->takeQueue()), entry.node()); // 2
        while (turn.kind == Turn::Kind::WaitFor) {
            const zk::Watch watch = *news;
            const auto changed = co_await untilFired(session(), watch, deadline); // 3
            if (!changed)
                co_return waitedFor(changed.error(), path().child(*turn.predecessor));
            const auto listed = co_await listQueue(session(), path(), Listing::Watched, deadline);
            if (!listed)
                co_return listed.error();
            news = listed->watch;
            turn = turnInReadWriteQueue(sharedQueue(*listed), entry.node());
        }
        if (turn.isMine())
            co_return std::move(entry);
        entry.forget(); // 4
    }
}

bool SharedHerd::minds(const ZPath &node) const
{
    return isIn(path(), node) && !sharedQueue(onlyThat(node.name())).empty();
}

} // namespace lockscope::recipes
