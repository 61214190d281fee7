// SPDX-License-Identifier: Apache-2.0
// lockscopectl where things break: servers that stall, operators that are killed, privileges that are missing. What
// is said stays true, and every run ends. What breaks in the middle of a release: tst_ctl_releasefaults.
#include "tests/live/mariadbfixture.h"
#include "tests/program/endlessservers.h"
#include "tests/support/cable.h"
#include "tests/support/testmain.h"
#include "tests/support/ctlfixture.h"

#include "core/redis/client.h"

#include <QDateTime>
#include <QRandomGenerator>

class TestCtlFaults : public MariaDbFixture {
    Q_OBJECT

    std::unique_ptr<sandbox::Server> m_redisServer;
    std::unique_ptr<redis::Connection> m_redis;
    QTemporaryDir m_state;
    int m_count = 0;

    [[nodiscard]] QStringList sql(const QString &user = u"root"_s) const
    {
        return {u"--connect"_s, u"mariadb://%1@127.0.0.1:%2"_s.arg(user).arg(m_server->address().port)};
    }
    [[nodiscard]] QStringList keys() const
    {
        return {u"--connect"_s, u"redis://127.0.0.1:%1"_s.arg(m_redisServer->address().port)};
    }
    // A held lock of its own, and the arguments that take it away.
    QStringList forcing()
    {
        const auto key = "fault-lock-" + QByteArray::number(++m_count);
        const QByteArray token = "83427f40e55111f1a2e7fac9e99d7ff8";
        auto setting = m_redis->command({"SET", key, token}, soon());
        static_cast<void>(testing::answerOf(setting));
        return keys()
               + QStringList{u"force-release"_s, u"redis:"_s + QString::fromUtf8(key), u"--holder"_s,
                             QString::fromUtf8(token), u"--yes"_s};
    }
    static QJsonArray records()
    {
        return testing::run({u"audit"_s, u"--json"_s}).json().value("records"_L1).toArray();
    }
    // Ends while the event loop of the test goes on: its cables are carried there.
    static bool hasEnded(const Ctl &program)
    {
        return QTest::qWaitFor([&] { return program.pid() == 0; }, 90'000);
    }

private slots:
    void initTestCase()
    {
        qputenv("XDG_STATE_HOME", m_state.path().toUtf8());
        OK(startServer());
        OK(startInto(m_redisServer, sandbox::makeRedis()));
        m_redis = redis::openConnection(m_loop, {.host = m_redisServer->address()});
        QTRY_COMPARE(m_redis->state(), redis::ConnectionState::Connected);
        QVERIFY(run(*m_admin, "CREATE USER reader@'127.0.0.1'"));
        QVERIFY(run(*m_admin, "CREATE DATABASE q"));
        QVERIFY(run(*m_admin, "CREATE TABLE q.QRTZ_LOCKS (SCHED_NAME VARCHAR(60) NOT NULL, LOCK_NAME VARCHAR(40) NOT "
                              "NULL, PRIMARY KEY (SCHED_NAME, LOCK_NAME)) ENGINE=InnoDB"));
        QVERIFY(
            run(*m_admin, "INSERT INTO q.QRTZ_LOCKS VALUES ('sched', 'TRIGGER_ACCESS'), ('sched', 'STATE_ACCESS')"));
    }
    void cleanupTestCase()
    {
        m_redis.reset();
        m_redisServer.reset();
        endServer();
    }

    void aTrialSaysWhatItsUserMayDo()
    {
        const auto root = testing::run(sql() + QStringList{u"test"_s});
        QVERIFY2(root.status == 0, root.what());
        QVERIFY2(root.out.contains("\n  may see the locks and connections of others\n"), root.what());
        QVERIFY2(root.out.contains("\n  may end the connections of others\n"), root.what());
        const auto reader = testing::run(sql(u"reader"_s) + QStringList{u"test"_s});
        QVERIFY2(reader.out.contains("user reader@127.0.0.1"), reader.what());
        QVERIFY2(reader.out.contains("may not see the locks and connections of others: it has no PROCESS privilege"),
                 reader.what());
        QVERIFY2(reader.out.contains("may not end the connections of others"), reader.what());
    }

    // As Quartz locks, beside us: the name we print is one we take.
    void rowWithTwoKeyColumnsIsReleasedByItsName()
    {
        const auto lock = u"mariadb:q.QRTZ_LOCKS#SCHED_NAME=sched,LOCK_NAME=TRIGGER_ACCESS"_s;
        const auto quartz = openConnected();
        QVERIFY(run(*quartz, "SET autocommit=0"));
        QVERIFY(
            run(*quartz,
                "SELECT * FROM q.QRTZ_LOCKS WHERE SCHED_NAME = 'sched' AND LOCK_NAME = 'TRIGGER_ACCESS' FOR UPDATE"));
        Ctl waiter(sql() + QStringList{u"acquire"_s, lock, u"--recipe"_s, u"sql-for-update"_s, u"--json"_s});
        QVERIFY(someWait(1));
        const auto found = testing::run(sql() + QStringList{u"locks"_s, u"--json"_s});
        const auto locks = found.json().value("locks"_L1).toArray();
        QCOMPARE(locks.size(), 1);
        const auto seen = locks[0].toObject();
        QCOMPARE(seen.value("lock"_L1).toString(), lock);
        const auto holder = seen.value("contenders"_L1).toArray()[0].toObject().value("id"_L1).toString();
        const auto forced =
            testing::run(sql() + QStringList{u"force-release"_s, lock, u"--holder"_s, holder, u"--yes"_s});
        QVERIFY2(forced.status == 0, forced.what());
        QVERIFY(waiter.jsonLine().value("acquired"_L1).toBool());
    }

    // A table that is locked is a lock of its own: who has it, or waits for it, is taken for nobody who has a row.
    void aTableLockIsNotMisread_data()
    {
        const Rows<QByteArray> row("autocommit");
        row("no transaction", "1");
        row("in a transaction", "0"); // then InnoDB has a lock of the table, too
    }
    void aTableLockIsNotMisread()
    {
        QFETCH(const QByteArray, autocommit);
        const auto holder = openConnected();
        QVERIFY(run(*holder, "SET autocommit=" + autocommit));
        QVERIFY(run(*holder, "SELECT GET_LOCK('beside', 1)"));
        QVERIFY(run(*holder, "LOCK TABLES shop.stock WRITE"));
        const auto waiter = openConnected();
        const auto waiting =
            waiter->execute({"SELECT id FROM shop.stock WHERE id = 1 FOR UPDATE", {}, {}, false}, Deadline::never());
        QVERIFY(waitForTables(1));
        const auto listed = testing::run(sql() + QStringList{u"locks"_s, u"--all"_s, u"--json"_s});
        const auto locks = listed.json().value("locks"_L1).toArray();
        QStringList names;
        for (const auto one : locks)
            names << one.toObject().value("lock"_L1).toString();
        names.sort();
        QVERIFY2(names == (QStringList{u"mariadb:GET_LOCK#beside"_s, u"mariadb:TABLE#shop.stock"_s}), listed.what());
        const auto shown = testing::run(sql() + QStringList{u"show"_s, u"mariadb:shop.stock#id=1"_s});
        QVERIFY2(!shown.out.contains("holds"), shown.what());
        const auto found = testing::run(sql() + QStringList{u"findings"_s, u"--json"_s});
        for (const auto one : found.json().value("findings"_L1).toArray())
            QVERIFY2(one.toObject().value("locks"_L1).toArray() == QJsonArray{u"mariadb:TABLE#shop.stock"_s},
                     found.what());
        const auto taking = testing::run(sql()
                                         + QStringList{u"acquire"_s, u"mariadb:shop.stock#id=1"_s, u"--recipe"_s,
                                                       u"sql-for-update"_s, u"--wait"_s, u"500ms"_s});
        QVERIFY2(taking.status == 5, taking.what());
        QVERIFY(run(*holder, "UNLOCK TABLES"));
        QVERIFY(testing::answerOf(waiting));
    }

    // The network falls silent at three moments: before the greeting, after the handshake, during the first look.
    void aServerThatStallsIsNotWaitedForInSilence()
    {
        std::vector<std::unique_ptr<testing::Cable>> cables;
        std::vector<std::unique_ptr<Ctl>> programs;
        for (const qint64 bytes : {0, 140, 1500}) {
            cables.push_back(std::make_unique<testing::Cable>(m_server->address()));
            cables.back()->fallSilentAfter(bytes);
            const auto uri = u"mariadb://root@127.0.0.1:%1"_s.arg(cables.back()->address().port);
            programs.push_back(std::make_unique<Ctl>(QStringList{u"--connect"_s, uri, u"locks"_s}));
        }
        for (const auto &program : programs) {
            QVERIFY(hasEnded(*program));
            const auto ran = program->finish();
            QVERIFY2(ran.status == 3 || ran.status == 5, ran.what());
            QVERIFY2(ran.err.contains("not answer") || ran.err.contains("answering?")
                         || ran.err.contains("no reply for 30 s"),
                     ran.what());
            QVERIFY2(!ran.out.contains("no locks found") || ran.out.contains("Incomplete: "), ran.what());
        }
    }

    // Each answers at once, again and again. All are watched at the same time.
    void firstScanWithoutEndIsGivenUp()
    {
        const QString key = QString::fromLatin1(QByteArray("a/1").toBase64());
        const QJsonObject entry{{u"key"_s, key}, {u"create_revision"_s, u"5"_s}, {u"lease"_s, u"1"_s}};
        const QJsonObject same{{u"kvs"_s, QJsonArray{entry}}, {u"more"_s, true}};
        const QJsonObject noList{{u"kvs"_s, u"nonsense"_s}, {u"more"_s, true}};
        std::vector<std::pair<QString, std::unique_ptr<testing::LineServer>>> servers;
        const auto serve = [&](const QString &scheme, const auto &take) {
            servers.emplace_back(scheme, std::make_unique<testing::LineServer>(take));
        };
        serve(u"redis"_s, testing::endlessRedis({"lock:1", "lock:2", "stock:3"}));
        QByteArrayList invented{"lock:{}"};
        for (int i = 0; i < 40; ++i)
            invented << "stock:{}:" + QByteArray::number(i);
        serve(u"redis"_s, testing::endlessRedis(invented));
        serve(u"redis"_s, testing::endlessRedis({}));
        serve(u"etcd"_s, testing::endlessEtcd(same));
        serve(u"etcd"_s, testing::endlessEtcd(noList));
        std::vector<std::unique_ptr<Ctl>> programs;
        for (const auto &[scheme, server] : servers) {
            const auto uri = scheme + u"://"_s + server->address();
            programs.push_back(std::make_unique<Ctl>(QStringList{u"--connect"_s, uri, u"locks"_s}));
        }
        for (const auto &program : programs) {
            QVERIFY(hasEnded(*program));
            const auto ran = program->finish();
            QVERIFY2(ran.status == 5, ran.what());
            QVERIFY2(ran.err.contains("no reply for 30 s"), ran.what());
            QVERIFY2(ran.out.contains("Incomplete: "), ran.what());
        }
    }

    // A recording shows a lock as it was known in the stall, and not as if somebody had looked then.
    void aStallIsReplayedAsOneWithoutAnswers()
    {
        QTemporaryDir folder;
        const auto file = folder.filePath(u"stall.lockscope"_s);
        Ctl recorder(sql() + QStringList{u"record"_s, file});
        const auto holder = openConnected();
        QVERIFY(run(*holder, "SELECT GET_LOCK('in a stall', 1)"));
        const auto now = [] { return QDateTime::currentDateTimeUtc(); };
        const auto lockAt = [&](const QStringList &at) {
            const auto shown = testing::run(QStringList{u"replay"_s, file, u"locks"_s, u"--json"_s} + at);
            return shown.json().value("locks"_L1).toArray().at(0).toObject();
        };
        const auto observedAt = [&](const QDateTime &at) {
            const auto lock = lockAt({u"--at"_s, at.toString(Qt::ISODateWithMs)});
            return QDateTime::fromString(lock.value("observed"_L1).toString(), Qt::ISODateWithMs);
        };
        QTRY_VERIFY(!lockAt({}).isEmpty());
        m_server->pause();
        const auto paused = now();
        QTest::qWait(4000); // long enough to tell it from the second between two looks
        const auto stalled = now();
        m_server->resume();
        QTRY_VERIFY(observedAt(now().addSecs(-2)) > stalled);
        recorder.signal(SIGINT);
        const auto ran = recorder.finish();
        QVERIFY2(ran.status == 0, ran.what());
        QVERIFY(observedAt(stalled).isValid() && observedAt(stalled) <= paused.addMSecs(100));
    }

    // Paused, then killed and started again, while somebody watches: it is said, and what comes after is seen.
    void aWatchSaysThatItIsBlindAndGoesOn()
    {
        Ctl watching(sql() + QStringList{u"locks"_s, u"--watch"_s});
        const auto sees = [&](const QByteArray &name) {
            const auto holder = openConnected();
            if (!run(*holder, "SELECT GET_LOCK('" + name + "', 1)"))
                return false;
            for (int lines = 0; lines < 20; ++lines) {
                const auto line = watching.line();
                if (line.isEmpty() || line.contains(name))
                    return line.contains("\"added\"");
            }
            return false;
        };
        QVERIFY(sees("at first"));
        m_server->pause();
        QTest::qWait(4000); // its look is out, and unanswered for two seconds of these
        m_server->resume();
        QVERIFY(sees("after the pause"));
        m_server->stop();
        const auto started = m_server->start(std::chrono::seconds(60));
        QVERIFY2(started, testing::textOf(started));
        QVERIFY(testing::becomes(*m_admin, mariadb::SessionState::Connected));
        QVERIFY(sees("after the crash"));
        watching.signal(SIGINT);
        const auto ran = watching.finish();
        QVERIFY2(ran.status == 0, ran.what());
        // A look may have been out, or between two of its statements.
        QVERIFY2(ran.err.contains("has not answered")
                     && (ran.err.contains("the connection broke") || ran.err.contains("the connection was lost")),
                 ran.what());
    }

    void withoutThePrivilegeNothingIsClaimed()
    {
        const auto holder = openConnected();
        QVERIFY(run(*holder, "SELECT GET_LOCK('not yours', 1)"));
        const auto waiter = openConnected();
        const auto waiting =
            waiter->execute({"SELECT GET_LOCK('not yours', 1000)", {}, {}, false}, Deadline::never());
        QVERIFY(someWait(1));
        const auto lock = u"mariadb:GET_LOCK#not yours"_s;
        const auto shown = testing::run(sql(u"reader"_s) + QStringList{u"show"_s, lock});
        QVERIFY2(shown.status == 0 && shown.out.contains("; waiters are not visible")
                     && !shown.out.contains("; no client waits"),
                 shown.what());
        const auto found = testing::run(sql(u"reader"_s) + QStringList{u"findings"_s});
        QVERIFY2(found.out.contains("Incomplete: ") && found.out.contains("PROCESS"), found.what());
        const auto json = testing::run(sql(u"reader"_s) + QStringList{u"show"_s, lock, u"--json"_s}).json();
        const auto id = json.value("lock"_L1).toObject().value("contenders"_L1).toArray()[0].toObject();
        const auto forced = testing::run(
            sql(u"reader"_s)
            + QStringList{u"force-release"_s, lock, u"--holder"_s, id.value("id"_L1).toString(), u"--yes"_s});
        QVERIFY2(forced.status != 0 && !forced.err.contains("no longer exists")
                     && !forced.out.contains("no client waits\n"),
                 forced.what());
        QVERIFY2(forced.out.contains("not known"), forced.what()); // what else would be lost
        QVERIFY(run(*holder, "SELECT 1"));
    }

    // What goes with the connection is said before.
    void otherLocksAreNamedBeforeTheKill()
    {
        const auto holder = openConnected();
        QVERIFY(run(*holder, "SELECT GET_LOCK('first', 1)"));
        QVERIFY(run(*holder, "SELECT GET_LOCK('second', 1)"));
        const auto lock = u"mariadb:GET_LOCK#first"_s;
        const auto planned = [&] {
            const auto shown = testing::run(sql() + QStringList{u"show"_s, lock, u"--json"_s}).json();
            const auto id = shown.value("lock"_L1).toObject().value("contenders"_L1).toArray()[0].toObject();
            return testing::run(sql()
                                + QStringList{u"force-release"_s, lock, u"--holder"_s, id.value("id"_L1).toString(),
                                              u"--dry-run"_s, u"--json"_s});
        };
        const auto named = planned();
        QVERIFY2(named.json().value("otherLocksLost"_L1).toArray() == QJsonArray{u"mariadb:GET_LOCK#second"_s},
                 named.what());
        QVERIFY(run(*holder, "START TRANSACTION"));
        QVERIFY(run(*holder, "UPDATE shop.stock SET quantity = quantity + 1 WHERE id = 2"));
        const auto withRows = planned();
        QVERIFY2(named.json()["otherLocksComplete"_L1].toBool(), named.what());
        QVERIFY2(withRows.json()["otherLocksComplete"_L1] == QJsonValue(false), withRows.what()); // of rows
        QVERIFY2(withRows.out.contains("changed 1") && withRows.out.contains("GET_LOCK#second"), withRows.what());
    }

    void aKilledOperatorLeavesARecordThatSaysSo()
    {
        for (int round = 0; round < 8; ++round) {
            Ctl operator_(forcing());
            QTest::qWait(QRandomGenerator::global()->bounded(150));
            operator_.signal(SIGKILL);
            static_cast<void>(operator_.finish());
        }
        const auto audit = testing::run({u"audit"_s});
        QVERIFY2(audit.status == 0, audit.what());
        int intents = 0, results = 0, unfinished = 0;
        for (const auto &record : records()) {
            const auto phase = record.toObject().value("phase"_L1).toString();
            intents += phase == "intent"_L1 ? 1 : 0;
            results += phase == "result"_L1 ? 1 : 0;
            unfinished += record.toObject().value("unfinished"_L1).toBool() ? 1 : 0;
        }
        QCOMPARE(unfinished, intents - results);
        QCOMPARE(audit.err.contains("without a result"), unfinished > 0);
    }

    void oneLongKeyPadsNoTable()
    {
        const QByteArray key = QByteArray(100'000, 'x') + "-lock";
        auto setting = m_redis->command({"SET", key, "83427f40e55111f1a2e7fac9e99d7ff8"}, soon());
        QVERIFY(testing::answerOf(setting));
        const auto text = testing::run(keys() + QStringList{u"locks"_s, u"--all"_s});
        QVERIFY2(text.status == 0 && text.out.size() < 50'000, QByteArray::number(text.out.size()));
        const auto json = testing::run(keys() + QStringList{u"locks"_s, u"--all"_s, u"--json"_s});
        QVERIFY(json.out.contains("redis:" + key));
    }
};

LOCKSCOPE_TEST(TestCtlFaults)
#include "tst_ctl_faults.moc"
