// SPDX-License-Identifier: Apache-2.0
// zk-shared-herd: the read/write lock as the textbook gives it first, every waiter watches the whole queue.
#pragma once

#include "core/rules/turn.h"
#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::recipes {

class SharedHerd : public SessionLock {
public:
    SharedHerd(zk::Session &session, ZPath path, Random random, Access access)
        : SessionLock(session, std::move(path), std::move(random)), m_access(access)
    {
    }

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;

private:
    Access m_access;
};

} // namespace lockscope::recipes
