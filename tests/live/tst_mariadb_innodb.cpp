// SPDX-License-Identifier: Apache-2.0
// What a real MariaDB says of locks that are no row's: gaps, prepared XA transactions, a server that is stopped for a
// backup; and rows that are locks by what stands in them.
#include "core/inspect/findings.h"
#include "core/inspect/mariadb/observer.h"
#include "core/inspect/waits/waitgraph.h"
#include "core/recipes/make.h"
#include "mariadbfixture.h"
#include "tests/support/finish.h"
#include "tests/support/keepingsink.h"
#include "tests/support/testmain.h"

#include <algorithm>

using namespace lockscope::inspect;

class TestMariaDbInnoDb : public MariaDbFixture {
    Q_OBJECT

    const QByteArray row{"shop.gaps#id=10"}, gap{"before shop.gaps#id=10"};

    Result<LockSnapshot> readNow(const QByteArray &name)
    {
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        return testing::finish(m_loop, observer.readNow(name, soon()));
    }
    std::vector<LockSnapshot> readAll(QStringList *gaps = nullptr)
    {
        testing::KeepingSink sink;
        ObserverOptions options{.follow = false};
        MariaDbObserver observer(*m_admin, ConnectionName("db"), options, sink);
        observer.start();
        if (!QTest::qWaitFor([&] { return observer.firstSnapshot().isComplete(); }, patienceMs))
            qFatal("no first look");
        for (const auto &part : observer.coverage()) {
            if (gaps && !part.complete)
                *gaps << part.message;
            for (const auto &wait : gaps ? part.unexplained : std::vector<Unexplained>())
                *gaps << wait.text;
        }
        return observer.snapshots();
    }
    // "11 holds, 12 waits for 11".
    static QString words(const LockSnapshot &lock)
    {
        QStringList all;
        for (const auto &contender : lock.contenders) {
            QStringList targets;
            for (const auto &edge : contender.watches)
                targets << QString::fromUtf8(edge.target.left(edge.target.indexOf('@')));
            all << *contender.session
                       + (contender.role == Role::Holder ? u" holds"_s : u" waits for "_s + targets.join(u' '));
        }
        return all.join(u", "_s);
    }
    static QString numberOf(const mariadb::Session &session) { return QString::number(session.connectionId()); }
    bool waitsForRow(const mariadb::Session &session)
    {
        const auto question = "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT' AND "
                              "trx_mysql_thread_id = "
                              + QByteArray::number(session.connectionId());
        return eventuallyAsking(150ms, [&] { return ask(question).toInt() == 1; });
    }
    ErrorCode acquired(const QByteArray &lock, QString *why = nullptr)
    {
        const auto session = openConnected();
        auto made = recipes::makeLock("sql-for-update", *session, lock, {}, Random(1));
        if (!made)
            return made.error().code;
        const auto grant = testing::finish(m_loop, (*made)->acquire(Deadline::after(m_loop, 2s)));
        if (why && !grant)
            *why = grant.error().message;
        return grant ? ErrorCode{} : grant.error().code;
    }

private slots:
    void initTestCase() { SKIP_FOR(startServer()); }
    void init()
    {
        must(*m_admin, "CREATE OR REPLACE TABLE shop.gaps (id INT PRIMARY KEY, n INT) ENGINE=InnoDB");
        must(*m_admin, "INSERT INTO shop.gaps VALUES (1, 1), (10, 1)");
    }
    void cleanup() { QVERIFY(nothingIsHeld()); }
    void cleanupTestCase()
    {
        if (m_server)
            endServer();
    }

