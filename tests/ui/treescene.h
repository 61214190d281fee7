// SPDX-License-Identifier: Apache-2.0
// A believable afternoon for the pages of znodes, keys, sessions and the log.
#pragma once

#include "tests/support/fakebackend.h"

namespace lockscope::testing {

// Scripts the backend's listings and values; keeps nothing.
void playTrees(FakeBackend &backend);
// Sessions and log entries, and the statuses of one ZooKeeper (orders-zk) and one Redis (cache-redis).
[[nodiscard]] Batch treeBatch(std::chrono::system_clock::time_point now);
[[nodiscard]] ConnectionStatus statusOf(const QByteArray &name, Scheme scheme,
                                        ConnectionStatus::State state = ConnectionStatus::State::Connected);

} // namespace lockscope::testing
