// SPDX-License-Identifier: Apache-2.0
// Locks that are one node: plain ephemerals, leader nodes of known systems, nodes that say until when
// they are locked.
#pragma once

#include "core/inspect/zookeeper/queue.h"

namespace lockscope::inspect {

[[nodiscard]] std::vector<LockSnapshot> plainLocks(const DirectoryView &directory, const RecogniseContext &context);
[[nodiscard]] std::vector<LockSnapshot> leaseLocks(const DirectoryView &directory, const RecogniseContext &context);
// Leader nodes of HDFS, YARN, Kafka and HBase, by name and place alone.
[[nodiscard]] bool isLeaderNode(const ZPath &directory, const NodeName &name);

// Semaphores that are more than one directory: Curator's (locks and leases), kazoo's (pool and guard).
[[nodiscard]] std::optional<LockSnapshot> curatorSemaphore(const DirectoryView &directory,
                                                           const RecogniseContext &context);
[[nodiscard]] std::optional<LockSnapshot> kazooSemaphore(const DirectoryView &directory,
                                                         const RecogniseContext &context);
// "<name>-__lock__", beside the pool.
[[nodiscard]] QByteArray kazooGuardName(const ZPath &pool);

} // namespace lockscope::inspect
