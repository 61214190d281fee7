// SPDX-License-Identifier: Apache-2.0
// The real Redis connection against a real redis-server: commands, scripts, pub/sub, and what
// happens when the server refuses, hangs or dies.
#include "tests/support/redisfixture.h"
#include "tests/support/testmain.h"

#include <QProcess>
#include <QSslSocket>
#include <QStandardPaths>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTemporaryDir>

using redis::ConnectionState;
using redis::Value;

namespace {

std::unique_ptr<sandbox::Server> startServer(sandbox::RedisOptions options = {})
{
    auto made = sandbox::makeRedis(std::move(options));
    if (!made)
        return nullptr;
    auto started = (*made)->start(10s);
    if (!started) {
        qWarning().noquote() << started.error().message;
        return nullptr;
    }
    return std::move(*made);
}

quint16 freePort()
{
    QTcpServer probe;
    probe.listen(QHostAddress::LocalHost);
    return probe.serverPort();
}

} // namespace

class TestRedisClient : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<redis::Connection> m_connection;

    Deadline soon() const { return Deadline::after(m_loop, 15s); }
    Reply<Value> send(redis::Command command) { return m_connection->command(std::move(command), soon()); }

private slots:
    void init()
    {
        m_server = startServer();
        if (!m_server)
            QSKIP("redis-server is not installed or does not start");
        m_connection = redis::openConnection(m_loop, optionsFor(m_server->address()));
        QVERIFY(becomes(*m_connection, ConnectionState::Connected));
        QCOMPARE(m_connection->lastError(), QString());
    }
    void cleanup()
    {
        m_connection.reset();
        m_server.reset();
    }

    void commandsAndBinaryKeys()
    {
        const QByteArray key("a key\r\n\0with \xff bytes", 21);
        QCOMPARE(valueOf(send({"SET", key, "one"})).text, QByteArray("OK"));
        QCOMPARE(valueOf(send({"GET", key})).text, QByteArray("one"));
        QVERIFY(valueOf(send({"GET", "absent"})).isNil());
        QCOMPARE(valueOf(send({"INCRBY", "n", "41"})).integer, 41);
        QCOMPARE(codeOf(send({"INCR", key})), code(ErrorCode::Server));
        QCOMPARE(valueOf(send({"CLIENT", "GETNAME"})).text, QByteArray("lockscope"));
    }

    void errorsThatNeedNoServer()
    {
        QCOMPARE(codeOf(send({})), code(ErrorCode::BadInput));
        QCOMPARE(codeOf(send({"subscribe", "x"})), code(ErrorCode::BadInput));
        QCOMPARE(codeOf(send({"CLIENT", "REPLY", "OFF"})), code(ErrorCode::BadInput));
        QCOMPARE(codeOf(m_connection->command({"PING"}, Deadline::at(m_loop.now()))), code(ErrorCode::TimedOut));
        const auto early = redis::openConnection(m_loop, optionsFor(m_server->address()));
        QCOMPARE(codeOf(early->command({"PING"}, soon())), code(ErrorCode::NotConnected));
    }

    void pipelineKeepsErrorsInTheirPlace()
    {
        const auto got = answerOf(m_connection->pipeline({{"SET", "k", "v"}, {"INCR", "k"}, {"GET", "k"}}, soon()));
        QVERIFY(got);
        QCOMPARE(got->size(), 3u);
        QCOMPARE((*got)[0].text, QByteArray("OK"));
        QVERIFY((*got)[1].isError());
        QCOMPARE((*got)[2].text, QByteArray("v"));
        const auto none = answerOf(m_connection->pipeline({}, soon()));
        QVERIFY(none && none->empty());
    }

    void aHundredThousandInOnePipeline()
    {
        std::vector<redis::Command> commands;
        for (int i = 0; i < 100'000; ++i)
            commands.push_back({"INCR", "counter"});
        const auto got = answerOf(m_connection->pipeline(std::move(commands), Deadline::after(m_loop, 5min)));
        QVERIFY(got);
        QCOMPARE(got->size(), 100'000u);
        QCOMPARE(got->front().integer, 1);
        QCOMPARE(got->back().integer, 100'000);
    }

    void aHundredThousandSingleCommands()
    {
        // How long a sanitizer takes for these is not what is looked at.
        const auto deadline = Deadline::after(m_loop, 5min);
        std::vector<Reply<Value>> replies;
        for (int i = 0; i < 100'000; ++i)
            replies.push_back(m_connection->command({"INCR", "counter"}, deadline));
        QCOMPARE(valueOf(replies.back()).integer, 100'000);
        for (size_t i = 0; i < replies.size(); ++i)
            QCOMPARE(replies[i].value()->integer, static_cast<qint64>(i) + 1);
    }

    void scriptIsSentOnceAndAgainWhenForgotten()
    {
        const auto script = redis::loadScript("compare-and-delete");
        for (int round = 0; round < 3; ++round) {
            QCOMPARE(valueOf(send({"SET", "lock", "token"})).text, QByteArray("OK"));
            QCOMPARE(valueOf(m_connection->script(script, {"lock"}, {"other"}, soon())).integer, 0);
            QCOMPARE(valueOf(m_connection->script(script, {"lock"}, {"token"}, soon())).integer, 1);
            QCOMPARE(valueOf(m_connection->script(script, {"lock"}, {"token"}, soon())).integer, -1);
            const auto known = valueOf(send({"SCRIPT", "EXISTS", script.sha}));
            QCOMPARE(known.items.front().integer, 1);
            QCOMPARE(valueOf(send({"SCRIPT", "FLUSH"})).text, QByteArray("OK"));
        }
    }

    void wrongPasswordIsNotRetriedAndNotTold()
    {
        QCOMPARE(valueOf(send({"CONFIG", "SET", "requirepass", "right-secret"})).text, QByteArray("OK"));
        auto options = optionsFor(m_server->address());
        options.password = "wrong-secret";
        const auto wrong = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*wrong, ConnectionState::AuthFailed));
        QVERIFY(wrong->lastError().contains(u"refused the user name or password"_s));
        QVERIFY(!wrong->lastError().contains(u"secret"_s));
        QCOMPARE(codeOf(wrong->command({"PING"}, soon())), code(ErrorCode::AuthFailed));
        QCOMPARE(codeOf(wrong->subscriberId(soon())), code(ErrorCode::AuthFailed));

        options.password.clear();
        const auto none = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*none, ConnectionState::AuthFailed));
        QVERIFY(none->lastError().contains(u"asks for a password"_s));

        options.password = "right-secret";
        const auto right = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*right, ConnectionState::Connected));
        QCOMPARE(valueOf(right->command({"PING"}, soon())).text, QByteArray("PONG"));
    }

    void passwordForAServerWithoutOne()
    {
        auto options = optionsFor(m_server->address());
        options.password = "needless";
        const auto connection = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*connection, ConnectionState::AuthFailed));
        QVERIFY(connection->lastError().contains(u"has no password set"_s));
    }

    void databases()
    {
        auto options = optionsFor(m_server->address());
        options.database = 3;
        const auto third = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*third, ConnectionState::Connected));
        QCOMPARE(valueOf(third->command({"SET", "only-here", "1"}, soon())).text, QByteArray("OK"));
        QVERIFY(valueOf(send({"GET", "only-here"})).isNil());

        options.database = 4711;
        const auto outOfRange = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*outOfRange, ConnectionState::Closed));
        QVERIFY(outOfRange->lastError().contains(u"out of range"_s));
    }

    void permissions()
    {
        QCOMPARE(valueOf(send({"ACL", "SETUSER", "reader", "on", ">pw", "~lock:*", "+get", "+ping"})).text,
                 QByteArray("OK"));
        auto options = optionsFor(m_server->address());
        options.user = "reader";
        options.password = "pw";
        const auto reader = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*reader, ConnectionState::Connected)); // although it may not name itself
        QVERIFY(valueOf(reader->command({"GET", "lock:a"}, soon())).isNil());
        QCOMPARE(codeOf(reader->command({"GET", "other"}, soon())), code(ErrorCode::NoPermission));
        QCOMPARE(codeOf(reader->command({"SET", "lock:a", "1"}, soon())), code(ErrorCode::NoPermission));
        QCOMPARE(codeOf(reader->subscriberId(soon())), code(ErrorCode::Unsupported));
    }

    // Without AUTH it would be the server's default user, who may do everything.
    void userWithoutPasswordIsNotTheDefault()
    {
        QCOMPARE(valueOf(send({"ACL", "SETUSER", "open", "on", "nopass", "~lock:*", "+get"})).text, QByteArray("OK"));
        auto options = optionsFor(m_server->address());
        options.user = "open";
        const auto open = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*open, ConnectionState::Connected));
        QVERIFY(valueOf(open->command({"GET", "lock:a"}, soon())).isNil());
        QCOMPARE(codeOf(open->command({"SET", "lock:a", "1"}, soon())), code(ErrorCode::NoPermission));

        QCOMPARE(valueOf(send({"ACL", "SETUSER", "closed", "on", ">pw", "~*", "+@all"})).text, QByteArray("OK"));
        options.user = "closed";
        const auto closed = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*closed, ConnectionState::AuthFailed));
        QVERIFY2(closed->lastError().contains(u"refused the user name or password"_s),
                 qPrintable(closed->lastError()));
    }

    void refusedSubscriptionIsToldByTheSubscriberId()
    {
        QCOMPARE(
            valueOf(send({"ACL", "SETUSER", "reader", "on", ">pw", "allkeys", "+@all", "resetchannels", "&mine"}))
                .text,
            QByteArray("OK"));
        auto options = optionsFor(m_server->address());
        options.user = "reader";
        options.password = "pw";
        const auto reader = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*reader, ConnectionState::Connected));
        const auto mine = reader->subscribe("mine", [](const redis::Message &) {});
        QVERIFY(answerOf(reader->subscriberId(soon())));
        {
            const auto other = reader->subscribe("other", [](const redis::Message &) {});
            QCOMPARE(codeOf(reader->subscriberId(soon())), code(ErrorCode::NoPermission));
        }
        QVERIFY(answerOf(reader->subscriberId(soon())));
    }

    void pubSubIsSharedAndEndsWithItsSubscription()
    {
        QByteArrayList heard;
        auto first = m_connection->subscribe("news", [&](const redis::Message &m) { heard << "1:" + m.payload; });
        auto second = m_connection->subscribe("news", [&](const redis::Message &m) { heard << "2:" + m.payload; });
        auto pattern = m_connection->subscribePattern(
            "n*", [&](const redis::Message &m) { heard << m.pattern + ' ' + m.channel + ' ' + m.payload; });
        QVERIFY(answerOf(m_connection->subscriberId(soon())));
        QCOMPARE(valueOf(send({"PUBLISH", "news", "a"})).integer, 2); // one channel, one pattern
        QTRY_COMPARE(heard, (QByteArrayList{"1:a", "2:a", "n* news a"}));

        heard.clear();
        first = {};
        pattern = {};
        const auto numberOfPatterns = [&] { return valueOf(send({"PUBSUB", "NUMPAT"})).integer; };
        QTRY_COMPARE(numberOfPatterns(), 0);
        QCOMPARE(valueOf(send({"PUBLISH", "news", "b"})).integer, 1);
        QTRY_COMPARE(heard, (QByteArrayList{"2:b"}));
        second = {};
        QTRY_COMPARE(valueOf(send({"PUBLISH", "news", "c"})).integer, 0);
        QCOMPARE(heard.size(), 1);
    }

    void listenerMayDestroyTheConnection()
    {
        auto doomed = redis::openConnection(m_loop, optionsFor(m_server->address()));
        QVERIFY(becomes(*doomed, ConnectionState::Connected));
        const auto subscription = doomed->subscribe("end", [&](const redis::Message &) { doomed.reset(); });
        QVERIFY(answerOf(doomed->subscriberId(soon())));
        QCOMPARE(valueOf(send({"PUBLISH", "end", "now"})).integer, 1);
        QTRY_VERIFY(!doomed);
    }

    void trackingTellsOfKeysAndOfFlushes()
    {
        QByteArrayList changed;
        const auto subscription = m_connection->subscribe(
            "__redis__:invalidate", [&](const redis::Message &m) { changed << '<' + m.payload + '>'; });
        const auto id = answerOf(m_connection->subscriberId(soon()));
        QVERIFY(id);
        QCOMPARE(valueOf(send({"CLIENT", "TRACKING", "ON", "REDIRECT", QByteArray::number(*id), "BCAST"})).text,
                 QByteArray("OK"));
        QVERIFY(answerOf(m_connection->pipeline({{"MSET", "a", "1", "b b\n", "2"}, {"FLUSHALL"}}, soon())));
        QTRY_VERIFY(changed.contains("<>"));
        QVERIFY(changed.contains("<a>"));
        QVERIFY(changed.contains("<b b\n>"));
    }

    void reconnectsAndRestoresSubscriptions()
    {
        QByteArrayList heard;
        QList<ConnectionState> states;
        const auto onState = m_connection->onState([&](ConnectionState state) { states << state; });
        const auto subscription =
            m_connection->subscribe("news", [&](const redis::Message &m) { heard << m.payload; });
        QVERIFY(answerOf(m_connection->subscriberId(soon())));

        m_server->stop();
        QTRY_COMPARE(m_connection->state(), ConnectionState::Connecting);
        QVERIFY(!m_connection->lastError().isEmpty());
        QCOMPARE(codeOf(send({"PING"})), code(ErrorCode::NotConnected));
        QVERIFY(m_server->start(10s));
        QVERIFY(becomes(*m_connection, ConnectionState::Connected));
        QCOMPARE(m_connection->lastError(), QString());
        QVERIFY(answerOf(m_connection->subscriberId(soon())));
        QCOMPARE(valueOf(send({"PUBLISH", "news", "again"})).integer, 1);
        QTRY_COMPARE(heard, (QByteArrayList{"again"}));
        QTRY_VERIFY(states.contains(ConnectionState::Connecting));
        QVERIFY(states.indexOf(ConnectionState::Connected) > states.indexOf(ConnectionState::Connecting));
    }

    void theSubscribersConnectionAloneBreaks()
    {
        int connectedCalls = 0;
        const auto onState = m_connection->onState(
            [&](ConnectionState state) { connectedCalls += state == ConnectionState::Connected ? 1 : 0; });
        const auto subscription = m_connection->subscribe("news", [](const redis::Message &) {});
        const auto before = answerOf(m_connection->subscriberId(soon()));
        QVERIFY(before);
        QCOMPARE(valueOf(send({"CLIENT", "KILL", "ID", QByteArray::number(*before)})).integer, 1);
        QTRY_COMPARE(connectedCalls, 1);
        QCOMPARE(m_connection->state(), ConnectionState::Connected);
        const auto after = answerOf(m_connection->subscriberId(soon()));
        QVERIFY(after);
        QVERIFY(*after != *before);
        QCOMPARE(valueOf(send({"PUBLISH", "news", "x"})).integer, 1);
    }

    void pendingCommandsOfADeadServerAreUnknown()
    {
        m_server->pause();
        const auto single = send({"SET", "k", "v"});
        const auto many = m_connection->pipeline({{"GET", "k"}, {"GET", "k"}}, soon());
        const auto script = m_connection->script(redis::loadScript("compare-and-delete"), {"k"}, {"v"}, soon());
        m_server->stop();
        QCOMPARE(codeOf(single), code(ErrorCode::UnknownOutcome));
        QCOMPARE(codeOf(many), code(ErrorCode::UnknownOutcome));
        QCOMPARE(codeOf(script), code(ErrorCode::UnknownOutcome));
    }

    void aDeadlineLeavesTheConnectionInStep()
    {
        m_server->pause();
        const auto late = m_connection->command({"INCR", "late"}, Deadline::after(m_loop, 30ms));
        const redis::Script unknown{"x", "return redis.call('INCR', 'scripted')", QByteArray(40, 'a')};
        const auto lateScript = m_connection->script(unknown, {}, {}, Deadline::after(m_loop, 30ms));
        const auto patient = send({"ECHO", "patient"});
        QCOMPARE(codeOf(late), code(ErrorCode::UnknownOutcome));
        QCOMPARE(codeOf(lateScript), code(ErrorCode::UnknownOutcome));
        QVERIFY(!patient.isComplete());
        m_server->resume();
        QCOMPARE(valueOf(patient).text, QByteArray("patient"));
        QCOMPARE(valueOf(send({"ECHO", "after"})).text, QByteArray("after"));
        QCOMPARE(valueOf(send({"GET", "late"})).text, QByteArray("1")); // it did happen
        QVERIFY(valueOf(send({"GET", "scripted"})).isNil());            // after "unknown" nothing more was sent
    }

    void aReplyBeyondTheLimitBreaksTheConnection()
    {
        auto options = optionsFor(m_server->address());
        options.replyLimitBytes = 64 * 1024;
        const auto small = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*small, ConnectionState::Connected));
        QCOMPARE(valueOf(send({"SETRANGE", "big", "200000", "x"})).integer, 200'001);
        const auto big = small->command({"GET", "big"}, soon());
        const auto next = small->command({"PING"}, soon());
        QCOMPARE(codeOf(big), code(ErrorCode::TooLarge));
        QCOMPARE(codeOf(next), code(ErrorCode::UnknownOutcome));
        QVERIFY(becomes(*small, ConnectionState::Connected));
        QCOMPARE(valueOf(small->command({"PING"}, soon())).text, QByteArray("PONG"));
    }

    void destroyedWithEverythingOut()
    {
        m_server->pause();
        const auto out = send({"PING"});
        const auto id = m_connection->subscriberId(soon());
        auto subscription = m_connection->subscribe("x", [](const redis::Message &) {});
        m_connection.reset();
        QCOMPARE(codeOf(out), code(ErrorCode::UnknownOutcome));
        QCOMPARE(codeOf(id), code(ErrorCode::NotConnected));
        subscription = {}; // outlived its connection
        m_server->resume();
    }

    void nobodyListens()
    {
        const auto connection = redis::openConnection(m_loop, optionsFor({u"127.0.0.1"_s, freePort()}));
        QTRY_VERIFY(!connection->lastError().isEmpty());
        QCOMPARE(connection->state(), ConnectionState::Connecting);
        QVERIFY(connection->lastError().contains(u"refused"_s));
    }

    void somethingElseListens()
    {
        QTcpServer web;
        QVERIFY(web.listen(QHostAddress::LocalHost));
        connect(&web, &QTcpServer::newConnection, this,
                [&] { web.nextPendingConnection()->write("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"); });
        const auto connection = redis::openConnection(m_loop, optionsFor({u"127.0.0.1"_s, web.serverPort()}));
        QTRY_VERIFY(connection->lastError().contains(u"does not use the protocol of Redis"_s));
        QCOMPARE(connection->state(), ConnectionState::Connecting);
    }

    void tlsChecksTheCertificate()
    {
        if (!QSslSocket::supportsSsl() || QStandardPaths::findExecutable(u"openssl"_s).isEmpty())
            QSKIP("no TLS in Qt, or no openssl to make a certificate with");
        QTemporaryDir folder;
        const auto file = [&](const QString &name) { return folder.filePath(name); };
        const auto madeCertificate = QProcess::execute(
            u"openssl"_s,
            {u"req"_s, u"-x509"_s, u"-newkey"_s, u"ec"_s, u"-pkeyopt"_s, u"ec_paramgen_curve:prime256v1"_s,
             u"-nodes"_s, u"-days"_s, u"2"_s, u"-subj"_s, u"/CN=lockscope test"_s, u"-addext"_s,
             u"subjectAltName=IP:127.0.0.1"_s, u"-keyout"_s, file(u"key.pem"_s), u"-out"_s, file(u"cert.pem"_s)});
        QCOMPARE(madeCertificate, 0);
        const auto port = freePort();
        sandbox::RedisOptions serverOptions;
        serverOptions.moreArguments = {"--tls-port",         QByteArray::number(port),
                                       "--tls-cert-file",    QFile::encodeName(file(u"cert.pem"_s)),
                                       "--tls-key-file",     QFile::encodeName(file(u"key.pem"_s)),
                                       "--tls-auth-clients", "no"};
        const auto server = startServer(serverOptions);
        if (!server)
            QSKIP("this redis-server has no TLS");

        auto options = optionsFor({u"127.0.0.1"_s, port});
        options.tls.isOn = true;
        const auto distrustful = redis::openConnection(m_loop, options);
        QTRY_VERIFY(distrustful->lastError().contains(u"self-signed"_s));
        QCOMPARE(distrustful->state(), ConnectionState::Connecting);

        options.tls.ca = file(u"cert.pem"_s);
        const auto trusting = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*trusting, ConnectionState::Connected));
        QCOMPARE(valueOf(trusting->command({"ECHO", "over TLS"}, soon())).text, QByteArray("over TLS"));
        QVERIFY(answerOf(trusting->subscriberId(soon())));

        options.host.host = u"localhost"_s; // the certificate names the address only
        const auto otherName = redis::openConnection(m_loop, options);
        QTRY_VERIFY(otherName->lastError().contains(u"host name"_s, Qt::CaseInsensitive));
    }
};

LOCKSCOPE_TEST(TestRedisClient)
#include "tst_redis_client.moc"
