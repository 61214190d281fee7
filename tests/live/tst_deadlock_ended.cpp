// SPDX-License-Identifier: Apache-2.0
// A deadlock that a real MariaDB or PostgreSQL ended itself: the clients, their statements, the client that was
// rolled back; where the server has only a number, the number.
#include "core/inspect/coverage.h"
#include "core/inspect/mariadb/observer.h"
#include "core/inspect/postgresql/observer.h"
#include "core/postgresql/dialect.h"
#include "core/sandbox/server.h"
#include "mariadbfixture.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/keepingsink.h"
#include "tests/support/testmain.h"

#include <algorithm>

using namespace lockscope::inspect;

class TestDeadlockEnded : public MariaDbFixture {
    Q_OBJECT

    static std::vector<EndedDeadlock> endedIn(const Observer &observer)
    {
        const auto coverage = observer.coverage();
        return coverage.empty() ? std::vector<EndedDeadlock>() : coverage.front().endedDeadlocks;
    }
    static bool becomesRead(const Observer &observer)
    {
        return QTest::qWaitFor([&] { return observer.firstSnapshot().isComplete(); }, patienceMs);
    }
    // Two transactions update two rows in opposite order. The number of statements that went well: of 4 one fails.
    int makeDeadlock(mariadb::Session &one, mariadb::Session &other, const QByteArray &table,
                     const std::function<bool()> &isWaiting)
    {
        const auto update = [&table](int id) {
            return "UPDATE " + table + " SET n = n + 1 WHERE id = " + QByteArray::number(id);
        };
        must(one, "BEGIN");
        must(other, "BEGIN");
        must(one, update(1));
        must(other, update(2));
        const auto waiting = send(one, update(2));
        if (!QTest::qWaitFor(isWaiting, patienceMs))
            return 0;
        const auto closing = send(other, update(1));
        if (!QTest::qWaitFor([&] { return waiting.isComplete() && closing.isComplete(); }, patienceMs))
            return 0;
        const int succeeded = 2 + (answerOf(waiting) ? 1 : 0) + (answerOf(closing) ? 1 : 0);
        must(one, "ROLLBACK");
        must(other, "ROLLBACK");
        return succeeded;
    }
    int makeMariaDbDeadlock(mariadb::Session &one, mariadb::Session &other)
    {
        return makeDeadlock(one, other, "shop.pairs", [this] { return someWait(1); });
    }
    [[nodiscard]] testing::Ran ctlFindings(const QString &user = u"root"_s) const
    {
        return testing::run({u"--json"_s, u"--connect"_s,
                             u"db=mariadb://%1@127.0.0.1:%2"_s.arg(user).arg(m_server->address().port),
                             u"findings"_s});
    }
    static QJsonObject endedFinding(const testing::Ran &ran)
    {
        for (const auto &finding : ran.json()[u"findings"_s].toArray()) {
            if (finding[u"code"_s] == u"deadlock-ended"_s)
                return finding.toObject();
        }
        return {};
    }

private slots:
    void initTestCase() { SKIP_FOR(startServer()); }
    void init()
    {
        must(*m_admin, "CREATE OR REPLACE TABLE shop.pairs (id INT PRIMARY KEY, n INT) ENGINE=InnoDB");
        must(*m_admin, "INSERT INTO shop.pairs VALUES (1, 1), (2, 1)");
    }
    void cleanupTestCase()
    {
        if (m_server)
            endServer();
    }

    void mariaDbDeadlockIsReported()
    {
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        observer.start();
        QVERIFY(becomesRead(observer));
        QVERIFY(endedIn(observer).empty());
        const auto before = ctlFindings();
        QCOMPARE(before.status, 0);
        QVERIFY(endedFinding(before).isEmpty());

        const auto one = openConnected(), other = openConnected();
        QCOMPARE(makeMariaDbDeadlock(*one, *other), 3);
        QVERIFY(QTest::qWaitFor([&] { return !endedIn(observer).empty(); }, patienceMs));
        const auto ended = endedIn(observer);
        QCOMPARE(ended.size(), std::size_t(1));
        QVERIFY2(ended[0].unknown.isEmpty(), qPrintable(ended[0].unknown));
        QVERIFY(!ended[0].isAtLatest);
        QCOMPARE(ended[0].count, 1);
        QCOMPARE(ended[0].parties.size(), std::size_t(2));
        QCOMPARE(std::ranges::count(ended[0].parties, true, &EndedDeadlock::Party::isRolledBack), 1);
        for (const auto &[session, id] : {std::pair(one.get(), 2), std::pair(other.get(), 1)}) {
            const auto party = std::ranges::find(ended[0].parties, QString::number(session->connectionId()),
                                                 &EndedDeadlock::Party::session);
            QVERIFY(party != ended[0].parties.end());
            QCOMPARE(party->statement, "UPDATE shop.pairs SET n = n + 1 WHERE id = " + QByteArray::number(id));
            QCOMPARE(party->awaited, "shop.pairs#id=" + QByteArray::number(id));
        }

        // It happened before this run began.
        const auto found = endedFinding(ctlFindings());
        QCOMPARE(found[u"connection"_s], u"db"_s);
        auto locks = found[u"locks"_s].toArray().toVariantList();
        QCOMPARE(locks.size(), 2);
        QVERIFY(locks.contains(u"db:shop.pairs#id=1"_s) && locks.contains(u"db:shop.pairs#id=2"_s));
        QCOMPARE(found[u"deadlock"_s][u"parties"_s].toArray().size(), 2);
        QVERIFY(found[u"deadlock"_s][u"isTimeExact"_s].toBool());
        QVERIFY(found[u"message"_s].toString().contains(u"was rolled back"_s));

        QCOMPARE(makeMariaDbDeadlock(*one, *other), 3);
        QVERIFY(QTest::qWaitFor([&] { return endedIn(observer).size() == 2; }, patienceMs));
    }

