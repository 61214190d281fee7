// SPDX-License-Identifier: Apache-2.0
// A client program's connection to a simulated Redis: the real client, over a link of the simulated world.
#pragma once

#include "core/world/redis/server.h"

namespace lockscope::world {

// Returns at once, in state Connecting. All of them must outlive it; so must what is queued in the world.
[[nodiscard]] std::unique_ptr<redis::Connection> openRedis(Process &process, RedisServer &server);

} // namespace lockscope::world
