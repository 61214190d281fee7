// SPDX-License-Identifier: Apache-2.0
// A ZooKeeper session of the simulated world: the whole port, over a link to the ensemble, on a process that can
// be paused and killed. It behaves as the session on libzookeeper (core/zookeeper/client.h) does.
#pragma once

#include "core/simservers/zookeeper/ensemble.h"

namespace lockscope::sim::zookeeper {

struct SessionOptions {
    std::chrono::milliseconds timeout{10'000};
    QByteArray user; // digest auth when not empty
    QByteArray password;
    qsizetype watchBudgetBytes = 512 * 1024;
    std::optional<int> member; // to begin with; none: drawn
    // Between two attempts to connect, drawn from this range.
    Duration retryLeast = std::chrono::milliseconds(20);
    Duration retryMost = std::chrono::milliseconds(200);
    Random random{1};
};

// Returns at once, in state Connecting. The process and the ensemble outlive the session; a session on a process
// that was killed may be destroyed afterwards.
[[nodiscard]] std::unique_ptr<zk::Session> openSession(Process &process, Ensemble &ensemble, SessionOptions options);

} // namespace lockscope::sim::zookeeper
