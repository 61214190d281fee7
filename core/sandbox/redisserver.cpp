// SPDX-License-Identifier: Apache-2.0
// A private redis-server: nothing on disk, everything it must not tell the process list in a file.
#include "core/base/connectionuri.h"
#include "core/recipes/make.h"
#include "core/redis/deployments.h"
#include "core/rules/redissonkeys.h"
#include "core/sandbox/certificates.h"
#include "core/sandbox/demostage.h"
#include "core/sandbox/kit.h"
#include "core/sandbox/redisdeployments.h"
#include "core/sandbox/serverprocess.h"

#include <QFile>
#include <QStandardPaths>

namespace lockscope::sandbox {

// The Redis scenes of the demo: tokens as redis-py writes them, and Redisson's locks taken by our own
// recipes, each client on a connection of its own.
class DemoRedis {
public:
    DemoRedis(DemoStage &stage, const ConnectionSpec &server);

private:
    [[nodiscard]] std::unique_ptr<redis::Connection> openConnection();
    [[nodiscard]] Deadline soon() { return Deadline::after(m_stage.loop(), 10s); }

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

DemoRedis::DemoRedis(DemoStage &stage, const ConnectionSpec &server)
    : m_stage(stage), m_server(server), m_stagehand(openConnection()), m_scope(stage.loop())
{
    m_scope.launch(playTokenForEver(RedisKey("lock:invoice-export")));
    m_scope.launch(playRenewedToken(RedisKey("lock:session-cleanup")));
    m_scope.launch(playRedisson(RedisKey("orders:checkout"), false, 3));
    m_scope.launch(playRedisson(RedisKey("payments:payout"), true, 4));
}

std::unique_ptr<redis::Connection> DemoRedis::openConnection()
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
            (void)co_await renewing;
        }
        const auto release = redis::loadScript("compare-and-delete");
        auto releasing = m_stagehand->script(release, {key.bytes()}, {token}, soon());
        (void)co_await releasing;
        auto pause = m_stage.pauseOfAbout(1s);
        co_await pause;
    }
}

Task<void> DemoRedis::playRedisson(RedisKey lock, bool isFair, int clients)
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

Task<void> DemoRedis::contend(RedisKey key, bool isFair)
{
    const auto connection = openConnection();
    auto made =
        recipes::makeLock(isFair ? "redisson-fair-lock" : "redisson-lock", *connection, key, {}, m_stage.newRandom());
    if (!made)
        qFatal("%s", qPrintable(made.error().message)); // a broken build
    const auto lock = std::move(*made);
    const auto never = Deadline::never();
    for (;;) {
        const auto grant = co_await lock->acquire(never);
        auto work = m_stage.pauseOfAbout(isFair ? 9s : 12s);
        if (grant)
            co_await work;
        // It may have been taken away by force: then there is nothing to release.
        const auto released = co_await lock->release(never);
        auto rest = m_stage.pauseOfAbout(released ? 2s : 1s);
        co_await rest;
    }
}

Task<void> DemoRedis::untilConnected(redis::Connection *connection)
{
    const Completion<bool> done(m_stage.loop());
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

namespace {

// Redis reads "\xHH" inside double quotes, so every byte can be said.
QByteArray quoted(const QByteArray &bytes)
{
    QByteArray out("\"");
    for (const char byte : bytes)
        out += "\\x" + QByteArray(1, byte).toHex();
    return out + '"';
}

class RedisKind : public ServerKind {
public:
    RedisKind(QByteArray program, RedisOptions options) : m_program(std::move(program)), m_options(std::move(options))
    {
    }

    QString name() const override { return u"Redis"_s; }

    Result<void> prepare(const TemporaryFolder &folder, quint16 port) override
    {
        QByteArray text = "bind 127.0.0.1\n" + redisPortLines(port, m_options.tls)
                          + "protected-mode yes\nsave \"\"\nappendonly no\ndaemonize no\n";
        text += "dir " + quoted(QFile::encodeName(folder.path())) + '\n';
        if (!m_options.notifyKeyspaceEvents.isEmpty())
            text += "notify-keyspace-events " + quoted(m_options.notifyKeyspaceEvents) + '\n';
        if (!m_options.password.isEmpty())
            text += "requirepass " + quoted(m_options.password) + '\n';
        return folder.write(u"redis.conf"_s, text);
    }

    QByteArrayList arguments(const TemporaryFolder &folder) const override
    {
        QByteArrayList arguments{m_program, QFile::encodeName(folder.file(u"redis.conf"_s))};
        for (const auto &more : m_options.moreArguments)
            arguments << more;
        return arguments;
    }

    QByteArray question() const override { return m_options.tls ? tlsQuestion() : QByteArray("PING\r\n"); }
    // Refusing us for the missing password is an answer too; "-LOADING" is not yet.
    bool isReadyAnswer(const QByteArray &answer) const override
    {
        if (m_options.tls)
            return isTlsAnswer(answer);
        return answer.startsWith("+PONG") || answer.startsWith("-NOAUTH") || answer.startsWith("-NOPERM");
    }

private:
    QByteArray m_program;
    RedisOptions m_options;
};

} // namespace

QByteArray redisPortLines(quint16 port, const Certificates *tls)
{
    const auto number = QByteArray::number(port);
    if (!tls)
        return "port " + number + '\n';
    const auto file = [](const QString &name) { return quoted(QFile::encodeName(name)) + '\n'; };
    return "port 0\ntls-port " + number + "\ntls-auth-clients yes\ntls-ca-cert-file " + file(tls->authority())
           + "tls-cert-file " + file(tls->server()) + "tls-key-file " + file(tls->serverKey());
}

Result<std::unique_ptr<Server>> makeRedis(RedisOptions options)
{
    const QString program = QStandardPaths::findExecutable(u"redis-server"_s);
    if (program.isEmpty())
        return Error{ErrorCode::Unsupported,
                     u"no private Redis: redis-server is not installed; Debian's package is redis-server"_s, false};
    return ServerProcess::of(std::make_unique<RedisKind>(QFile::encodeName(program), std::move(options)));
}

SandboxKit sandboxOfRedis()
{
    auto kit = kitOfSingle<DemoRedis, makeRedis, RedisOptions>(u"N Redis servers"_s);
    kit.most = 64;
    kit.usual = 1;
    kit.variants = redisVariants();
    return kit;
}

} // namespace lockscope::sandbox
