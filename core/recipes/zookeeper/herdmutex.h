// SPDX-License-Identifier: Apache-2.0
// zk-herd-mutex: the queue lock as it should not be done, every waiter watches the whole queue.
#pragma once

#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::recipes {

class HerdMutex : public SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;
};

} // namespace lockscope::recipes
