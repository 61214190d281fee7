// SPDX-License-Identifier: Apache-2.0
// zk-flat-mutex: several locks in one directory, each a queue of the nodes that carry its name.
#pragma once

#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::recipes {

class FlatMutex : public SessionLock {
public:
    using SessionLock::SessionLock;

    // Why a lock cannot have this name, if it cannot.
    [[nodiscard]] static std::optional<Error> objectionTo(const NodeName &lock);

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;
};

} // namespace lockscope::recipes
