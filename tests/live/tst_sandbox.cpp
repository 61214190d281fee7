// SPDX-License-Identifier: Apache-2.0
// Private servers: they start, answer, stop and start again, and leave nothing behind.
#include "core/sandbox/sandbox.h"
#include "core/sandbox/server.h"
#include "tests/support/testmain.h"

#include <QDeadlineTimer>
#include <QDir>
#include <QProcess>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTemporaryDir>

#include <atomic>
#include <csignal>
#include <thread>

#include <unistd.h>

using namespace lockscope::sandbox;

namespace {

QStringList foldersOf(qint64 pid)
{
    return QDir(QDir::tempPath()).entryList({u"lockscope-%1-*"_s.arg(pid)}, QDir::Dirs | QDir::Hidden);
}

bool isListening(const HostPort &server)
{
    QTcpSocket socket;
    socket.connectToHost(server.host, server.port);
    return socket.waitForConnected(2000);
}

// A sandbox in a process of its own.
class Owner {
public:
    [[nodiscard]] bool start()
    {
        m_process.start(QStringLiteral(SANDBOX_OWNER), QStringList());
        while (servers.size() < 2) {
            if (!m_process.canReadLine() && !m_process.waitForReadyRead(60'000))
                return false;
            while (m_process.canReadLine()) {
                auto spec = parseConnection(QString::fromUtf8(m_process.readLine().trimmed()));
                if (!spec)
                    return false;
                servers.push_back(spec->hosts.front());
            }
        }
        pid = m_process.processId();
        return true;
    }
    [[nodiscard]] bool hasEnded() { return m_process.waitForFinished(20'000); }
    [[nodiscard]] int exitCode() const { return m_process.exitCode(); }
    [[nodiscard]] bool nobodyListens() const { return std::ranges::none_of(servers, isListening); }
    void signal(int number) const { ::kill(static_cast<pid_t>(pid), number); }

    std::vector<HostPort> servers;
    qint64 pid = 0;

private:
    QProcess m_process;
};

// One question on a connection of its own; empty if nobody listens.
QByteArray ask(const HostPort &server, const QByteArray &words)
{
    QTcpSocket socket;
    socket.connectToHost(server.host, server.port);
    if (!socket.waitForConnected(30'000))
        return {};
    socket.write(words);
    QByteArray answer;
    // The first question to the admin server has Java load the classes for the answer.
    while (!answer.contains('\n') && socket.waitForReadyRead(30'000))
        answer += socket.readAll();
    return answer;
}

template <class T>
QByteArray whyNot(const Result<T> &result)
{
    return result ? QByteArray() : result.error().message.toUtf8();
}

} // namespace

class TestSandbox : public QObject {
    Q_OBJECT
private slots:
    void cleanup() { QCOMPARE(foldersOf(::getpid()), QStringList()); }

    void redisStartsStopsAndStartsAgainOnItsPort()
    {
        auto made = makeRedis();
        QVERIFY2(made, whyNot(made).constData());
        auto &redis = **made;
        auto started = redis.start(20s);
        QVERIFY2(started, whyNot(started).constData());
        const auto address = redis.address();
        QCOMPARE(ask(address, "PING\r\n"), "+PONG\r\n");
        QCOMPARE(foldersOf(::getpid()).size(), 1);

        redis.stop();
        QCOMPARE(ask(address, "PING\r\n"), QByteArray());
        auto again = redis.start(20s);
        QVERIFY2(again, whyNot(again).constData());
        QCOMPARE(redis.address(), address);
        QCOMPARE(ask(address, "PING\r\n"), "+PONG\r\n");
    }

    // initdb's own children, after it was killed.
    void aFolderThatIsWrittenIntoForAMomentYetGoes()
    {
        auto folder = TemporaryFolder::make();
        QVERIFY(folder);
        const auto path = (*folder)->path();
        std::atomic<bool> isWriting = false;
        std::thread writer([&] {
            const QDeadlineTimer limit(400);
            for (int i = 0; !limit.hasExpired(); ++i) {
                QDir().mkdir(path + u"/%1"_s.arg(i % 50));
                isWriting = true;
            }
        });
        while (!isWriting)
            std::this_thread::yield();
        folder->reset();
        writer.join();
        QVERIFY(!QFileInfo::exists(path));
    }

    void redisPasswordIsNotInTheProcessList()
    {
        RedisOptions options{.password = "s3cret \"with\" spaces", .notifyKeyspaceEvents = "KEA"};
        auto made = makeRedis(options);
        QVERIFY(made);
        auto started = (*made)->start(20s);
        QVERIFY2(started, whyNot(started).constData());
        QVERIFY(ask((*made)->address(), "PING\r\n").startsWith("-NOAUTH"));
        QCOMPARE(ask((*made)->address(), "AUTH \"s3cret \\\"with\\\" spaces\"\r\n"), "+OK\r\n");

        QDir processes(u"/proc"_s);
        for (const auto &process : processes.entryList({u"[0-9]*"_s}, QDir::Dirs)) {
            QFile commandLine(processes.filePath(process) + u"/cmdline"_s);
            if (commandLine.open(QIODevice::ReadOnly))
                QVERIFY2(!commandLine.readAll().contains("s3cret"), qPrintable(process));
        }
    }

    void aPausedServerAnswersWhenResumed()
    {
        auto made = makeRedis();
        QVERIFY(made);
        QVERIFY((*made)->start(20s));
        QTcpSocket socket;
        socket.connectToHost((*made)->address().host, (*made)->address().port);
        QVERIFY(socket.waitForConnected(2000));
        (*made)->pause();
        socket.write("PING\r\n");
        QVERIFY(!socket.waitForReadyRead(100));
        (*made)->resume();
        QVERIFY(socket.waitForReadyRead(5000));
        QCOMPARE(socket.readAll(), "+PONG\r\n");
    }

    void zooKeeperKeepsPortAndDataAcrossARestart()
    {
        auto made = makeZooKeeper();
        QVERIFY2(made, whyNot(made).constData());
        auto &zooKeeper = **made;
        auto started = zooKeeper.start(60s);
        QVERIFY2(started, whyNot(started).constData());
        const auto address = zooKeeper.address();
        QVERIFY(ask(address, "srvr").startsWith("Zookeeper version"));
        QVERIFY(ask({address.host, zooKeeper.adminPort()}, "GET /commands/ruok HTTP/1.0\r\n\r\n").contains("200 OK"));

        zooKeeper.stop();
        QCOMPARE(ask(address, "srvr"), QByteArray());
        auto again = zooKeeper.start(60s);
        QVERIFY2(again, whyNot(again).constData());
        QCOMPARE(zooKeeper.address(), address);
    }

    void mariaDbKeepsPortAndTablesAcrossARestart()
    {
        auto made = makeMariaDb();
        QVERIFY2(made, whyNot(made).constData());
        auto &server = **made;
        auto started = server.start(30s);
        QVERIFY2(started, whyNot(started).constData());
        QVERIFY2(server.log().contains(u"ready for connections"_s), qPrintable(server.log()));
        const auto address = server.address();
        QVERIFY(isListening(address));
        server.stop();
        QVERIFY(!isListening(address));
        started = server.start(30s);
        QVERIFY2(started, whyNot(started).constData());
        QCOMPARE(server.address(), address);
        // Its tables were there: it did not run without grant tables a second time.
        QVERIFY2(!server.log().contains(u"Can't open and lock privilege tables"_s), qPrintable(server.log()));
    }

    void zooKeeperRefusesWordsOutsideItsWhitelist()
    {
        ZooKeeperOptions options{.adminServer = false, .fourLetterWords = "ruok"};
        auto made = makeZooKeeper(options);
        QVERIFY(made);
        auto started = (*made)->start(60s);
        QVERIFY2(started, whyNot(started).constData());
        QCOMPARE(ask((*made)->address(), "dump"), "dump is not executed because it is not in the whitelist.\n");
        QCOMPARE((*made)->adminPort(), quint16(0));
    }

    void aSandboxTellsOfEachServerWithoutBlocking()
    {
        qRegisterMetaType<lockscope::ConnectionSpec>();
        Sandbox sandbox({.servers = {{BackendKind::ZooKeeper, 1}, {BackendKind::Redis, 2}}});
        QSignalSpy answered(&sandbox, &Sandbox::answered);
        QSignalSpy finished(&sandbox, &Sandbox::finished);
        sandbox.begin();
        QVERIFY(!sandbox.isFinished());
        QCOMPARE(answered.size(), 0);
        QVERIFY(finished.wait(60'000));
        QCOMPARE(answered.size(), 3);
        QCOMPARE(sandbox.problems(), QStringList());
        QByteArrayList names;
        for (const auto &connection : sandbox.connections()) {
            names << connection.name.bytes();
            QVERIFY(isListening(connection.hosts.front()));
            // What is printed for others leads them here.
            auto read = parseConnection(connectArgument(connection));
            QVERIFY2(read, whyNot(read).constData());
            QCOMPARE(read->name, connection.name);
            QVERIFY(read->hosts == connection.hosts);
            QVERIFY(connection.scheme != Scheme::ZooKeeper || read->adminPort == connection.adminPort);
        }
        QCOMPARE(names, (QByteArrayList{"zk", "redis", "redis2"}));
    }

    // Whoever kills a server to see what becomes of its locks gets it back where it was; or not, as is wished.
    void aServerThatEndsIsStartedAgain_data()
    {
        addRows<bool>("again", {{"by itself", true}, {"it stays away", false}});
    }
    void aServerThatEndsIsStartedAgain()
    {
        QFETCH(const bool, again);
        SandboxOptions options{.servers = {{BackendKind::Redis, 1}},
                               .restartAfter = again ? std::optional(1ms) : std::nullopt};
        Sandbox sandbox(options);
        QSignalSpy ended(&sandbox, &Sandbox::ended), answered(&sandbox, &Sandbox::answeredAgain);
        QSignalSpy finished(&sandbox, &Sandbox::finished), failed(&sandbox, &Sandbox::failed);
        sandbox.begin();
        QTRY_COMPARE_WITH_TIMEOUT(finished.size(), 1, 60'000);
        if (sandbox.connections().empty())
            QSKIP("no Redis on this machine");
        const auto where = sandbox.connections().front().hosts.front();
        ask(where, "SHUTDOWN NOSAVE\r\n");
        QTRY_COMPARE_WITH_TIMEOUT(ended.size(), 1, 60'000);
        const auto said = ended.front().front().toString();
        QVERIFY2(said.startsWith(u"redis (127.0.0.1:%1) has ended; it is "_s.arg(where.port)), qPrintable(said));
        QCOMPARE(said.contains(u"it is not started again"_s), !again);
        if (again) {
            QTRY_COMPARE_WITH_TIMEOUT(answered.size(), 1, 60'000);
            QCOMPARE(ask(where, "PING\r\n").trimmed(), QByteArray("+PONG"));
        }
        QCOMPARE(sandbox.connections().front().hosts.front(), where);
        QCOMPARE(finished.size(), 1);
        QCOMPARE(failed.size(), 0);
    }

    void aServerWhosePortIsTakenIsTriedUntilItIsFree()
    {
        SandboxOptions options{.servers = {{BackendKind::Redis, 1}}, .restartAfter = 200ms};
        Sandbox sandbox(options);
        QSignalSpy answered(&sandbox, &Sandbox::answeredAgain);
        QSignalSpy finished(&sandbox, &Sandbox::finished), failed(&sandbox, &Sandbox::failed);
        sandbox.begin();
        QTRY_COMPARE_WITH_TIMEOUT(finished.size(), 1, 60'000);
        if (sandbox.connections().empty())
            QSKIP("no Redis on this machine");
        const auto where = sandbox.connections().front().hosts.front();
        QTcpServer somebodyElse;
        connect(&sandbox, &Sandbox::ended, &somebodyElse,
                [&] { somebodyElse.listen(QHostAddress::LocalHost, static_cast<quint16>(where.port)); });
        ask(where, "SHUTDOWN NOSAVE\r\n");
        QTRY_VERIFY_WITH_TIMEOUT(failed.size() >= 2, 60'000);
        QVERIFY(somebodyElse.isListening());
        const auto first = failed[0].front().toString(), second = failed[1].front().toString();
        QVERIFY2(first.endsWith(u"; it is started again in 0.2 s"_s), qPrintable(first));
        QVERIFY2(second.endsWith(u"; it is started again in 0.4 s"_s), qPrintable(second));
        QCOMPARE(answered.size(), 0);
        somebodyElse.close();
        QTRY_COMPARE_WITH_TIMEOUT(answered.size(), 1, 60'000);
        QCOMPARE(ask(where, "PING\r\n").trimmed(), QByteArray("+PONG"));
    }

    void anEnsembleIsOneConnection()
    {
        SandboxOptions options{.servers = {{BackendKind::ZooKeeper, 3}}};
        Sandbox sandbox(options);
        auto started = sandbox.start();
        QVERIFY2(started, whyNot(started).constData());
        QCOMPARE(sandbox.connections().size(), size_t(1));
        const auto connection = sandbox.connections().front();
        QCOMPARE(connection.hosts.size(), size_t(3));
        for (const auto &host : connection.hosts) {
            QCOMPARE(host.host, u"127.0.0.1"_s);
            QVERIFY(isListening(host));
        }
        auto read = parseConnection(connectArgument(connection));
        QVERIFY2(read, whyNot(read).constData());
        QVERIFY(read->hosts == connection.hosts);
    }

    void missingServerIsNamedAndTheOthersStart()
    {
        const auto path = qgetenv("PATH");
        QTemporaryDir bin;
        QVERIFY(QFile::link(QStandardPaths::findExecutable(u"redis-server"_s), bin.filePath(u"redis-server"_s)));
        qputenv("PATH", QFile::encodeName(bin.path()));
        Sandbox sandbox;
        auto started = sandbox.start();
        qputenv("PATH", "/nonexistent");
        Sandbox nothing;
        auto failed = nothing.start();
        qputenv("PATH", path);

        QVERIFY2(started, whyNot(started).constData());
        QCOMPARE(sandbox.connections().size(), size_t(1));
        QCOMPARE(sandbox.problems().size(), 1);
        QVERIFY(sandbox.problems().front().contains(u"default-jre-headless"_s));
        QVERIFY(!failed);
        QVERIFY(failed.error().message.contains(u"redis-server"_s));
    }

    void killedOwner_serversEndAndFoldersAreSwept()
    {
        Owner owner;
        QVERIFY(owner.start());
        QVERIFY(!owner.nobodyListens());
        QCOMPARE(foldersOf(owner.pid).size(), 2);
        // Not abandoned while the owner lives.
        sweepLeftovers();
        QCOMPARE(foldersOf(owner.pid).size(), 2);

        owner.signal(SIGKILL);
        QVERIFY(owner.hasEnded());
        QTRY_VERIFY_WITH_TIMEOUT(owner.nobodyListens(), 10'000);
        QCOMPARE(foldersOf(owner.pid).size(), 2);
        sweepLeftovers();
        QCOMPARE(foldersOf(owner.pid), QStringList());
    }

    void signalsEndTheOwnerCleanly_data() { addRows<int>("number", {{"SIGINT", SIGINT}, {"SIGTERM", SIGTERM}}); }
    void signalsEndTheOwnerCleanly()
    {
        QFETCH(int, number);
        Owner owner;
        QVERIFY(owner.start());
        owner.signal(number);
        QVERIFY(owner.hasEnded());
        QCOMPARE(owner.exitCode(), 0);
        QVERIFY(owner.nobodyListens());
        QCOMPARE(foldersOf(owner.pid), QStringList());
    }
};

LOCKSCOPE_TEST(TestSandbox)
#include "tst_sandbox.moc"
