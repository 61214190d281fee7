// SPDX-License-Identifier: Apache-2.0
// Force-release where something breaks in its middle, on each backend: two operators at once, a server that falls
// silent or dies between the intent and the answer, a disk that is full. Success is said only where it is known, and
// the audit file has a result for each intent.
#include "tests/live/mariadbfixture.h"
#include "tests/support/testmain.h"
#include "tests/support/ctlfixture.h"

#include "core/redis/client.h"

#include <QScopeGuard>

#include <array>

class TestCtlReleaseFaults : public MariaDbFixture {
    Q_OBJECT

    testing::Servers m_servers; // ZooKeeper's and Redis's
    std::unique_ptr<redis::Connection> m_redis;
    std::unique_ptr<mariadb::Session> m_sqlHolder;
    int m_count = 0;

    struct Held {
        QByteArray backend;
        QByteArray what; // node, key or name
        QString lock;
        QStringList forcing; // the arguments that take it away
    };

    static QByteArrayList backends() { return {"zk", "redis", "mariadb"}; }
    static void rows()
    {
        QTest::addColumn<QByteArray>("backend");
        for (const auto &backend : backends())
            QTest::newRow(backend.constData()) << backend;
    }
    sandbox::Server &serverOf(const QByteArray &backend)
    {
        if (backend == "zk")
            return *m_servers.zooKeeper;
        return backend == "redis" ? *m_servers.redis : *m_server;
    }
    [[nodiscard]] QStringList connect(const QByteArray &backend) const
    {
        const auto uri = backend == "zk"      ? m_servers.zk()
                         : backend == "redis" ? m_servers.redisUri()
                                              : u"mariadb://root@127.0.0.1:%1"_s.arg(m_server->address().port);
        return {u"--connect"_s, uri};
    }
    // A lock of its own that somebody holds.
    Held held(const QByteArray &backend)
    {
        const auto name = "fault-lock-" + QByteArray::number(++m_count);
        Held one{backend, name, QString::fromLatin1(backend) + u':', {}};
        if (backend == "zk") {
            const QByteArray folder = "/faults/" + name;
            m_servers.put("/faults");
            m_servers.put(folder);
            const auto node = testing::await(m_servers.session->create(
                ZPath(folder + "/_c_00000000-0000-4000-8000-000000000001-lock-"), {},
                zk::CreateMode::PersistentSequential, zk::openAcl(), m_servers.soon())); // outlives its session
            one.what = node ? node->path.bytes() : QByteArray();
            one.lock += QString::fromLatin1(folder);
        } else if (backend == "redis") {
            auto setting = m_redis->command({"SET", name, "83427f40e55111f1a2e7fac9e99d7ff8"}, soon());
            std::ignore = testing::answerOf(setting);
            one.lock += QString::fromLatin1(name);
        } else {
            m_sqlHolder = openConnected();
            std::ignore = run(*m_sqlHolder, "SELECT GET_LOCK('" + name + "', 5)");
            one.lock += u"GET_LOCK#"_s + QString::fromLatin1(name);
        }
        const auto shown = testing::run(connect(backend) + QStringList{u"show"_s, one.lock, u"--json"_s});
        const auto contenders = shown.json().value("lock"_L1).toObject().value("contenders"_L1).toArray();
        const auto id = contenders.at(0).toObject().value("id"_L1).toString();
        if (id.isEmpty())
            qWarning("%s", shown.what().constData());
        one.forcing = connect(backend) + QStringList{u"force-release"_s, one.lock, u"--holder"_s, id, u"--yes"_s};
        return one;
    }
    bool isHeld(const Held &one)
    {
        if (one.backend == "zk")
            return bool(testing::await(m_servers.session->exists(ZPath(one.what), std::nullopt, m_servers.soon())));
        if (one.backend == "redis") {
            auto asking = m_redis->command({"EXISTS", one.what}, soon());
            const auto answer = testing::answerOf(asking);
            return answer && answer->integer == 1;
        }
        return ask("SELECT IS_USED_LOCK('" + one.what + "')") != "NULL";
    }
    [[nodiscard]] QByteArray auditText() const
    {
        QFile file(m_servers.state.filePath(u"lockscope/audit.jsonl"_s));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    static QJsonArray records()
    {
        return testing::run({u"audit"_s, u"--json"_s}).json().value("records"_L1).toArray();
    }

    // Each backend's server breaks as soon as the intent is on the disk: then what is to be sent, is. All at once,
    // for each of them is waited for.
    void breakInMidRelease(const std::function<void(sandbox::Server &)> &breaks,
                           const std::function<void(sandbox::Server &)> &mends)
    {
        std::vector<Held> locks;
        for (const auto &backend : backends())
            locks.push_back(held(backend));
        std::vector<std::unique_ptr<Ctl>> programs;
        for (const auto &one : locks) {
            programs.push_back(std::make_unique<Ctl>(one.forcing));
            const QDeadlineTimer end(testing::patienceMs);
            const auto name = "\"" + one.lock.toUtf8() + "\"";
            while (!auditText().contains(name) && !end.hasExpired())
                QThread::usleep(100);
            breaks(serverOf(one.backend));
        }
        std::vector<Ran> ran;
        for (const auto &program : programs) {
            QVERIFY(QTest::qWaitFor([&] { return program->pid() == 0; }, 90'000));
            ran.push_back(program->finish());
        }
        for (const auto &backend : backends())
            mends(serverOf(backend));
        zk::SessionOptions options; // the old one may be over by now
        options.hosts = {m_servers.zooKeeper->address()};
        m_servers.session = zk::openSession(m_servers.loop, options);
        QVERIFY(testing::waitForState(*m_servers.session, zk::SessionState::Connected));
        QTRY_COMPARE_WITH_TIMEOUT(m_redis->state(), redis::ConnectionState::Connected, testing::patienceMs);
        QVERIFY(testing::becomes(*m_admin, mariadb::SessionState::Connected));
        for (size_t i = 0; i < ran.size(); ++i) {
            qInfo("%s: status %d, %s", locks[i].backend.constData(), ran[i].status,
                  ran[i].err.trimmed().split('\n').last().constData());
            if (ran[i].status == 0)
                QVERIFY2(!isHeld(locks[i]), ran[i].what());
            else
                QVERIFY2(ran[i].err.contains("may or may not")
                             || (ran[i].err.contains("nothing was changed") && isHeld(locks[i])),
                         ran[i].what());
        }
        const auto audit = testing::run({u"audit"_s});
        QVERIFY2(audit.status == 0 && !audit.err.contains("without a result"), audit.what());
    }

private slots:
    void initTestCase()
    {
        const auto why = m_servers.start();
        QVERIFY2(why.isEmpty(), qPrintable(why));
        const auto problem = startServer();
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        redis::ConnectionOptions options;
        options.host = m_servers.redis->address();
        m_redis = redis::openConnection(m_loop, options);
        QTRY_COMPARE(m_redis->state(), redis::ConnectionState::Connected);
    }
    void cleanupTestCase()
    {
        m_sqlHolder.reset();
        m_redis.reset();
        m_servers.stop();
        endServer();
    }

    void exactlyOneOfTwoOperatorsTakesIt_data() { rows(); }
    void exactlyOneOfTwoOperatorsTakesIt()
    {
        QFETCH(const QByteArray, backend);
        for (int round = 0; round < 3; ++round) {
            const auto one = held(backend);
            Ctl first(one.forcing), second(one.forcing);
            const std::array<Ran, 2> ran{first.finish(), second.finish()};
            const size_t took = ran[0].status == 0 ? 0 : 1;
            QVERIFY2(ran[took].status == 0 && ran[1 - took].status == 4, ran[0].what() + ran[1].what());
            QVERIFY2(!ran[1 - took].err.contains("by itself"), ran[1 - took].what());
            QVERIFY(!isHeld(one));
        }
        const auto audit = testing::run({u"audit"_s});
        QVERIFY2(audit.status == 0, audit.what());
    }

    void nothingIsSentWhereTheDiskIsFull_data() { rows(); }
    void nothingIsSentWhereTheDiskIsFull()
    {
        QFETCH(const QByteArray, backend);
        const auto one = held(backend);
        const auto before = records().size();
        QProcess shell;
        shell.start(u"/bin/sh"_s, QStringList{u"-c"_s, u"trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""_s,
                                              QStringLiteral(LOCKSCOPECTL)}
                                      + one.forcing);
        QVERIFY(shell.waitForFinished(testing::patienceMs));
        const auto said = shell.readAllStandardError();
        QVERIFY2(shell.exitCode() == 4 && said.contains("audit"), said);
        QVERIFY(isHeld(one));
        QCOMPARE(records().size(), before);
        QCOMPARE(testing::run({u"audit"_s}).status, 0);
    }

    void aServerThatFallsSilentInItsMiddleIsNoSuccess()
    {
        breakInMidRelease([](sandbox::Server &server) { server.pause(); },
                          [](sandbox::Server &server) { server.resume(); });
    }

    void aServerThatDiesInItsMiddleIsNoSuccess()
    {
        breakInMidRelease([](sandbox::Server &server) { server.stop(); },
                          [](sandbox::Server &server) {
                              const auto started = server.start(std::chrono::seconds(60));
                              QVERIFY2(started, testing::textOf(started));
                          });
    }
};

LOCKSCOPE_TEST(TestCtlReleaseFaults)
#include "tst_ctl_releasefaults.moc"
