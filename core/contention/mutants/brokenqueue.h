// SPDX-License-Identifier: Apache-2.0
// The queue lock with one step left out.
#pragma once

#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::contention {

// As many a tutorial ends: "when the event comes, the lock is ours", without looking again.
class ForgetsToLook : public recipes::SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<recipes::QueueEntry>> enter(Deadline deadline) override;
};

// latch.await(timeout) returns, and nobody asks whether it was the watch or the time.
class TimeoutAsGrant : public recipes::SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<recipes::QueueEntry>> enter(Deadline deadline) override;
};

// zk-eager-mutex without the watch on its own node.
class BlindShortcut : public recipes::SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<recipes::QueueEntry>> enter(Deadline deadline) override;
};

} // namespace lockscope::contention
