// SPDX-License-Identifier: Apache-2.0
// curator-semaphore: Apache Curator's InterProcessSemaphoreV2, so many may hold it at once;
// curator-semaphore-mutex: its InterProcessSemaphoreMutex, the same with one permit.
#pragma once

#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::recipes {

class CuratorSemaphore : public SessionLock {
public:
    // The limit is stored nowhere: all clients have to agree on it.
    CuratorSemaphore(zk::Session &session, ZPath path, int limit, Random random);

    // At least 1. A higher one lets in who waits here, if there is room; a lower one counts from the
    // next acquire on.
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
