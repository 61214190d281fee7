// SPDX-License-Identifier: Apache-2.0
// zk-eager-mutex: zk-mutex's wire layout, but mostly the event alone hands the lock over.
#pragma once

#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::recipes {

class EagerMutex : public SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;
};

} // namespace lockscope::recipes
