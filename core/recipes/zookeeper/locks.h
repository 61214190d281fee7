// SPDX-License-Identifier: Apache-2.0
// The locks on ZooKeeper that are no other client's; each one's rules stand in its own file.
#pragma once

#include "core/recipes/zookeeper/sessionlock.h"
#include "core/rules/turn.h"

namespace lockscope::recipes {

// zk-ephemeral: the simple lock, one plain ephemeral node.
class EphemeralLock : public SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override { return node == path(); }
};

// zk-eager-mutex: zk-mutex's wire layout, but mostly the event alone hands the lock over.
class EagerMutex : public SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;
};

// zk-flat-mutex: several locks in one directory, each a queue of the nodes that carry its name.
class FlatMutex : public SessionLock {
public:
    using SessionLock::SessionLock;

    // Why a lock cannot have this name, if it cannot.
    [[nodiscard]] static std::optional<Error> objectionTo(const NodeName &lock);

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;
};

// zk-herd-mutex: the queue lock as it should not be done, every waiter watches the whole queue.
class HerdMutex : public SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;
};

// zk-shared: the read/write lock, each waiter watches one node.
class SharedLock : public SessionLock {
public:
    SharedLock(zk::Session &session, ZPath path, Random random, Access access)
        : SessionLock(session, std::move(path), std::move(random)), m_access(access)
    {
    }

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;

    Access m_access;
};

// zk-shared-herd: the read/write lock as the textbook gives it first, every waiter watches the whole queue.
class SharedHerd : public SharedLock {
public:
    using SharedLock::SharedLock;

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
};

} // namespace lockscope::recipes
