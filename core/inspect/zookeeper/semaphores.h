// SPDX-License-Identifier: Apache-2.0
// Semaphores that are more than one directory: Curator's (locks and leases), kazoo's (pool and guard).
#pragma once

#include "core/inspect/zookeeper/contender.h"

namespace lockscope::inspect {

[[nodiscard]] std::optional<LockSnapshot> curatorSemaphore(const DirectoryView &directory,
                                                           const RecogniseContext &context);
[[nodiscard]] std::optional<LockSnapshot> kazooSemaphore(const DirectoryView &directory,
                                                         const RecogniseContext &context);
// "<name>-__lock__", beside the pool.
[[nodiscard]] QByteArray kazooGuardName(const ZPath &pool);

} // namespace lockscope::inspect