    // In the past of each lock, also where that was not contended when it was recorded.
    void recordedDeadlockIsInTheTimeline()
    {
        const auto one = openConnected(), other = openConnected();
        QCOMPARE(makeMariaDbDeadlock(*one, *other), 3);
        must(*one, "BEGIN");
        must(*one, "UPDATE shop.pairs SET n = 1 WHERE id = 1");
        must(*other, "BEGIN");
        const auto waiting = send(*other, "UPDATE shop.pairs SET n = 2 WHERE id = 1");
        QVERIFY(someWait(1));
        const QTemporaryDir folder;
        const auto file = folder.filePath(u"deadlock.lockscope"_s);
        const auto recorded =
            testing::run({u"--connect"_s, u"db=mariadb://root@127.0.0.1:%1"_s.arg(m_server->address().port),
                          u"record"_s, file, u"--for"_s, u"3s"_s});
        QVERIFY2(recorded.status == 0, recorded.what());
        must(*one, "ROLLBACK");
        QVERIFY(QTest::qWaitFor([&] { return waiting.isComplete(); }, patienceMs));
        must(*other, "ROLLBACK");
        const auto shown =
            testing::run({u"--json"_s, u"replay"_s, file, u"show"_s, u"db:shop.pairs#id=1"_s, u"--timeline"_s});
        QVERIFY2(shown.status == 0, shown.what());
        QStringList ended;
        for (const auto &event : shown.json()[u"timeline"_s][u"events"_s].toArray()) {
            if (event[u"event"_s] == u"deadlock-ended"_s)
                ended << event[u"words"_s].toString();
        }
        QCOMPARE(ended.size(), 1);
        QVERIFY2(ended.front().contains(u"was rolled back"_s), shown.what());
        QVERIFY2(ended.front().contains(u"in \"UPDATE shop.pairs SET n = n + 1 WHERE id = 1\""_s), shown.what());
        const auto noted = testing::run({u"replay"_s, file, u"note"_s, u"db:shop.pairs#id=1"_s});
        QVERIFY2(noted.status == 0 && noted.out.contains("info `deadlock-ended`"), noted.what());
    }

    void missingPrivilegeIsAGap()
    {
        must(*m_admin, "CREATE OR REPLACE USER nobody@'127.0.0.1'");
        const auto ran = ctlFindings(u"nobody"_s);
        QVERIFY2(ran.out.contains("deadlocks that the server ended cannot be seen: the PROCESS privilege is missing"),
                 ran.what());
        QVERIFY(endedFinding(ran).isEmpty());
    }

    void postgreSqlDeadlockIsCounted()
    {
        std::unique_ptr<sandbox::Server> server;
        START_OR_SKIP(server, sandbox::makePostgreSql());
        const auto connect = [&] {
            mariadb::SessionOptions options{.host = server->address(), .user = u"shop"_s};
            options.database = u"shop"_s;
            auto session = postgresql::openSession(m_loop, options);
            return becomes(*session, mariadb::SessionState::Connected) ? std::move(session) : nullptr;
        };
        const auto watching = connect(), one = connect(), other = connect();
        QVERIFY(watching && one && other);
        must(*one, "CREATE TABLE public.pairs (id INT PRIMARY KEY, n INT)");
        must(*one, "INSERT INTO public.pairs VALUES (1, 1), (2, 1)");
        testing::KeepingSink sink;
        PostgreSqlObserver observer(*watching, ConnectionName("pg"), {}, sink);
        observer.start();
        QVERIFY(becomesRead(observer));
        QVERIFY(endedIn(observer).empty());
        const auto isWaiting = [&] {
            return std::ranges::any_of(observer.snapshots(),
                                       [](const LockSnapshot &lock) { return lock.waiterCount() > 0; });
        };
        QCOMPARE(makeDeadlock(*one, *other, "public.pairs", isWaiting), 3);
        QVERIFY(QTest::qWaitFor([&] { return !endedIn(observer).empty(); }, patienceMs));
        const auto ended = endedIn(observer).front();
        QVERIFY(ended.isAtLatest && ended.parties.empty());
        QCOMPARE(ended.count, 1);
        QVERIFY(ended.unknown.contains(u"its log lists the clients"_s));
        QCOMPARE(findingsOfEndedDeadlocks(observer.coverage()).size(), std::size_t(1));
    }
};

LOCKSCOPE_TEST(TestDeadlockEnded)
#include "tst_deadlock_ended.moc"
