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
#include "core/recipes/zookeeper/sharedlock.h"

#include "core/recipes/zookeeper/sharednames.h"
#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::recipes {

Task<Result<QueueEntry>> SharedLock::enter(Deadline deadline)
{
    const NodeClaim claim = sharedClaim(path(), m_access, random());
    for (;;) {
        auto joined = co_await joinQueue(cleanup(), claim, Listing::Plain, deadline); // 1
        if (!joined)
            co_return joined.error();
        QueueEntry entry = std::move(joined->entry);
        Turn turn = turnInReadWriteQueue(sharedQueue(joined->takeQueue()), entry.node()); // 2
        while (turn.kind == Turn::Kind::WaitFor) {
            const ZPath blocker = path().child(*turn.predecessor);
            const auto gone = co_await untilGone(session(), blocker, deadline); // 3
            if (!gone)
                co_return gone.error();
            const auto listed = co_await listQueue(session(), path(), Listing::Plain, deadline);
            if (!listed)
                co_return listed.error();
            turn = turnInReadWriteQueue(sharedQueue(*listed), entry.node());
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

} // namespace lockscope::recipes
