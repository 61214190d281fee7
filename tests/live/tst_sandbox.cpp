// Private servers: they start, answer, stop and start again, and leave nothing behind.
#include "core/sandbox/server.h"

#include <QDir>
#include <QTcpSocket>
#include <QTest>

#include <unistd.h>

using namespace lockscope;
using namespace lockscope::sandbox;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

QStringList ourFolders()
{
    return QDir(QDir::tempPath()).entryList({u"lockscope-%1-*"_s.arg(::getpid())}, QDir::Dirs | QDir::Hidden);
}

// One question on a connection of its own; empty if nobody listens.
QByteArray ask(const HostPort &server, const QByteArray &words)
{
    QTcpSocket socket;
    socket.connectToHost(server.host, server.port);
    if (!socket.waitForConnected(2000))
        return {};
    socket.write(words);
    QByteArray answer;
    while (!answer.contains('\n') && socket.waitForReadyRead(2000))
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
    void cleanup() { QCOMPARE(ourFolders(), QStringList()); }

    void redisStartsStopsAndStartsAgainOnItsPort()
    {
        auto made = makeRedis();
        QVERIFY2(made, whyNot(made).constData());
        auto &redis = **made;
        auto started = redis.start(20s);
        QVERIFY2(started, whyNot(started).constData());
        const auto address = redis.address();
        QCOMPARE(ask(address, "PING\r\n"), "+PONG\r\n");
        QCOMPARE(ourFolders().size(), 1);

        redis.stop();
        QCOMPARE(ask(address, "PING\r\n"), QByteArray());
        auto again = redis.start(20s);
        QVERIFY2(again, whyNot(again).constData());
        QCOMPARE(redis.address(), address);
        QCOMPARE(ask(address, "PING\r\n"), "+PONG\r\n");
    }

    void redisPasswordIsNotInTheProcessList()
    {
        RedisOptions options;
        options.password = "s3cret \"with\" spaces";
        options.notifyKeyspaceEvents = "KEA";
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

    void zooKeeperRefusesWordsOutsideItsWhitelist()
    {
        ZooKeeperOptions options;
        options.fourLetterWords = "ruok";
        options.adminServer = false;
        auto made = makeZooKeeper(options);
        QVERIFY(made);
        auto started = (*made)->start(60s);
        QVERIFY2(started, whyNot(started).constData());
        QCOMPARE(ask((*made)->address(), "dump"), "dump is not executed because it is not in the whitelist.\n");
        QCOMPARE((*made)->adminPort(), quint16(0));
    }
};

QTEST_GUILESS_MAIN(TestSandbox)
#include "tst_sandbox.moc"
