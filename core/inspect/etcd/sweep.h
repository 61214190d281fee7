// SPDX-License-Identifier: Apache-2.0
// Everything below a prefix that is a lock, read in pages at one revision. Without values: those of the locks' own
// keys are read afterwards, a hundred in a request.
#pragma once

#include "core/async/task.h"
#include "core/inspect/etcd/recognise.h"

#include <functional>

namespace lockscope::inspect {

struct EtcdSwept {
    etcd::Revision revision = 0;
    qint64 keys = 0; // looked at
    std::map<QByteArray, EtcdQueue> locks;
    std::map<QByteArray, etcd::KeyValue> obstacles; // by lock
};

// The oldest key below the lock's prefix, whatever it is.
[[nodiscard]] etcd::RangeRequest oldestOf(const QByteArray &lock);
// `looked`: how many keys so far. All outlive the task.
[[nodiscard]] Task<Result<EtcdSwept>> sweepEtcd(etcd::Client *client, QByteArray prefix,
                                                std::function<void(qint64)> looked, Deadline deadline);

} // namespace lockscope::inspect
