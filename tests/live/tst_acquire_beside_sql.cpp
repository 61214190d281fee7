// SPDX-License-Identifier: Apache-2.0
// Whatever holds a lock of a SQL server or of etcd, by whichever name: no recipe of ours gets it beside that, but the
// one that keeps nobody out (a version column).
#include "besidefixture.h"
#include "etcdfixture.h"
#include "mariadbfixture.h"
#include "psql.h"

#include "core/sandbox/server.h"

#include <QStandardPaths>

class TestAcquireBesideSql : public BesideFixture {
    Q_OBJECT

    std::unique_ptr<sandbox::Server> m_mariaDb, m_postgreSql, m_etcd;

    static std::unique_ptr<sandbox::Server> started(Result<std::unique_ptr<sandbox::Server>> made)
    {
        if (!made)
            return nullptr;
        auto server = std::move(*made);
        const auto up = server->start(60s);
        return up ? std::move(server) : nullptr;
    }
    static ConnectionSpec specOf(Scheme scheme, const char *name, const sandbox::Server &server)
    {
        return ConnectionSpec{.name = ConnectionName(name), .scheme = scheme, .hosts = {server.address()}};
    }
    [[nodiscard]] QString shop() const
    {
        return u"postgresql://shop@127.0.0.1:%1/shop"_s.arg(m_postgreSql->address().port);
    }

private slots:
    void initTestCase()
    {
        qputenv("XDG_STATE_HOME", m_state.path().toUtf8());
        m_mariaDb = started(sandbox::makeMariaDb());
        const bool hasPsql = !QStandardPaths::findExecutable(u"psql"_s).isEmpty();
        m_postgreSql = hasPsql ? started(sandbox::makePostgreSql()) : nullptr;
        m_etcd = started(sandbox::makeEtcd());
        std::vector<ConnectionSpec> specs;
        if (m_mariaDb) {
            specs.push_back(specOf(Scheme::MariaDb, "mariadb", *m_mariaDb));
            specs.back().user = u"root"_s;
            specs.back().databaseName = u"shop"_s;
        }
        if (m_postgreSql) {
            specs.push_back(specOf(Scheme::PostgreSql, "postgresql", *m_postgreSql));
            specs.back().user = specs.back().databaseName = u"shop"_s;
        }
        if (m_etcd)
            specs.push_back(specOf(Scheme::Etcd, "etcd", *m_etcd));
        connectTo(specs);
    }
    void cleanupTestCase()
    {
        m_workspace.reset();
        m_etcd.reset();
        m_postgreSql.reset();
        m_mariaDb.reset();
    }

    void onMariaDb_data()
    {
        addColumns<QByteArray, QByteArrayList, QByteArrayList, QByteArrayList>("lock", "statements", "waiting",
                                                                               "keepingNobodyOut");
        const auto row = [](const char *name, const QByteArray &lock, const QByteArrayList &statements,
                            const char *waiting, const char *keepingNobodyOut = "") {
            QTest::newRow(name) << lock << statements << listed(waiting) << listed(keepingNobodyOut);
        };
        row("a named lock", "GET_LOCK#beside", {"SELECT GET_LOCK('beside', 0)"}, "sql-get-lock");
        row("a row", "shop.stock#id=1", {"START TRANSACTION", "SELECT id FROM shop.stock WHERE id = 1 FOR UPDATE"},
            "sql-for-update", "sql-version");
        row("a row that is shared", "shop.stock#id=1",
            {"START TRANSACTION", "SELECT id FROM shop.stock WHERE id = 1 LOCK IN SHARE MODE"}, "sql-for-update",
            "sql-version");
        row("a table, its row", "shop.stock#id=1", {"LOCK TABLES shop.stock WRITE"}, "sql-for-update sql-version");
        row("a table", "TABLE#shop.stock", {"LOCK TABLES shop.stock WRITE"}, "");
        row("ShedLock", "SHEDLOCK#shop.shedlock#job",
            {"INSERT INTO shop.shedlock (name, lock_until, locked_at, locked_by) VALUES ('job', UTC_TIMESTAMP(3) + INTERVAL 1 DAY, UTC_TIMESTAMP(3), 'app-7')"},
            "sql-shedlock");
        row("a mark", "MARK#shop.lock_marks#job",
            {"INSERT INTO shop.lock_marks VALUES ('job', 'app-7', UTC_TIMESTAMP(3))"}, "sql-insert-mark");
        row("a mark, by its row", "shop.lock_marks#name=night",
            {"INSERT INTO shop.lock_marks VALUES ('night', 'app-7', UTC_TIMESTAMP(3))"}, "");
        row("a flag", "FLAG#shop.lock_flags#1", {"UPDATE shop.lock_flags SET status = 1, version = 7"},
            "sql-status-flag");
        row("a flag, by its row", "shop.lock_flags#id=2", {"INSERT INTO shop.lock_flags VALUES (2, 7, 1)"}, "");
        row("ShedLock, by its row", "shop.shedlock#name=night",
            {"INSERT INTO shop.shedlock (name, lock_until, locked_at, locked_by) VALUES ('night', UTC_TIMESTAMP(3) + INTERVAL 1 DAY, UTC_TIMESTAMP(3), 'app-7')"},
            "");
        row("Liquibase, by its row", "shop.DATABASECHANGELOGLOCK#ID=1",
            {"CREATE TABLE shop.DATABASECHANGELOGLOCK (ID INT PRIMARY KEY, LOCKED BIT(1) NOT NULL, LOCKGRANTED DATETIME, LOCKEDBY VARCHAR(255)) ENGINE=InnoDB",
             "INSERT INTO shop.DATABASECHANGELOGLOCK VALUES (1, 1, NOW(), 'app-7 (10.0.5.7)')"},
            "");
    }
    void onMariaDb()
    {
        QFETCH(QByteArray, lock);
        QFETCH(QByteArrayList, statements);
        QFETCH(QByteArrayList, waiting);
        QFETCH(QByteArrayList, keepingNobodyOut);
        if (!m_mariaDb)
            QSKIP("mariadbd is not installed");
        const auto other = mariadb::openSession(m_loop, sqlOptionsFor(m_mariaDb->address()));
        QVERIFY(becomes(*other, mariadb::SessionState::Connected));
        for (const auto &statement : statements) {
            const auto done = answerOf(other->execute({statement, {}, std::nullopt, false}, soon()));
            QVERIFY2(done, done ? "" : qPrintable(done.error().message));
        }
        nobodyGetsIt(BackendKind::MariaDb, {ConnectionName("mariadb"), lock}, waiting, keepingNobodyOut);
    }

