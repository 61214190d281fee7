// SPDX-License-Identifier: Apache-2.0
// The locks on ZooKeeper that queue as Curator's mutex does.
#pragma once

#include "core/recipes/zookeeper/queueentry.h"

namespace lockscope::recipes {

// What the ZooKeeper recipes share: they differ only in how they enter. Release, "still mine?", loss
// with the session, cleaning up and the fencing token are the same for all of them.
//
// A delete names nothing but the path, and a data version. A node whose name may come again
// (NodeClaim::nameComesAgain) is therefore looked at before each removal, here and by the cleanup: only the
// one with our czxid and owner is removed. Between that look and the delete a moment remains in which
// somebody may take our node away and another make his own. No request of ZooKeeper's closes it (check
// and delete in one transaction compare the version, which starts at 0 with every node) but the end of
// the session, which removes what the session owns and nothing else.

// Whether a node lies right in that directory.
[[nodiscard]] inline bool isIn(const ZPath &directory, const ZPath &node)
{
    return !node.isRoot() && node.parent() == directory;
}

class SessionLock : public LockBase {
public:
    SessionLock(zk::Session &session, ZPath path, Random random);
    ~SessionLock() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) final;
    Task<Result<bool>> isStillMine(Deadline deadline) final;
    void noteTakenAway(const Grant &grant) final;
    [[nodiscard]] std::function<bool(const SeenHold &)> overlooks() const final;
    [[nodiscard]] int holdCount() const final { return m_held ? m_holdCount : 0; }

protected:
    // The recipe: comes back with the place that holds the lock.
    virtual Task<Result<QueueEntry>> enter(Deadline deadline) = 0;
    // Whether a contender that the recipe waits for may be that node.
    [[nodiscard]] virtual bool minds(const ZPath & /*node*/) const { return true; }
    // Reentry is counted here; the server sees none of it, as with Curator.
    [[nodiscard]] virtual bool isReentrant() const { return false; }

    [[nodiscard]] zk::Session *session() const { return m_session; }
    [[nodiscard]] const BackgroundCleanup &cleanup() const { return m_cleanup; }
    [[nodiscard]] const ZPath &path() const { return m_path; }
    [[nodiscard]] Random &random() { return m_random; }
    // What we hold it by, while we do.
    [[nodiscard]] const std::optional<QueueEntry> &held() const { return m_held; }

private:
    Task<Result<Grant>> take(Deadline deadline) final;
    Task<Result<Grant>> reenter(Deadline deadline) final;
    Task<void> tidyUp(Result<QueueEntry> *failed);
    [[nodiscard]] Grant grant() const;
    [[nodiscard]] bool isHeld() const final { return m_held.has_value(); }
    void letGo() final { m_held.reset(); }
    void sessionChanged(zk::SessionState state);
    void connectionChanged();
    void stopBelieving();

    zk::Session *m_session;
    ZPath m_path;
    Random m_random;
    BackgroundCleanup m_cleanup;
    std::optional<QueueEntry> m_held;
    int m_holdCount = 0;                  // while held
    std::optional<Subscription> m_states; // from the first hold on
    Timer m_stopsBelieving;               // runs while we hold it and are cut off
};

// The holder's notice: the node a hold stands on is watched, so that its holder learns at once when it was released
// by force. Beside the recipe, and not counted as part of it.

// Watches the node of this grant through every reconnect, until it is gone or another stands in its place: then the
// lock is told (Lock::noteTakenAway). Ends in silence with the session, of which the lock knows itself. Lock and
// session outlive it.
[[nodiscard]] Task<void> watchOwnNode(zk::Session *session, Lock *lock, Grant grant);

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
