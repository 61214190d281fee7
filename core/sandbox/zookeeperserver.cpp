// SPDX-License-Identifier: Apache-2.0
// A private ZooKeeper on loopback, one standalone server or the members of an ensemble, from Debian's jar or from a
// class path that LOCKSCOPE_ZOOKEEPER_CLASSPATH names.
#include "core/sandbox/demo.h"

#include <QDir>
#include <QFile>

#include <thread>

namespace lockscope::sandbox {

namespace {

// Debian's jar names what it needs in its manifest, except for these two.
const QByteArray zookeeperJar = "/usr/share/java/zookeeper.jar";
const QByteArray servletJar = "/usr/share/java/servlet-api.jar";  // for the AdminServer
const QByteArray loggingJar = "/usr/share/java/slf4j-simple.jar"; // else it prints nothing

// And for TLS: what Netty's handler of it needs beside those that the manifest names.
const QByteArray nettyJars[] = {"/usr/share/java/netty-codec.jar", "/usr/share/java/netty-resolver.jar",
                                "/usr/share/java/netty-transport-native-unix-common.jar"};

const QString saslFile = u"sasl.conf"_s; // who may log in; the library's own name for it is jaas.conf

Result<void> mustExist(const QByteArray &file, const QString &package)
{
    if (QFile::exists(QFile::decodeName(file)))
        return {};
    return Error{
        ErrorCode::Unsupported,
        u"no private ZooKeeper: %1 is missing; Debian's package is %2"_s.arg(QFile::decodeName(file), package),
        false};
}

// Everything it needs; an error when Debian's is asked for and is not installed.
Result<QByteArray> classPath(bool withAdminServer, bool withTls)
{
    if (auto another = qgetenv("LOCKSCOPE_ZOOKEEPER_CLASSPATH"); !another.isEmpty())
        return another;
    auto found = mustExist(zookeeperJar, u"libzookeeper-java"_s);
    if (found && withAdminServer)
        found = mustExist(servletJar, u"libservlet-api-java"_s);
    if (!found)
        return found.error();
    auto all = zookeeperJar + ':' + servletJar + ':' + loggingJar;
    for (const auto &jar : nettyJars) {
        if (auto there = mustExist(jar, u"libnetty-java"_s); withTls && !there)
            return there.error();
        all += ':' + jar;
    }
    return all;
}

// A member's place in its ensemble; alone, there is none.
struct Seat {
    int id = 0; // from 1; 0: standalone
    quint16 clientPort = 0;
    QByteArray servers; // the lines server.N=… that every member has
};

class ZooKeeperKind : public ServerKind {
public:
    ZooKeeperKind(QByteArray java, QByteArray classPath, ZooKeeperOptions options, Seat seat)
        : m_java(std::move(java)), m_classPath(std::move(classPath)), m_options(std::move(options)),
          m_seat(std::move(seat))
    {
    }

    quint16 adminPort() const override { return m_adminPort; }

    QString name() const override { return u"ZooKeeper"_s; }
    quint16 fixedPort() const override { return m_seat.clientPort; }

    Result<void> prepare(const TemporaryFolder &folder, quint16 port) override
    {
        const QByteArray secure = m_options.tls ? "secureClientPort" : "clientPort";
        QByteArray text =
            secure + "Address=127.0.0.1\n" + secure + '=' + QByteArray::number(port)
            + "\nmaxClientCnxns=0\ntickTime=" + QByteArray::number(static_cast<qint64>(m_options.tick.count()))
            + "\nmaxSessionTimeout=" + QByteArray::number(static_cast<qint64>(m_options.maxSession.count()))
            + "\n4lw.commands.whitelist=" + m_options.fourLetterWords
            + "\ndataDir=" + QFile::encodeName(folder.file(u"data"_s))
            + "\nadmin.enableServer=" + (m_options.adminServer ? "true" : "false") + '\n';
        if (m_options.tls)
            text += tlsLines(*m_options.tls);
        if (m_options.requiresSasl) {
            text += "sessionRequireClientSASLAuth=true\n"
                    "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n";
            TRY_VOID(folder.write(
                saslFile,
                "Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_nobody=\"\"; };\n"));
        }
        m_adminPort = 0;
        if (m_options.adminServer) {
            do
                m_adminPort = freeLoopbackPort();
            while (m_adminPort == port);
            text += "admin.serverAddress=127.0.0.1\nadmin.serverPort=" + QByteArray::number(m_adminPort) + '\n';
        }
        if (m_seat.id != 0) {
            // Limits in ticks: short ticks must not make a busy machine's members give each other up.
            text += "initLimit=100\nsyncLimit=50\n" + m_seat.servers;
            QDir(folder.path()).mkpath(u"data"_s);
            TRY_VOID(folder.write(u"data/myid"_s, QByteArray::number(m_seat.id) + '\n'));
        }
        return folder.write(u"zoo.cfg"_s, text);
    }