    void onPostgreSql_data()
    {
        addColumns<QByteArray, QByteArray, QByteArrayList>("lock", "statements", "waiting");
        const auto row = [](const char *name, const QByteArray &lock, const QByteArray &statements,
                            const char *waiting) { QTest::newRow(name) << lock << statements << listed(waiting); };
        row("an advisory lock", "ADVISORY#42", "SELECT pg_advisory_lock(42);", "pg-advisory");
        row("an advisory lock of a transaction", "ADVISORY#7,42", "BEGIN; SELECT pg_advisory_xact_lock(7, 42);",
            "pg-advisory");
        row("a shared advisory lock", "ADVISORY#43", "SELECT pg_advisory_lock_shared(43);", "pg-advisory");
        row("a row", "public.stock#id=1", "BEGIN; SELECT id FROM stock WHERE id = 1 FOR UPDATE;",
            "pg-for-update pg-skip-locked");
        row("a row that is shared", "public.stock#id=1", "BEGIN; SELECT id FROM stock WHERE id = 1 FOR SHARE;",
            "pg-for-update pg-skip-locked");
        row("a table, its row", "public.stock#id=1", "BEGIN; LOCK TABLE stock;", "pg-for-update pg-skip-locked");
        row("a table", "public.stock", "BEGIN; LOCK TABLE stock;", "");
        row("ShedLock, by its row", "public.shedlock#name=night",
            "CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP NOT NULL, locked_at TIMESTAMP NOT "
            "NULL, locked_by VARCHAR(255) NOT NULL); INSERT INTO shedlock VALUES ('night', now() + INTERVAL '1 day', now(), 'app-7');",
            "");
    }
    void onPostgreSql()
    {
        QFETCH(QByteArray, lock);
        QFETCH(QByteArray, statements);
        QFETCH(QByteArrayList, waiting);
        if (!m_postgreSql)
            QSKIP("PostgreSQL or psql is not installed");
        Psql other(shop());
        const auto said = other.ask(statements);
        QVERIFY2(!said.contains("ERROR"), said);
        nobodyGetsIt(BackendKind::PostgreSql, {ConnectionName("postgresql"), lock}, waiting);
    }

    void onEtcd_data()
    {
        const Rows<QStringList> row("client");
        row("a mutex", {u"lock"_s, u"beside"_s});
        row("an election", {u"elect"_s, u"chosen"_s, u"me"_s});
    }
    // Both are queues of the same form: who is first by the revision has it.
    void onEtcd()
    {
        QFETCH(QStringList, client);
        if (!m_etcd)
            QSKIP("etcd is not installed");
        EtcdCtl other(m_etcd->address(), client);
        QVERIFY(!other.line().isEmpty());
        nobodyGetsWhatIsSeen({ConnectionName("etcd"), client[1].toUtf8()}, {"etcd-mutex"});
    }
    // As a shell completes it: the keys of that one are below those of this, and it waits for none of them.
    void aSlashAtTheEndIsNoWayIn()
    {
        if (!m_etcd)
            QSKIP("etcd is not installed");
        EtcdCtl other(m_etcd->address(), {u"lock"_s, u"slashed"_s});
        QVERIFY(!other.line().isEmpty());
        nobodyGetsIt(BackendKind::Etcd, {ConnectionName("etcd"), "slashed/"}, {});
        QVERIFY(attempt({ConnectionName("etcd"), "my-lock/"}, "etcd-mutex"));
    }
};

LOCKSCOPE_TEST(TestAcquireBesideSql)
#include "tst_acquire_beside_sql.moc"
