// SPDX-License-Identifier: Apache-2.0
// The read/write lock and the semaphore. Source of the lock: Apache Curator, InterProcessReadWriteLock (as of 5.5).
//   1. Join the mutex's queue (queuemutex.cpp), with a node "_c_<uuid>-__WRIT__<seq>" or
//      "_c_<uuid>-__READ__<seq>": readers and writers share one queue.
//   2. A writer enters when it is first, and waits for the node just before it, of either kind.
//   3. A reader enters when no writer is before it, and waits for the first writer of the queue. (Not
//      for the last one before it: each writer's release wakes all readers.)
//   4. Downgrade: a reader whose owner is the writer at the head takes that writer's number for its
//      own, without asking the server for one. So nobody stands between the two, and when the writer
//      goes the reader is the head. It holds as soon as its node stands, if the writer's still does.
//   5. Upgrade: a reader would wait for its own node to go. Refused.
//   6. To release, delete the node.
#include "core/recipes/curator/locks.h"

#include "core/base/text.h"

namespace lockscope::recipes {

namespace {

const QByteArray writes = "__WRIT__";
const QByteArray reads = "__READ__";

bool readsOrWrites(const NodeName &node)
{
    return readSequence(node, writes) || readSequence(node, reads);
}

Turn turnToReadOrWrite(const Listed &listed, const NodeName &me) // 2, 3
{
    auto queue = contendersIn(listed, {writes});
    for (auto &reader : contendersIn(listed, {reads}))
        queue.push_back({reader.node, Access::Shared});
    sortQueue(queue);
    return turnInReadWriteQueue(queue, me, ReaderWatches::LowestWriter);
}

} // namespace

std::optional<NodeName> CuratorWriteLock::heldNode() const
{
    return held() ? std::optional(held()->node()) : std::nullopt;
}

Task<Result<QueueEntry>> CuratorWriteLock::enter(Deadline deadline)
{
    if (m_reader && m_reader->isHeldOrWaiting()) // 5
        co_return Error{ErrorCode::BadInput,
                        u"its owner reads, and a reader cannot become a writer: release the read lock first"_s};
    const QueueSpec spec{&path(), &writes, turnToReadOrWrite};
    auto entry = co_await acquireInQueue(&cleanup(), spec, &random(), deadline); // 1
    co_return entry;
}

CuratorReadLock::CuratorReadLock(zk::Session &session, ZPath path, Random random, const CuratorWriteLock *writer)
    : SessionLock(session, std::move(path), std::move(random)), m_writer(writer)
{
}

Task<Result<QueueEntry>> CuratorReadLock::enter(Deadline deadline)
{
    if (m_writer && m_writer->isWaiting())
        co_return Error{ErrorCode::BadInput, u"its owner waits to write, and would wait for itself"_s};
    const auto writer = m_writer ? m_writer->heldNode() : std::nullopt;
    if (writer) {
        auto beside = co_await enterBeside(*writer, deadline);
        co_return beside;
    }
    const QueueSpec spec{&path(), &reads, turnToReadOrWrite};
    auto entry = co_await acquireInQueue(&cleanup(), spec, &random(), deadline); // 1
    co_return entry;
}

Task<Result<QueueEntry>> CuratorReadLock::enterBeside(NodeName writer, Deadline deadline)
{
    const auto number = writer.bytes().mid(writer.bytes().lastIndexOf(writes) + writes.size());
    NodeClaim claim = protectedClaim(path(), reads + number, random()); // 4
    claim.sequential = false;
    CO_TRY(auto &joined, co_await joinQueue(cleanup(), claim, Listing::Plain, deadline));
    const Turn turn = turnToReadOrWrite(joined.queue, writer);
    if (turn.isMine())
        co_return std::move(joined.entry);
    co_return Error{ErrorCode::NotHeld,
                    u"the write lock of its owner was removed (%1 no longer exists)"_s.arg(label(writer.bytes()))};
}

CuratorReadWriteLock::CuratorReadWriteLock(zk::Session &session, const ZPath &path, Random random)
    : m_writer(session, path, Random(random.next())), m_reader(session, path, Random(random.next()), &m_writer)
{
    m_writer.setReader(&m_reader);
}

bool CuratorWriteLock::minds(const ZPath &node) const
{
    return isIn(path(), node) && readsOrWrites(node.name());
}

bool CuratorReadLock::minds(const ZPath &node) const
{
    return isIn(path(), node) && readsOrWrites(node.name());
}

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
