#include "core/sandbox/demoredis.h"

#include <array>

using namespace std::chrono_literals;

namespace lockscope::sandbox {

namespace {

constexpr auto redissonLease = 30s; // its watchdog's default, renewed every third of it
constexpr auto fairWaiterIsGiven = 300s;

QByteArray milliseconds(std::chrono::milliseconds span)
{
    return QByteArray::number(static_cast<qint64>(span.count()));
}

// A version 1 UUID in hex, as redis-py's locks have: it says when it was made.
QByteArray timeToken(DemoStage &stage)
{
    using Ticks = std::chrono::duration<qint64, std::ratio<1, 10'000'000>>;
    constexpr qint64 ticksFrom1582To1970 = 0x01b21dd213814000;
    const auto sinceEpoch = stage.loop().wallNow().time_since_epoch();
    const auto ticks = static_cast<quint64>(std::chrono::duration_cast<Ticks>(sinceEpoch).count() + ticksFrom1582To1970);
    const auto hex = QByteArray::number(ticks, 16).rightJustified(15, '0');
    return hex.right(8) + hex.mid(3, 4) + '1' + hex.left(3) + 'a' + stage.random().bytes(8).toHex().left(15);
}

QByteArray channelOf(const RedisKey &lock)
{
    return "redisson_lock__channel:{" + lock.bytes() + '}';
}
QByteArray queueOf(const RedisKey &lock)
{
    return "redisson_lock_queue:{" + lock.bytes() + '}';
}
QByteArray timeoutsOf(const RedisKey &lock)
{
    return "redisson_lock_timeout:{" + lock.bytes() + '}';
}

} // namespace

DemoRedis::DemoRedis(DemoStage &stage, const ConnectionSpec &server)
    : m_stage(stage), m_server(server.hosts.front()), m_stagehand(openConnection()), m_scope(stage.loop())
{
    m_scope.launch(playTokenForEver(RedisKey("lock:invoice-export")));
    m_scope.launch(playRenewedToken(RedisKey("lock:session-cleanup")));
    m_scope.launch(playRedisson(RedisKey("orders:checkout"), false, 3));
    m_scope.launch(playRedisson(RedisKey("payments:payout"), true, 4));
}

std::unique_ptr<redis::Connection> DemoRedis::openConnection()
{
    redis::ConnectionOptions options;
    options.host = m_server;
    return redis::openConnection(m_stage.loop(), options);
}

Deadline DemoRedis::soon()
{
    return Deadline::after(m_stage.loop(), 10s);
}

Task<void> DemoRedis::playTokenForEver(RedisKey key)
{
    m_stage.sceneBegins();
    co_await untilConnected(m_stagehand.get());
    bool isUp = false;
    for (;;) {
        const redis::Command set{"SET", key.bytes(), timeToken(m_stage), "NX"};
        auto setting = m_stagehand->command(set, soon());
        auto done = co_await setting;
        if (done && !isUp) {
            isUp = true;
            m_stage.sceneIsUp();
        }
        auto pause = sleepFor(m_stage.loop(), done ? 15s : 1s);
        co_await pause;
    }
}

Task<void> DemoRedis::playRenewedToken(RedisKey key)
{
    m_stage.sceneBegins();
    co_await untilConnected(m_stagehand.get());
    bool isUp = false;
    for (;;) {
        const auto token = timeToken(m_stage);
        const redis::Command set{"SET", key.bytes(), token, "NX", "PX", "10000"};
        auto setting = m_stagehand->command(set, soon());
        auto done = co_await setting;
        if (done && !isUp) {
            isUp = true;
            m_stage.sceneIsUp();
        }
        const int renewals = done && !done->isNil() ? 5 : 0;
        for (int i = 0; i < renewals; ++i) {
            auto work = sleepFor(m_stage.loop(), 4s);
            co_await work;
            const redis::Command renew{"PEXPIRE", key.bytes(), "10000"};
            auto renewing = m_stagehand->command(renew, soon());
            co_await renewing;
        }
        const auto release = redis::loadScript("compare-and-delete");
        auto releasing = m_stagehand->script(release, {key.bytes()}, {token}, soon());
        co_await releasing;
        auto pause = m_stage.pauseOfAbout(1s);
        co_await pause;
    }
}

Task<void> DemoRedis::playRedisson(RedisKey lock, bool isFair, int clients)
{
    m_stage.sceneBegins();
    for (int i = 0; i < clients; ++i) {
        Redisson client;
        client.lock = lock;
        client.isFair = isFair;
        client.holder = randomUuid(m_stage.random()) + ':' + QByteArray::number(40 + i);
        client.channel = isFair ? channelOf(lock) + ':' + client.holder : channelOf(lock);
        client.hold = isFair ? 9s : 12s;
        m_scope.launch(contend(client));
        // In the order of the queue, and the first one holds it.
        const redis::Command exists{"EXISTS", lock.bytes()};
        co_await untilAtLeast(exists, 1);
        const redis::Command queued{"LLEN", queueOf(lock)};
        co_await untilAtLeast(queued, isFair ? i : 0);
    }
    m_stage.sceneIsUp();
}

Task<void> DemoRedis::contend(Redisson client)
{
    const auto connection = openConnection();
    co_await untilConnected(connection.get());
    for (;;) {
        co_await acquire(connection.get(), client);
        co_await holdOnce(connection.get(), client);
        auto rest = m_stage.pauseOfAbout(2s);
        co_await rest;
    }
}

Task<void> DemoRedis::acquire(redis::Connection *connection, Redisson client)
{
    redis::Subscription subscription;
    std::optional<OneShot<bool>> told;
    bool hasSubscribed = false;
    for (;;) {
        // Made before asking, so that no release falls in between.
        OneShot<bool> wake(m_stage.loop());
        told = wake;
        auto trying = tryAcquire(*connection, client);
        auto tried = co_await trying;
        if (tried && tried->isNil())
            co_return;
        if (!hasSubscribed) {
            // Only who did not get it at once subscribes; then it tries once more.
            hasSubscribed = true;
            subscription = connection->subscribe(client.channel, [&told](const redis::Message &) { told->complete(true); });
            auto confirming = connection->subscriberId(soon());
            co_await confirming;
            continue;
        }
        const auto left = std::chrono::milliseconds(tried ? tried->integer : 1000);
        wake.completeAt(Deadline::after(m_stage.loop(), std::max<std::chrono::milliseconds>(left, 100ms)), false);
        co_await wake;
    }
}

Reply<redis::Value> DemoRedis::tryAcquire(redis::Connection &connection, const Redisson &client)
{
    if (!client.isFair)
        return connection.script(redis::loadScript("demo-redisson-acquire"), {client.lock.bytes()},
                                 {client.holder, milliseconds(redissonLease)}, soon());
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(m_stage.loop().wallNow().time_since_epoch());
    return connection.script(redis::loadScript("demo-redisson-fair-acquire"),
                             {client.lock.bytes(), queueOf(client.lock), timeoutsOf(client.lock)},
                             {client.holder, milliseconds(redissonLease), milliseconds(fairWaiterIsGiven),
                              milliseconds(now)},
                             soon());
}

Reply<redis::Value> DemoRedis::release(redis::Connection &connection, const Redisson &client)
{
    if (!client.isFair)
        return connection.script(redis::loadScript("demo-redisson-release"), {client.lock.bytes()},
                                 {client.holder, client.channel}, soon());
    return connection.script(redis::loadScript("demo-redisson-fair-release"),
                             {client.lock.bytes(), queueOf(client.lock)}, {client.holder, channelOf(client.lock)}, soon());
}

Task<void> DemoRedis::holdOnce(redis::Connection *connection, Redisson client)
{
    const auto renewal = redis::loadScript("demo-redisson-renew");
    const QByteArrayList keys{client.lock.bytes()};
    const QByteArrayList arguments{client.holder, milliseconds(redissonLease)};
    auto worked = m_stage.pauseOfAbout(client.hold);
    while (!worked.isComplete()) {
        OneShot<bool> next(m_stage.loop());
        next.completeAt(Deadline::after(m_stage.loop(), redissonLease / 3), true);
        worked.then([next](bool) { next.complete(false); });
        co_await next;
        auto renewing = connection->script(renewal, keys, arguments, soon());
        co_await renewing;
    }
    auto releasing = release(*connection, client);
    co_await releasing;
}

Task<void> DemoRedis::untilConnected(redis::Connection *connection)
{
    const OneShot<bool> done(m_stage.loop());
    const auto subscription = connection->onState([done](redis::ConnectionState) { done.complete(true); });
    if (connection->state() != redis::ConnectionState::Connecting)
        co_return;
    co_await done;
}

Task<bool> DemoRedis::untilAtLeast(redis::Command command, qint64 count)
{
    for (;;) {
        auto asking = m_stagehand->command(command, soon());
        auto answer = co_await asking;
        if (answer && answer->integer >= count)
            co_return true;
        auto pause = sleepFor(m_stage.loop(), 20ms);
        co_await pause;
    }
}

} // namespace lockscope::sandbox
