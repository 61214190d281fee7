// SPDX-License-Identifier: Apache-2.0
// The simulated Redis as the servers of a run: one, or five for redlock.
#pragma once

#include "core/contention/servers.h"

namespace lockscope::contention {

[[nodiscard]] std::unique_ptr<Servers> makeRedisServers(const ServersContext &context);

} // namespace lockscope::contention
