// SPDX-License-Identifier: Apache-2.0
// The Redis scenes of the demo: tokens as redis-py writes them, and Redisson's locks taken by our own
// recipes, each client on a connection of its own.
#pragma once

#include "core/base/connectionuri.h"
#include "core/redis/deployments.h"
#include "core/sandbox/demostage.h"

namespace lockscope::sandbox {

class DemoRedis {
public:
    DemoRedis(DemoStage &stage, const ConnectionSpec &server);

private:
    [[nodiscard]] std::unique_ptr<redis::Connection> openConnection();
    [[nodiscard]] Deadline soon();

    Task<void> playTokenForEver(RedisKey key);
    Task<void> playRenewedToken(RedisKey key);

    Task<void> playRedisson(RedisKey lock, bool isFair, int clients);
    // One client, on a connection of its own: takes the lock, works, lets go, again and again.
    Task<void> contend(RedisKey key, bool isFair);

    Task<void> untilConnected(redis::Connection *connection); // or told why not
    // Until the command's integer answer is that much.
    Task<bool> untilAtLeast(redis::Command command, qint64 count);

    DemoStage &m_stage;
    ConnectionSpec m_server;
    std::unique_ptr<redis::Connection> m_stagehand;
    Scope m_scope;
};

} // namespace lockscope::sandbox
