// SPDX-License-Identifier: Apache-2.0
// Several private Redis servers that are one: a cluster, a primary with sentinels.
#pragma once

#include "core/sandbox/kit.h"

namespace lockscope::sandbox {

struct RedisClusterOptions {
    int primaries = 3;
    std::chrono::milliseconds nodeTimeout{2000};
    const Certificates *tls = nullptr; // as in server.h; the nodes among themselves, too
};
// Its primaries, then a replica of each in the same order. They answer once all run: startAll().
[[nodiscard]] Result<std::vector<std::unique_ptr<Server>>> makeRedisCluster(RedisClusterOptions options = {});

// What the sentinels of a sandbox call the Redis they watch over.
inline constexpr char sandboxService[] = "mymaster";
struct RedisSentinelOptions {
    int sentinels = 3;
    std::chrono::milliseconds downAfter{3000};
    const Certificates *tls = nullptr; // as above
};
// The primary, its replica, then the sentinels.
[[nodiscard]] Result<std::vector<std::unique_ptr<Server>>> makeRedisSentinels(RedisSentinelOptions options = {});

[[nodiscard]] std::vector<SandboxVariant> redisVariants();

} // namespace lockscope::sandbox
