// SPDX-License-Identifier: Apache-2.0
// zk-ephemeral: the simple lock, one plain ephemeral node.
#pragma once

#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::recipes {

class EphemeralLock : public SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;
};

} // namespace lockscope::recipes
