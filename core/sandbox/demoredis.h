// The Redis scenes of the demo: tokens as redis-py writes them, and Redisson's locks with clients that
// wait as Redisson's do, each on connections of its own.
#pragma once

#include "core/base/connectionuri.h"
#include "core/redis/client.h"
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

    // A Redisson client: what it is called, and which keys its lock is made of.
    struct Redisson {
        RedisKey lock;
        bool isFair = false;
        QByteArray holder;  // "<client>:<thread>"
        QByteArray channel; // where it is told of a release
        std::chrono::milliseconds hold{};
    };
    Task<void> playRedisson(RedisKey lock, bool isFair, int clients);
    Task<void> contend(Redisson client);
    Task<void> acquire(redis::Connection *connection, Redisson client);
    Task<void> holdOnce(redis::Connection *connection, Redisson client);
    [[nodiscard]] Reply<redis::Value> tryAcquire(redis::Connection &connection, const Redisson &client);
    [[nodiscard]] Reply<redis::Value> release(redis::Connection &connection, const Redisson &client);

    Task<void> untilConnected(redis::Connection *connection); // or told why not
    // Until the command's integer answer is that much.
    Task<bool> untilAtLeast(redis::Command command, qint64 count);

    DemoStage &m_stage;
    HostPort m_server;
    std::unique_ptr<redis::Connection> m_stagehand;
    Scope m_scope;
};

} // namespace lockscope::sandbox
