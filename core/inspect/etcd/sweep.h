// SPDX-License-Identifier: Apache-2.0
// Everything below a prefix that is a lock, read in pages at one revision. Without values: those of the locks' own
// keys are read afterwards, a hundred in a request.
#pragma once

#include "core/async/task.h"
#include "core/inspect/etcd/recognise.h"

#include <functional>
#include <set>

namespace lockscope::inspect {

struct EtcdSwept {
    etcd::Revision revision = 0;
    qint64 keys = 0; // looked at
    EtcdQueues locks;
    std::map<QByteArray, EtcdForeign> foreign; // by lock
    std::set<QByteArray> leased;               // keys with a lease that are no claims
};
// No more of those are kept.
inline constexpr std::size_t mostLeasedKeys = 100'000;

// The oldest keys below the lock's prefix, whatever they are.
[[nodiscard]] etcd::RangeRequest oldestOf(const QByteArray &lock, qint64 limit = 1);
// As many as tell of each of its claims whom it waits for.
[[nodiscard]] etcd::RangeRequest keysAround(const QByteArray &lock, const EtcdQueue &queue);
// `looked`: how many keys so far. All outlive the task.
[[nodiscard]] Task<Result<EtcdSwept>> sweepEtcd(etcd::Client *client, QByteArray prefix,
                                                std::function<void(qint64)> looked, Deadline deadline);
// Of a lock that alone was read: the waiters of locks above it that wait for its holder. Names of claims begin with
// a digit or a letter up to f; of a folder with too many of such names not all are seen.
[[nodiscard]] Task<void> addWaitersAbove(LockSnapshot *snapshot, etcd::Client *client, Deadline deadline);

} // namespace lockscope::inspect