    // Two have the gap before 10, one of them inserts; another has the row, and one waits for that.
    void aGapIsNotTheRow()
    {
        const auto inserter = openConnected(), gapHolder = openConnected(), rowHolder = openConnected(),
                   rowWaiter = openConnected();
        must(*inserter, "START TRANSACTION");
        must(*inserter, "SELECT * FROM shop.gaps WHERE id = 4 FOR UPDATE");
        must(*gapHolder, "START TRANSACTION");
        must(*gapHolder, "SELECT * FROM shop.gaps WHERE id = 5 FOR UPDATE");
        const auto inserting = send(*inserter, "INSERT INTO shop.gaps VALUES (4, 4)");
        QVERIFY(waitsForRow(*inserter));
        auto lock = readNow(gap);
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(lock->recipe, QByteArray("sql-innodb-lock"));
        QCOMPARE(words(*lock), u"%1 holds, %2 waits for %1"_s.arg(numberOf(*gapHolder), numberOf(*inserter)));
        QCOMPARE(codeOf(readNow(row)), code(ErrorCode::NoNode));
        QCOMPARE(acquired(row), ErrorCode{}); // it is free, and nothing says otherwise
        QCOMPARE(acquired(gap), ErrorCode::BadInput);

        must(*rowHolder, "START TRANSACTION");
        must(*rowHolder, "SELECT * FROM shop.gaps WHERE id = 10 FOR UPDATE");
        const auto updating = send(*rowWaiter, "UPDATE shop.gaps SET n = 3 WHERE id = 10");
        QVERIFY(waitsForRow(*rowWaiter));
        const auto all = readAll();
        QCOMPARE(all.size(), std::size_t(2));
        QCOMPARE(words(all[0]), u"%1 holds, %2 waits for %1"_s.arg(numberOf(*gapHolder), numberOf(*inserter)));
        QCOMPARE(words(all[1]), u"%1 holds, %2 waits for %1"_s.arg(numberOf(*rowHolder), numberOf(*rowWaiter)));
        const auto &idle = all[1].contenders[0].work, &running = all[1].contenders[1].work;
        QVERIFY(idle && running);
        // Our client asks whether its server is there (DO 0), which may be its last statement by now.
        const QByteArrayList last{"SELECT * FROM shop.gaps WHERE id = 10 FOR UPDATE", "DO 0"};
        QVERIFY2(last.contains(idle->statement), idle->statement);
        QVERIFY(!idle->isRunning && idle->transactionSince);
        QCOMPARE(running->statement, QByteArray("UPDATE shop.gaps SET n = 3 WHERE id = 10"));
        QVERIFY(running->isRunning);
        const auto graph = waitGraphOf(all, {}, std::chrono::system_clock::now());
        QVERIFY(graph.cycles.empty());
        QCOMPARE(graph.roots.size(), std::size_t(2));
        must(*gapHolder, "ROLLBACK");
        must(*rowHolder, "ROLLBACK");
        QVERIFY(QTest::qWaitFor([&] { return inserting.isComplete() && updating.isComplete(); }, patienceMs));
        must(*inserter, "ROLLBACK");
    }

    void aPreparedXaTransactionHasNoSession()
    {
        auto client = openConnected();
        for (const auto *text : {"XA START 'order-7'", "UPDATE shop.gaps SET n = 0 WHERE id = 1", "XA END 'order-7'",
                                 "XA PREPARE 'order-7'"})
            must(*client, text);
        client.reset();
        const auto waiter = openConnected();
        const auto waiting = send(*waiter, "UPDATE shop.gaps SET n = 2 WHERE id = 1");
        QVERIFY(waitsForRow(*waiter));
        const auto lock = readNow("shop.gaps#id=1");
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(*lock->contenders[0].identity, QByteArray("prepared XA transaction order-7"));
        QVERIFY(!lock->contenders[0].session);
        QVERIFY(lock->find(FindingCode::IdleInTransaction));
        must(*m_admin, "XA ROLLBACK 'order-7'");
        QVERIFY(QTest::qWaitFor([&] { return waiting.isComplete(); }, patienceMs));
    }

