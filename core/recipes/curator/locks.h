// SPDX-License-Identifier: Apache-2.0
// Locks as Apache Curator makes them.
#pragma once

#include "core/recipes/zookeeper/locks.h"

namespace lockscope::recipes {

// curator-mutex: Apache Curator's InterProcessMutex. The queue lock, with reentry.
class CuratorMutex : public QueueMutex {
public:
    using QueueMutex::QueueMutex;

protected:
    [[nodiscard]] bool isReentrant() const override { return true; }
};

class CuratorReadLock;

// curator-rwlock: Apache Curator's InterProcessReadWriteLock.
//
// As with Curator, a writer may read, too (downgrade: then give back the write lock and go on
// reading), but a reader can not become a writer. For that the two sides must know that they are one
// owner's; a side made alone is an owner of its own.
class CuratorWriteLock : public SessionLock {
public:
    using SessionLock::SessionLock;

    // Must live as long as this is acquired.
    void setReader(const CuratorReadLock *reader) { m_reader = reader; }
    [[nodiscard]] bool isWaiting() const { return isAcquiring(); }
    [[nodiscard]] std::optional<NodeName> heldNode() const;

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;
    [[nodiscard]] bool isReentrant() const override { return true; }

private:
    const CuratorReadLock *m_reader = nullptr;
};

class CuratorReadLock : public SessionLock {
public:
    CuratorReadLock(zk::Session &session, ZPath path, Random random, const CuratorWriteLock *writer = nullptr);

    [[nodiscard]] bool isHeldOrWaiting() const { return isAcquiring() || holdCount() > 0; }

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;
    [[nodiscard]] bool isReentrant() const override { return true; }

private:
    Task<Result<QueueEntry>> enterBeside(NodeName writer, Deadline deadline);

    const CuratorWriteLock *m_writer;
};

// One owner's two sides.
class CuratorReadWriteLock {
public:
    CuratorReadWriteLock(zk::Session &session, const ZPath &path, Random random);

    [[nodiscard]] Lock &readLock() { return m_reader; }
    [[nodiscard]] Lock &writeLock() { return m_writer; }

private:
    CuratorWriteLock m_writer;
    CuratorReadLock m_reader;
};

// curator-semaphore: Apache Curator's InterProcessSemaphoreV2, so many may hold it at once;
// curator-semaphore-mutex: its InterProcessSemaphoreMutex, the same with one permit.
class CuratorSemaphore : public SessionLock {
public:
    // The limit is stored nowhere: all clients have to agree on it.
    CuratorSemaphore(zk::Session &session, ZPath path, int limit, Random random);

    // At least 1. A higher one lets in who waits here, if there is room; a lower one counts from the next acquire on.
    void setLimit(int limit);

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;

private:
    Task<Result<QueueEntry>> takeLease(Deadline deadline);

    int m_limit;
    std::optional<zk::Watch> m_watch; // of the leases, the latest
};

} // namespace lockscope::recipes
