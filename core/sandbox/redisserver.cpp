// SPDX-License-Identifier: Apache-2.0
// What the sandbox has of Redis, and the scenes that the demo plays there.
#include "core/recipes/make.h"
#include "core/redis/client.h"
#include "core/rules/turn.h"
#include "core/sandbox/demo.h"

#include <QFile>

namespace lockscope::sandbox {

// A private redis-server, a private Redis Cluster, and a private primary with a replica and the sentinels over them:
// nothing on disk, everything they must not tell the process list in a file.
//
// Everybody is told of everybody before the first start, in the files in which they keep such knowledge themselves:
// nobody has to be introduced, and nothing asks a question that wants a terminal.

namespace {

// Redis reads "\xHH" inside double quotes, so every byte can be said.
QByteArray quoted(const QByteArray &bytes)
{
    QByteArray out("\"");
    for (const char byte : bytes)
        out += "\\x" + QByteArray(1, byte).toHex();
    return out + '"';
}

// Of redis.conf: in clear, or in TLS only and with clients that show a certificate.
QByteArray portLines(quint16 port, const Certificates *tls)
{
    const auto number = QByteArray::number(port);
    if (!tls)
        return "port " + number + '\n';
    const auto file = [](const QString &name) { return quoted(QFile::encodeName(name)) + '\n'; };
    return "port 0\ntls-port " + number + "\ntls-auth-clients yes\ntls-ca-cert-file " + file(tls->authority())
           + "tls-cert-file " + file(tls->server()) + "tls-key-file " + file(tls->serverKey());
}

// One server, alone or of several that know each other's ports.
struct RedisSeat {
    QString name;                           // "Redis"
    quint16 port = 0;                       // 0: alone, on any port
    QByteArray configuration{};             // but for folder and port
    std::pair<QString, QByteArray> notes{}; // a file of its own that is there before it starts; no name: none
    QByteArrayList more{};                  // of the command line
    QByteArray question{};
    bool (*isReady)(const QByteArray &answer);
    const Certificates *tls = nullptr;
};

class SeatedRedis : public ServerKind {
public:
    SeatedRedis(QByteArray program, RedisSeat seat) : m_program(std::move(program)), m_seat(std::move(seat)) {}

    QString name() const override { return m_seat.name; }
    quint16 fixedPort() const override { return m_seat.port; }
    bool isAskedApart() const { return m_seat.tls && m_seat.port != 0; }

    Result<void> prepare(const TemporaryFolder &folder, quint16 port) override
    {
        if (!m_seat.notes.first.isEmpty()) {
            auto written = folder.write(m_seat.notes.first, m_seat.notes.second);
            if (!written)
                return written;
        }
        auto text = "bind 127.0.0.1\n" + portLines(port, m_seat.tls) + "dir "
                    + quoted(QFile::encodeName(folder.path())) + "\ndaemonize no\n" + m_seat.configuration;
        // Whether it knows the others it is asked in a folder of ours alone: a handshake would not tell.
        if (isAskedApart())
            text += "tls-replication yes\nunixsocket " + questionFile.toLatin1() + "\nunixsocketperm 600\n";
        return folder.write(configurationFile, text);
    }
    QByteArrayList arguments(const TemporaryFolder &folder) const override
    {
        return QByteArrayList{m_program, QFile::encodeName(folder.file(configurationFile))} + m_seat.more;
    }
    QByteArray question() const override { return m_seat.question; }
    QString questionSocket() const override { return isAskedApart() ? questionFile : QString(); }
    bool isReadyAnswer(const QByteArray &answer) const override { return m_seat.isReady(answer); }

private:
    static inline const QString configurationFile = u"redis.conf"_s, questionFile = u"ask"_s;

