// SPDX-License-Identifier: Apache-2.0
// Snapshots to show.
#pragma once

#include "core/workspace/backend.h"

namespace lockscope::testing {

// Added, Changed or Removed of one snapshot.
[[nodiscard]] inspect::SnapshotChange change(inspect::ChangeKind kind, inspect::LockSnapshot lock);

// A Curator mutex with one holder and `waiters` behind it, each watching the one before; ages count
// back from `now`.
[[nodiscard]] inspect::LockSnapshot queueLock(const QByteArray &connection, const QByteArray &path, int waiters,
                                              inspect::ServerTime now);
// A SET NX lock; `ttl` empty: it never expires (with the finding no-ttl).
[[nodiscard]] inspect::LockSnapshot redisLock(const QByteArray &connection, const QByteArray &key,
                                              std::optional<std::chrono::milliseconds> ttl, inspect::ServerTime now);

[[nodiscard]] ConnectionStatus connectedStatus(const QByteArray &name, Scheme scheme, bool production,
                                               std::chrono::system_clock::time_point asOf);

// As a LiveBackend tells it: each lock once, by its newest change.
[[nodiscard]] Batch newest(const Batch &batch);

[[nodiscard]] inspect::ServerTime serverTime(std::chrono::system_clock::time_point time);

} // namespace lockscope::testing
