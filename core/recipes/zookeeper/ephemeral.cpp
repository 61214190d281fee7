// SPDX-License-Identifier: Apache-2.0
// The simple lock. Source: Hunt et al., "ZooKeeper: Wait-free Coordination" (2010), section 2.4.
//   1. Create the lock's node, ephemeral. Whoever succeeds holds the lock.
//   2. It exists already: watch it until it goes. Go to 1.
//   3. To release, look whether the node still is our own, by czxid and owner (sync and exists, in one
//      pipeline), and delete it; if it is not, there is nothing to release.
//
// Not fair, and one release wakes everybody. Between two holders the node has the same name, and a delete names
// nothing else. The look keeps a holder that was released by force before it began to release from deleting the next
// one's node. Whoever is released by force, and succeeded, between its look and its delete still does: a round trip,
// and what its server lags behind the leader. Who needs no gap gives the lock a session of its own and closes that.
#include "core/recipes/zookeeper/locks.h"

#include "core/recipes/lockbase.h"

namespace lockscope::recipes {

Task<Result<QueueEntry>> EphemeralLock::enter(Deadline deadline)
{
    NodeClaim claim;
    claim.path = path();
    claim.sequential = false;
    claim.data = hostAddress() + ' ' + uuidToken(random()); // all of them have one name: this tells ours
    for (;;) {
        auto claimed = co_await createEntry(cleanup(), claim, deadline); // 1
        if (claimed || claimed.error().code != ErrorCode::NodeExists)
            co_return claimed;
        CO_TRY_VOID(co_await untilGone(session(), path(), deadline)); // 2
    }
}

} // namespace lockscope::recipes