    QByteArrayList arguments(const TemporaryFolder &folder) const override
    {
        QByteArrayList all{m_java};
        if (m_options.requiresSasl)
            all << "-Djava.security.auth.login.config=" + QFile::encodeName(folder.file(saslFile));
        return all
               + QByteArrayList{
                   // A short start matters more than peak speed.
                   "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx512m",
                   // Nothing outside our folder.
                   "-XX:-UsePerfData", "-Djava.io.tmpdir=" + QFile::encodeName(folder.path()),
                   "-Djava.net.preferIPv4Stack=true",
                   m_options.syncsItsLog ? "-Dzookeeper.forceSync=yes" : "-Dzookeeper.forceSync=no",
                   "-Dzookeeper.preAllocSize=4096",
                   "-Dzookeeper.extendedTypesEnabled=true", // nodes with a TTL
                   "-Dznode.container.checkIntervalMs="
                       + QByteArray::number(static_cast<qint64>(m_options.reapingInterval.count())),
                   "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true",
                   "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS", "-cp", m_classPath,
                   "org.apache.zookeeper.server.quorum.QuorumPeerMain", QFile::encodeName(folder.file(u"zoo.cfg"_s))};
    }

    // Allowed whatever the whitelist says. While it starts it says that it is "not currently serving
    // requests" instead.
    QByteArray question() const override { return m_options.tls ? tlsQuestion() : QByteArray("srvr"); }
    bool isReadyAnswer(const QByteArray &answer) const override
    {
        return m_options.tls ? isTlsAnswer(answer) : answer.contains("Mode:");
    }

private:
    static QByteArray tlsLines(const Certificates &tls)
    {
        return "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\nssl.clientAuth=need\n"
               "ssl.keyStore.type=PEM\nssl.trustStore.type=PEM\nssl.keyStore.location="
               + QFile::encodeName(tls.serverBoth())
               + "\nssl.trustStore.location=" + QFile::encodeName(tls.authority()) + '\n';
    }

    QByteArray m_java;
    QByteArray m_classPath;
    ZooKeeperOptions m_options;
    Seat m_seat;
    quint16 m_adminPort = 0;
};

Result<std::unique_ptr<ZooKeeperServer>> make(const ZooKeeperOptions &options, Seat seat)
{
    TRY(const auto &java, findProgram(u"java"_s, u"ZooKeeper"_s, u"default-jre-headless"_s));
    TRY(auto &classes, classPath(options.adminServer, options.tls != nullptr));
    return std::make_unique<Server>(
        std::make_unique<ZooKeeperKind>(java, std::move(classes), options, std::move(seat)));
}

} // namespace

Result<std::unique_ptr<ZooKeeperServer>> makeZooKeeper(ZooKeeperOptions options)
{
    return make(options, {});
}

Result<ZooKeeperMembers> makeZooKeeperEnsemble(int members, ZooKeeperOptions options)
{
    std::set<quint16> taken;
    std::vector<Seat> seats;
    QByteArray servers;
    for (int id = 1; id <= members; ++id) {
        seats.push_back({id, freeLoopbackPort(taken), {}});
        servers += "server." + QByteArray::number(id) + "=127.0.0.1:" + QByteArray::number(freeLoopbackPort(taken))
                   + ':' + QByteArray::number(freeLoopbackPort(taken)) + ":participant";
        if (!options.tls) // a port named there is one without
            servers += ";127.0.0.1:" + QByteArray::number(seats.back().clientPort);
        servers += '\n';
    }
    ZooKeeperMembers made;
    for (auto &seat : seats) {
        seat.servers = servers;
        TRY(auto &one, make(options, seat));
        made.push_back(std::move(one));
    }
    return made;
}

Result<void> startAll(const ZooKeeperMembers &members, std::chrono::milliseconds atMost)
{
    TRY_VOID(beginAll(members));
    const auto until = std::chrono::steady_clock::now() + atMost;
    for (const auto &member : members) {
        for (;;) {
            auto ready = member->poll();
            if (!ready || *ready)
                break;
            if (std::chrono::steady_clock::now() >= until)
                return Error{ErrorCode::TimedOut, u"the private ensemble did not come up in time"_s, true};
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        TRY_VOID(member->poll());
    }
    return {};
}

namespace {

Result<std::vector<std::unique_ptr<Server>>> makeMembers(int members, ZooKeeperOptions options)
{
    options.maxSession = std::chrono::minutes(10); // a crashed holder that people want to look at
    if (members == 1)
        return alone(makeZooKeeper(options));
    options.adminServer = false; // one URI has one port for it; four-letter words say the same
    return makeZooKeeperEnsemble(members, options);
}

} // namespace

SandboxKit sandboxOfZooKeeper()
{
    return {.what = u"a ZooKeeper, or an ensemble of N members"_s,
            .most = 9,
            .apart = false,
            .usual = 1,
            .user = {},
            .make = [](int members) { return makeMembers(members, {}); },
            .play = playOnZooKeeper,
            .makeWithTls =
                [](int members, const Certificates &certificates) {
                    ZooKeeperOptions options;
                    options.tls = &certificates;
                    options.adminServer = false; // it speaks in clear
                    return makeMembers(members, options);
                }};
}

} // namespace lockscope::sandbox
