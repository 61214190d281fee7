// The queue lock with one step left out.
#pragma once

#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::simulate {

// Seed 003's: "if the event fires, the lock is ours".
class ForgetsToLook : public recipes::SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<recipes::Place>> enter(Deadline deadline) override;
};

// zk-eager-mutex without the watch on its own node.
class BlindShortcut : public recipes::SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<recipes::Place>> enter(Deadline deadline) override;
};

} // namespace lockscope::simulate
