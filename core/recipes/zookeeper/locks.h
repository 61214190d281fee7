// SPDX-License-Identifier: Apache-2.0
// The locks on ZooKeeper that queue as Curator's mutex does.
#pragma once

#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::recipes {

// zk-mutex: the queue lock, each waiter watches its predecessor; interchangeable with Curator's InterProcessMutex.

// A queue of Curator's kind: they differ in the name of their nodes and in who may enter.
struct QueueSpec {
    const ZPath *directory;
    const QByteArray *base; // "lock-"
    Turn (*turnOf)(const Listed &queue, const NodeName &me);
};
// Joins the queue and comes back with its entry when it may enter. What is pointed to outlives it: of 100,000 who
// wait none keeps what its lock has already.
[[nodiscard]] Task<Result<QueueEntry>> acquireInQueue(const BackgroundCleanup *cleanup, QueueSpec spec,
                                                      Random *random, Deadline deadline);

// A queue where only the first may enter.
[[nodiscard]] QueueSpec mutexQueueSpec(const ZPath *directory);

class QueueMutex : public SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;
};

// The wire layout of the queue mutexes: Curator's names, and whom they queue with.
inline const QByteArray mutexBase = "lock-";

// A new node "_c_<uuid>-lock-<seq>" in that directory, as Curator's InterProcessMutex makes it. The
// name alone tells it from all others.
[[nodiscard]] NodeClaim mutexClaim(const ZPath &directory, Random &random);

// Curator's and go-zookeeper's contenders, and kazoo's: its Lock queues with them when told to. All of them, or as
// contendersBefore() has them.
[[nodiscard]] std::vector<Queued> mutexQueue(const Listed &children);
[[nodiscard]] std::vector<Queued> mutexQueue(const Listed &children, const NodeName &me, int ahead = 1);
// Whether that node is a contender in the directory's.
[[nodiscard]] bool isInMutexQueue(const ZPath &directory, const ZPath &node);

// zk-eager-mutex: zk-mutex's wire layout, but mostly the event alone hands the lock over.
class EagerMutex : public SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;
};

namespace kazoo {

// kazoo-lock and kazoo-rwlock: kazoo's Lock, WriteLock and ReadLock, one queue with three ways to read it.
enum class Kind { Lock, WriteLock, ReadLock };
[[nodiscard]] std::unique_ptr<recipes::Lock> makeQueueLock(zk::Session &session, const ZPath &lock, Random random,
                                                           Kind kind);
// kazoo-semaphore: kazoo's Semaphore. One of them is one permit. `mayMake`: a pool that is missing is made, with so
// many permits.
[[nodiscard]] std::unique_ptr<recipes::Lock> makeSemaphore(zk::Session &session, const ZPath &pool, int limit,
                                                           Random random, bool mayMake);

} // namespace kazoo

} // namespace lockscope::recipes
