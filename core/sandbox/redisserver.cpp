// SPDX-License-Identifier: Apache-2.0
// What the sandbox has of Redis, and the scenes that the demo plays there.
#include "core/base/connectionuri.h"
#include "core/recipes/make.h"
#include "core/redis/deployments.h"
#include "core/rules/keysignals.h"
#include "core/sandbox/demo.h"
#include "core/sandbox/kit.h"
#include "core/sandbox/redisdeployments.h"

namespace lockscope::sandbox {

namespace {

// A version 1 UUID in hex, as redis-py's locks have: it says when it was made.
QByteArray timeToken(DemoStage &stage)
{
    using Ticks = std::chrono::duration<qint64, std::ratio<1, 10'000'000>>;
    constexpr qint64 ticksFrom1582To1970 = 0x01b21dd213814000;
    const auto sinceEpoch = stage.loop().wallNow().time_since_epoch();
    const auto ticks =
        static_cast<quint64>(std::chrono::duration_cast<Ticks>(sinceEpoch).count() + ticksFrom1582To1970);
    const auto hex = QByteArray::number(ticks, 16).rightJustified(15, '0');
    return hex.right(8) + hex.mid(3, 4) + '1' + hex.left(3) + 'a' + stage.random().bytes(8).toHex().left(15);
}

} // namespace

// The Redis scenes of the demo: tokens as redis-py writes them, and Redisson's locks taken by our own
// recipes, each client on a connection of its own.
class DemoRedis {
public:
    DemoRedis(DemoStage &stage, const ConnectionSpec &server)
        : m_stage(stage), m_server(server), m_stagehand(openConnection()), m_scope(stage.loop())
    {
        m_scope.launch(playTokenForEver(RedisKey("lock:invoice-export")));
        m_scope.launch(playRenewedToken(RedisKey("lock:session-cleanup")));
        m_scope.launch(playRedisson(RedisKey("orders:checkout"), false, 3));
        m_scope.launch(playRedisson(RedisKey("payments:payout"), true, 4));
    }

private:
    [[nodiscard]] std::unique_ptr<redis::Connection> openConnection()
    {
        redis::ConnectionOptions options;
        options.host = m_server.hosts.front();
        options.tls = m_server.transport.tls;
        if (m_server.scheme == Scheme::RedisCluster)
            return redis::openCluster(m_stage.loop(), m_server.hosts, options);
        if (m_server.scheme == Scheme::RedisSentinel)
            return redis::openBySentinels(m_stage.loop(), m_server.hosts, m_server.service.toUtf8(), options);
        return redis::openConnection(m_stage.loop(), options);
    }
    [[nodiscard]] Deadline soon() { return Deadline::after(m_stage.loop(), 10s); }

    Task<void> playTokenForEver(RedisKey key)
    {
        m_stage.sceneBegins();
        co_await untilConnected(&m_stage, m_stagehand.get());
        bool isUp = false;
        for (;;) {
            const redis::Command set{"SET", key.bytes(), timeToken(m_stage), "NX"};
            auto done = co_await m_stagehand->command(set, soon());
            if (done && !std::exchange(isUp, true))
                m_stage.sceneIsUp();
            co_await m_stage.sleep(done ? 15s : 1s);
        }
    }
    Task<void> playRenewedToken(RedisKey key)
    {
        m_stage.sceneBegins();
        co_await untilConnected(&m_stage, m_stagehand.get());
        bool isUp = false;
        for (;;) {
            const auto token = timeToken(m_stage);
            const redis::Command set{"SET", key.bytes(), token, "NX", "PX", "10000"};
            auto done = co_await m_stagehand->command(set, soon());
            if (done && !std::exchange(isUp, true))
                m_stage.sceneIsUp();
            const int renewals = done && !done->isNil() ? 5 : 0;
            for (int i = 0; i < renewals; ++i) {
                co_await m_stage.sleep(4s);
                const redis::Command renew{"PEXPIRE", key.bytes(), "10000"};
                (void)co_await m_stagehand->command(renew, soon());
            }
            const auto release = redis::loadScript("compare-and-delete");
            auto releasing = m_stagehand->script(release, {key.bytes()}, {token}, soon());
            (void)co_await releasing;
            co_await m_stage.rest(1s);
        }
    }

    Task<void> playRedisson(RedisKey lock, bool isFair, int clients)
    {
        m_stage.sceneBegins();
        const redis::Command exists{"EXISTS", lock.bytes()};
        const redis::Command queued{"LLEN", redis::RedissonKeys(lock.bytes()).fairQueue()};
        for (int i = 0; i < clients; ++i) {
            m_scope.launch(contend(lock, isFair));
            // In the order of the queue, and the first one holds it.
            co_await untilAtLeast(exists, 1);
            co_await untilAtLeast(queued, isFair ? i : 0);
        }
        m_stage.sceneIsUp();
    }
    // One client, on a connection of its own: takes the lock, works, lets go, again and again.
    Task<void> contend(RedisKey key, bool isFair)
    {
        const auto connection = openConnection();
        auto made = recipes::makeLock(isFair ? "redisson-fair-lock" : "redisson-lock", *connection, key, {},
                                      m_stage.newRandom());
        if (!made)
            qFatal("%s", qPrintable(made.error().message)); // a broken build
        const auto lock = std::move(*made);
        const auto never = Deadline::never();
        for (;;) {
            const auto grant = co_await lock->acquire(never);
            if (grant)
                co_await m_stage.rest(isFair ? 9s : 12s);
            // It may have been taken away by force: then there is nothing to release.
            const auto released = co_await lock->release(never);
            co_await m_stage.rest(released ? 2s : 1s);
        }
    }

    // Until the command's integer answer is that much.
    Task<bool> untilAtLeast(redis::Command command, qint64 count)
    {
        for (;;) {
            auto answer = co_await m_stagehand->command(command, soon());
            if (answer && answer->integer >= count)
                co_return true;
            co_await m_stage.sleep(20ms);
        }
    }

    DemoStage &m_stage;
    ConnectionSpec m_server;
    std::unique_ptr<redis::Connection> m_stagehand;
    Scope m_scope;
};

SandboxKit sandboxOfRedis()
{
    auto kit = kitOfSingle<DemoRedis, makeRedis, RedisOptions>(u"N Redis servers"_s);
    kit.most = 64;
    kit.usual = 1;
    kit.variants = redisVariants();
    return kit;
}

} // namespace lockscope::sandbox