    QByteArray m_program;
    RedisSeat m_seat;
};

Result<QByteArray> redisProgram()
{
    return findProgram(u"redis-server"_s, u"Redis"_s, u"redis-server"_s);
}

// What the servers of one deployment call each other.
QByteArray newRunId(Random &random)
{
    return random.bytes(20).toHex();
}

const QByteArray nothingOnDisk = "protected-mode yes\nsave \"\"\nappendonly no\n";
const QByteArray replicated =
    nothingOnDisk + "repl-diskless-sync yes\nrepl-diskless-sync-delay 0\nrepl-ping-replica-period 1\n";

bool saysReplicates(const QByteArray &answer)
{
    return answer.contains("role:master") || answer.contains("master_link_status:up");
}

struct ClusterSeat {
    QByteArray id;
    quint16 port;
    quint16 busPort;
    QByteArray of;    // a replica's primary
    QByteArray range; // a primary's
    int epoch;
};

// nodes.conf as this one would have written it.
QByteArray nodesFile(const std::vector<ClusterSeat> &seats, const ClusterSeat &self)
{
    QByteArray text;
    for (const auto &seat : seats) {
        const QByteArray role = seat.of.isEmpty() ? "master" : "slave";
        text += seat.id + " 127.0.0.1:" + QByteArray::number(seat.port) + '@' + QByteArray::number(seat.busPort) + ' '
                + (seat.id == self.id ? "myself," : "") + role + ' ' + (seat.of.isEmpty() ? "-" : seat.of) + " 0 0 "
                + QByteArray::number(seat.epoch) + " connected"
                + (seat.range.isEmpty() ? QByteArray() : ' ' + seat.range) + '\n';
    }
    return text + "vars currentEpoch " + QByteArray::number(qint64(seats.size())) + " lastVoteEpoch 0\n";
}

std::vector<ClusterSeat> seatsOfCluster(int primaries, Random &random)
{
    constexpr int allSlots = 16384;
    std::set<quint16> taken;
    std::vector<ClusterSeat> seats;
    for (int i = 0; i < primaries; ++i) {
        const auto from = QByteArray::number(allSlots * i / primaries);
        const auto to = QByteArray::number(allSlots * (i + 1) / primaries - 1);
        seats.push_back(
            {newRunId(random), freeLoopbackPort(taken), freeLoopbackPort(taken), {}, from + '-' + to, i + 1});
    }
    for (int i = 0; i < primaries; ++i) {
        const auto &primary = seats[static_cast<std::size_t>(i)];
        seats.push_back(
            {newRunId(random), freeLoopbackPort(taken), freeLoopbackPort(taken), primary.id, {}, primary.epoch});
    }
    return seats;
}

// Refusing us for the missing password is an answer too; "-LOADING" is not yet.
bool isRedisAnswer(const QByteArray &answer)
{
    return answer.startsWith("+PONG") || answer.startsWith("-NOAUTH") || answer.startsWith("-NOPERM");
}

} // namespace

Result<std::unique_ptr<Server>> makeRedis(RedisOptions options)
{
    TRY(const auto &program, redisProgram());
    RedisSeat redis{.name = u"Redis"_s,
                    .configuration = nothingOnDisk,
                    .more = options.moreArguments,
                    .question = options.tls ? tlsQuestion() : QByteArray("PING\r\n"),
                    .isReady = options.tls ? &isTlsAnswer : &isRedisAnswer,
                    .tls = options.tls};
    if (!options.notifyKeyspaceEvents.isEmpty())
        redis.configuration += "notify-keyspace-events " + quoted(options.notifyKeyspaceEvents) + '\n';
    if (!options.password.isEmpty())
        redis.configuration += "requirepass " + quoted(options.password) + '\n';
    return std::make_unique<Server>(std::make_unique<SeatedRedis>(program, std::move(redis)));
}

Result<std::vector<std::unique_ptr<Server>>> makeRedisCluster(RedisClusterOptions options)
{
    TRY(const auto &program, redisProgram());
    auto random = Random::fromSystem();
    const auto seats = seatsOfCluster(options.primaries, random);
    const auto common = replicated + "cluster-enabled yes\ncluster-config-file nodes.conf\ncluster-node-timeout "
                        + QByteArray::number(qint64(options.nodeTimeout.count()))
                        + "\ncluster-announce-ip 127.0.0.1\ncluster-replica-validity-factor 0\n"
                          "cluster-allow-replica-migration no\n";
    std::vector<std::unique_ptr<Server>> nodes;
    for (const auto &seat : seats) {
        RedisSeat redis;
        redis.name = u"node of a Redis Cluster"_s;
        redis.port = seat.port;
        redis.tls = options.tls;
        redis.configuration = common + "cluster-port " + QByteArray::number(seat.busPort) + '\n';
        if (options.tls)
            redis.configuration += "tls-cluster yes\n";
        redis.notes = {u"nodes.conf"_s, nodesFile(seats, seat)};
        redis.question = "CLUSTER INFO\r\nINFO replication\r\n";
        redis.isReady = [](const QByteArray &answer) {
            return answer.contains("cluster_state:ok") && saysReplicates(answer);
        };
        nodes.push_back(std::make_unique<Server>(std::make_unique<SeatedRedis>(program, std::move(redis))));
    }
    return nodes;
}

Result<std::vector<std::unique_ptr<Server>>> makeRedisSentinels(RedisSentinelOptions options)
{
    TRY(const auto &program, redisProgram());
    auto random = Random::fromSystem();
    std::set<quint16> taken;
    const auto primary = freeLoopbackPort(taken);
    const auto replica = freeLoopbackPort(taken);
    std::vector<std::pair<quint16, QByteArray>> sentinels;
    for (int i = 0; i < options.sentinels; ++i)
        sentinels.emplace_back(freeLoopbackPort(taken), newRunId(random));
    std::vector<std::unique_ptr<Server>> servers;
    for (const auto port : {primary, replica}) {
        RedisSeat redis;
        redis.name = u"Redis"_s;
        redis.port = port;
        redis.tls = options.tls;
        redis.configuration = replicated;
        if (port == replica)
            redis.configuration += "replicaof 127.0.0.1 " + QByteArray::number(primary) + '\n';
        redis.question = "INFO replication\r\n";
        redis.isReady = &saysReplicates;
        servers.push_back(std::make_unique<Server>(std::make_unique<SeatedRedis>(program, std::move(redis))));
    }
    const QByteArray service = sandboxService;
    const auto downAfter = QByteArray::number(qint64(options.downAfter.count()));
    for (const auto &[port, id] : sentinels) {
        RedisSeat redis;
        redis.name = u"Redis Sentinel"_s;
        redis.port = port;
        redis.tls = options.tls;
        redis.configuration = "sentinel myid " + id + "\nsentinel monitor " + service + " 127.0.0.1 "
                              + QByteArray::number(primary) + ' ' + QByteArray::number(options.sentinels / 2 + 1)
                              + "\nsentinel down-after-milliseconds " + service + ' ' + downAfter
                              + "\nsentinel failover-timeout " + service + " 5000" + "\nsentinel known-replica "
                              + service + " 127.0.0.1 " + QByteArray::number(replica) + '\n';
        for (const auto &[otherPort, otherId] : sentinels) {
            if (otherId != id)
                redis.configuration += "sentinel known-sentinel " + service + " 127.0.0.1 "
                                       + QByteArray::number(otherPort) + ' ' + otherId + '\n';
        }
        redis.more = {"--sentinel"};
        redis.question = "INFO sentinel\r\n";
        redis.isReady = [](const QByteArray &answer) { return answer.contains("status=ok"); };
        servers.push_back(std::make_unique<Server>(std::make_unique<SeatedRedis>(program, std::move(redis))));
    }
    return servers;
}

std::vector<SandboxVariant> redisVariants()
{
    return {{.option = u"redis-cluster"_s,
             .what = u"a Redis Cluster: three primaries, a replica of each"_s,
             .name = "cluster",
             .scheme = Scheme::RedisCluster,
             .make = [](const Certificates *tls) { return makeRedisCluster({.tls = tls}); }},
            {.option = u"sentinel"_s,
             .what = u"a Redis primary, its replica and three sentinels"_s,
             .name = "sentinel",
             .scheme = Scheme::RedisSentinel,
             .make = [](const Certificates *tls) { return makeRedisSentinels({.tls = tls}); },
             .unnamed = 2,
             .service = QString::fromLatin1(sandboxService)}};
}

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
