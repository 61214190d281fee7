// SPDX-License-Identifier: Apache-2.0
// The counted lock. Source: Apache Curator, InterProcessSemaphoreV2.
//   1. Become the head of the queue in "locks", which is a mutex (queuemutex.cpp). Only its head goes on.
//   2. Create the lease: an ephemeral sequential child "_c_<uuid>-lease-" of "leases". In the same
//      pipeline list the leases, with a watch on them.
//   3. With fewer leases before ours than there are permits, we hold one.
//   4. Otherwise wait until a lease comes or goes, list again with a watch. Go to 3.
//   5. If our lease was taken away meanwhile, leave "locks" and go to 1: at the end of the queue, as
//      Curator does.
//   6. Leave "locks", in the background. The next one there goes on.
//   7. To release, delete the lease.
//
// Curator counts all leases in step 3. As only the head makes one, ours is the last and the count is the
// same; but should somebody remove the head's node from "locks", two wait for their leases, and by
// counting all neither would ever get in.
#include "core/recipes/curator/locks.h"

namespace lockscope::recipes {

CuratorSemaphore::CuratorSemaphore(zk::Session &session, ZPath path, int limit, Random random)
    : SessionLock(session, std::move(path), std::move(random)), m_limit(limit)
{
}

void CuratorSemaphore::setLimit(int limit)
{
    m_limit = limit;
    // Looks again, as if the leases had changed.
    if (m_watch)
        m_watch->event().complete({zk::EventKind::ChildrenChanged, path()});
}

Task<Result<QueueEntry>> CuratorSemaphore::enter(Deadline deadline)
{
    const ZPath queue = path().child(NodeName("locks"));
    const QueueSpec locks = mutexQueueSpec(&queue);
    for (;;) {
        CO_TRY_VOID(co_await acquireInQueue(&cleanup(), locks, &random(), deadline)); // 1
        auto lease = co_await takeLease(deadline);
        const bool isGone = !lease && lease.error().code == ErrorCode::NotHeld;
        if (!isGone)
            co_return lease; // 6
    }                        // 5
}

// NotHeld when our lease was taken away while we waited.
Task<Result<QueueEntry>> CuratorSemaphore::takeLease(Deadline deadline)
{
    const ZPath leases = path().child(NodeName("leases"));
    const NodeClaim claim = protectedClaim(leases, "lease-", random());
    CO_TRY(auto &joined, co_await joinQueue(cleanup(), claim, Listing::Watched, deadline)); // 2
    QueueEntry entry = std::move(joined.entry);
    std::optional<zk::Watch> news = joined.queue.watch;
    const QByteArrayList bases{"lease-"};
    const auto myTurn = [&](const Listed &queue) {
        return turnInQueue(contendersBefore(queue, bases, entry.node(), m_limit), entry.node(), m_limit);
    };
    Turn turn = myTurn(joined.takeQueue()); // 3
    while (turn.kind == Turn::Kind::WaitFor) {
        m_watch = news;
        const zk::Watch watch = *news;
        CO_TRY_VOID(co_await untilFired(session(), watch, deadline)); // 4
        CO_TRY(const auto &listed, co_await listQueue(session(), leases, Listing::Watched, deadline));
        news = listed.watch;
        turn = myTurn(listed);
    }
    if (turn.isMine())
        co_return std::move(entry);
    entry.forget();
    co_return Error{ErrorCode::NotHeld, QStringLiteral("our lease was removed")};
}

bool CuratorSemaphore::minds(const ZPath &node) const
{
    return isIn(path().child(NodeName("leases")), node) && readSequence(node.name(), "lease-");
}

} // namespace lockscope::recipes
