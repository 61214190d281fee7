// SPDX-License-Identifier: Apache-2.0
// The simulated ZooKeeper as the servers of a run: one server, or three where a follower is to lag.
#pragma once

#include "core/contention/servers.h"

namespace lockscope::contention {

[[nodiscard]] std::unique_ptr<Servers> makeZooKeeperServers(const ServersContext &context);

} // namespace lockscope::contention