    // With the instrument its holder is named; without, it is counted who waits.
    void aStoppedServerIsSaid()
    {
        const auto backup = openConnected(), writer = openConnected();
        must(*backup, "FLUSH TABLES WITH READ LOCK");
        const auto writing = send(*writer, "UPDATE shop.gaps SET n = 9 WHERE id = 10");
        const auto isStopped = [&] {
            return ask("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'Waiting for backup lock' "
                       "AND TIME_MS > 200")
                       .toInt()
                   == 1;
        };
        QVERIFY(QTest::qWaitFor(isStopped, patienceMs));
        const auto lock = readNow("SERVER#BACKUP");
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(words(*lock), u"%1 holds, %2 waits for %1"_s.arg(numberOf(*backup), numberOf(*writer)));
        const auto instrument = [this](const char *on) {
            must(*m_admin, QByteArray("UPDATE performance_schema.setup_instruments SET ENABLED = '") + on
                               + "' WHERE NAME = 'wait/lock/metadata/sql/mdl'");
        };
        instrument("NO");
        QStringList gaps;
        const auto all = readAll(&gaps);
        instrument("YES");
        QVERIFY(std::ranges::all_of(all, [](const LockSnapshot &one) { return one.holderCount() == 0; }));
        QVERIFY2(gaps.join(u' ').contains(u"1 connection waits in the state \"Waiting for backup lock\""_s),
                 qPrintable(gaps.join(u'\n')));
        must(*backup, "UNLOCK TABLES");
        QVERIFY(QTest::qWaitFor([&] { return writing.isComplete(); }, patienceMs));
    }

    // Its owner is not in a transaction: a row lock would be had at once.
    void aRowWithAnOwnerIsNotAcquired()
    {
        must(*m_admin, "CREATE OR REPLACE TABLE shop.knex_migrations_lock (`index` INT PRIMARY KEY, is_locked INT)");
        must(*m_admin, "INSERT INTO shop.knex_migrations_lock VALUES (1, 1), (2, 0)");
        QString why;
        QCOMPARE(acquired("shop.knex_migrations_lock#index=1", &why), ErrorCode::Refused);
        QVERIFY2(why.contains(u"is_locked = 1"_s), qPrintable(why));
        QCOMPARE(acquired("shop.knex_migrations_lock#index=2"), ErrorCode{});
        must(*m_admin,
             "CREATE OR REPLACE TABLE shop.leases (id INT PRIMARY KEY, lock_until DATETIME(3), locked_by TEXT)");
        must(*m_admin, "INSERT INTO shop.leases VALUES (1, UTC_TIMESTAMP() + INTERVAL 1 DAY, 'a'), "
                       "(2, UTC_TIMESTAMP() - INTERVAL 2 DAY, 'b'), (3, '0000-00-00', 'c')");
        QCOMPARE(acquired("shop.leases#id=1", &why), ErrorCode::Refused);
        QVERIFY2(why.contains(u"lock_until = 20"_s), qPrintable(why));
        const auto expired = acquired("shop.leases#id=2", &why);
        QVERIFY2(expired == ErrorCode{}, qPrintable(why));
        // The client library cannot read it as a time.
        const auto zero = acquired("shop.leases#id=3", &why);
        QVERIFY2(zero == ErrorCode{}, qPrintable(why));
        must(*m_admin, "CREATE OR REPLACE TABLE shop.job_lock (id INT PRIMARY KEY, acquired DATETIME(3))");
        must(*m_admin, "INSERT INTO shop.job_lock VALUES (1, UTC_TIMESTAMP()), (2, '0000-00-00')");
        QCOMPARE(acquired("shop.job_lock#id=1", &why), ErrorCode::Refused);
        QVERIFY2(why.contains(u"acquired = 20"_s), qPrintable(why));
        const auto never = acquired("shop.job_lock#id=2", &why);
        QVERIFY2(never == ErrorCode{}, qPrintable(why));
    }
};

LOCKSCOPE_TEST(TestMariaDbInnoDb)
#include "tst_mariadb_innodb.moc"
