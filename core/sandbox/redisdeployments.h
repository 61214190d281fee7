// SPDX-License-Identifier: Apache-2.0
// Several private Redis servers that are one: a cluster, a primary with sentinels.
#pragma once

#include "core/sandbox/kit.h"

namespace lockscope::sandbox {

struct RedisClusterOptions {
    int primaries = 3;
    std::chrono::milliseconds nodeTimeout{2000};
};
// Its primaries, then a replica of each in the same order. They answer once all run: startAll().
[[nodiscard]] Result<std::vector<std::unique_ptr<Server>>> makeRedisCluster(RedisClusterOptions options = {});

// What the sentinels of a sandbox call the Redis they watch over.
inline constexpr char sandboxService[] = "mymaster";
struct RedisSentinelOptions {
    int sentinels = 3;
    std::chrono::milliseconds downAfter{3000};
};
// The primary, its replica, then the sentinels.
[[nodiscard]] Result<std::vector<std::unique_ptr<Server>>> makeRedisSentinels(RedisSentinelOptions options = {});

[[nodiscard]] std::vector<SandboxVariant> redisVariants();

} // namespace lockscope::sandbox
