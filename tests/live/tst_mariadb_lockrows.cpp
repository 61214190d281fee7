// SPDX-License-Identifier: Apache-2.0
// Rows of a real MariaDB that are locks by what stands in them. Liquibase's and ShedLock's statements are those of
// their sources (LockDatabaseChangeLogGenerator, MySqlServerTimeStatementsSource), with the values put in.
#include "core/inspect/coverage.h"
#include "core/inspect/findings.h"
#include "core/inspect/mariadb/observer.h"
#include "core/mariadb/session.h"
#include "core/operate/forcerelease.h"
#include "core/operate/gate.h"
#include "core/operate/sql.h"
#include "core/rules/userrules.h"
#include "mariadbfixture.h"
#include "tests/support/finish.h"
#include "tests/support/keepingsink.h"
#include "tests/support/testmain.h"

#include <QFile>
#include <QTemporaryDir>

using namespace lockscope::inspect;

namespace {

class NotingSql : public mariadb::ForwardingSession {
public:
    using ForwardingSession::ForwardingSession;
    void send(Request &&request) override
    {
        texts << std::get<Asked<mariadb::Statement>>(request).request.text;
        inner().send(std::move(request));
    }
    [[nodiscard]] qsizetype naming(const QByteArray &what) const
    {
        return std::count_if(texts.begin(), texts.end(), [&](const QByteArray &one) { return one.contains(what); });
    }

    QByteArrayList texts;
};

const QByteArray liquibaseRow("LIQUIBASE#shop.DATABASECHANGELOGLOCK");

} // namespace

class TestMariaDbLockRows : public MariaDbFixture {
    Q_OBJECT

    QTemporaryDir m_folder;
    testing::KeepingSink m_sink;

    // As Liquibase does; false: somebody has it.
    bool liquibaseLocks(mariadb::Session &session, const QByteArray &who)
    {
        const auto done = run(session, "UPDATE shop.DATABASECHANGELOGLOCK SET LOCKED = 1, LOCKEDBY = '" + who
                                           + "', LOCKGRANTED = NOW() WHERE ID = 1 AND LOCKED = 0");
        if (!done)
            qFatal("%s", textOf(done).constData());
        return done->affected == 1;
    }
    void liquibaseUnlocks()
    {
        must(*m_admin, "UPDATE shop.DATABASECHANGELOGLOCK SET LOCKED = 0, LOCKEDBY = NULL, LOCKGRANTED = NULL "
                       "WHERE ID = 1");
    }
    // As ShedLock does with the database's time.
    void shedLockLocks(const QByteArray &name, int seconds)
    {
        must(*m_admin, "INSERT INTO shop.shedlock(name, lock_until, locked_at, locked_by) VALUES('" + name
                           + "', TIMESTAMPADD(MICROSECOND, " + QByteArray::number(qint64(seconds) * 1'000'000)
                           + ", UTC_TIMESTAMP(3)), UTC_TIMESTAMP(3), 'app-1') ON DUPLICATE KEY UPDATE "
                             "lock_until = VALUES(lock_until), locked_at = VALUES(locked_at)");
    }
    Result<LockSnapshot> readNow(Observer &observer, const QByteArray &name)
    {
        return testing::finish(m_loop, observer.readNow(name, soon()));
    }
    Result<operate::ForceReleaseOutcome> act(const operate::ForceReleasePlan &plan, Observer &observer)
    {
        operate::AuditFile audit(m_folder.filePath(u"audit.jsonl"_s));
        operate::ForceReleaseTools tools{
            .observer = &observer,
            .send = [this](operate::ForceReleasePlan sent,
                           Deadline by) { return operate::sendRelease(std::move(sent), m_admin.get(), by); },
            .audit = &audit,
            .loop = &m_loop};
        return testing::finish(m_loop, operate::forceRelease(plan, tools, u"it was killed"_s, soon()));
    }

private slots:
    void initTestCase()
    {
        qputenv("XDG_STATE_HOME", m_folder.path().toUtf8());
        SKIP_FOR(startServer());
        must(*m_admin,
             "CREATE TABLE shop.DATABASECHANGELOGLOCK (ID INT NOT NULL, LOCKED TINYINT NOT NULL, LOCKGRANTED "
             "datetime NULL, LOCKEDBY VARCHAR(255) NULL, CONSTRAINT PK_DATABASECHANGELOGLOCK PRIMARY KEY "
             "(ID))");
        must(*m_admin, "INSERT INTO shop.DATABASECHANGELOGLOCK (ID, LOCKED) VALUES (1, 0)");
        // Of such a name, and something else.
        must(*m_admin, "CREATE DATABASE other");
        must(*m_admin, "CREATE TABLE other.shedlock (id INT PRIMARY KEY)");
    }
    void cleanup() { QVERIFY(nothingIsHeld()); }
    void cleanupTestCase()
    {
        if (m_server)
            endServer();
    }

    // A table of locks of a tool that has no recogniser is named, so that "no locks" is not claimed of it.
    void tablesNamedLikeLocksAreReported()
    {
        const QByteArrayList locks{"knex_migrations_lock", "CacheLocks", "job-mutex"};
        const QByteArrayList others{"blocks", "clock_in", "QRTZ_LOCKS", "unlocked"};
        for (const auto &table : locks + others)
            must(*m_admin, "CREATE TABLE shop.`" + table + "` (id INT PRIMARY KEY, is_locked INT)");
        ObserverOptions once{.follow = false};
        MariaDbObserver observer(*m_admin, ConnectionName("db"), once, m_sink);
        observer.start();
        QTRY_VERIFY(observer.firstSnapshot().isComplete());
        const auto unexplained = observer.coverage().front().unexplained;
        QCOMPARE(unexplained.size(), std::size_t(1));
        // Liquibase's and ShedLock's names over other columns count, too.
        QCOMPARE(unexplained[0].count, locks.size() + 1);
        QCOMPARE(unexplained[0].example, QByteArray("other.shedlock"));
        QVERIFY(!isAllKnown(observer.coverage()));
        for (const auto &table : locks + others)
            must(*m_admin, "DROP TABLE shop.`" + table + "`");
    }

    // Tables that custom rules describe, as soon as there is such a rule.
    void rowsOfCustomRulesAreSeen()
    {
        QFile file(QFINDTESTDATA("../../docs/rules/acme-rows.json"));
        QVERIFY(file.open(QFile::ReadOnly));
        must(*m_admin, "CREATE DATABASE acme");
        must(*m_admin, "CREATE TABLE acme.ACME_JOB_LEASES (Job VARCHAR(40) PRIMARY KEY, worker VARCHAR(40), taken_at "
                       "DATETIME, expires_at DATETIME)");
        must(*m_admin, "INSERT INTO acme.ACME_JOB_LEASES VALUES ('nightly', 'web-3', UTC_TIMESTAMP() - INTERVAL 2 "
                       "MINUTE, UTC_TIMESTAMP() + INTERVAL 60 SECOND), ('weekly', 'web-4', NULL, UTC_TIMESTAMP() - "
                       "INTERVAL 1 SECOND)");
        const auto session = openConnected();
        MariaDbObserver observer(*session, ConnectionName("db"), {}, m_sink);
        const QByteArray name("RULE-ACME-JOB-LEASE#acme.ACME_JOB_LEASES#");
        const auto before = readNow(observer, name + "nightly");
        recipes::setUserRules(recipes::readRuleFile(file.readAll(), u"acme-rows.json"_s));
        const auto lock = readNow(observer, name + "nightly");
        const auto over = readNow(observer, name + "weekly");
        must(*m_admin, "ALTER TABLE acme.ACME_JOB_LEASES DROP COLUMN expires_at");
        MariaDbObserver later(*session, ConnectionName("db"), {.follow = false}, m_sink);
        later.start();
        QTRY_VERIFY(later.firstSnapshot().isComplete());
        const auto coverage = later.coverage();
        recipes::setUserRules({});
        must(*m_admin, "DROP DATABASE acme");
        QCOMPARE(codeOf(before), code(ErrorCode::NoNode));
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(lock->client, std::optional(u"Acme job lease"_s));
        QCOMPARE(lock->contenders[0].identity, std::optional<QByteArray>("web-3"));
        const auto &ends = lock->contenders[0].expiresAt;
        QVERIFY(ends && std::chrono::abs(*ends - lock->observed - 60s) < 20s);
        QCOMPARE(codeOf(over), code(ErrorCode::NoNode));
        QVERIFY(std::ranges::any_of(coverage, [](const Coverage &part) {
            return part.message.contains(u"by your rule \"Acme job lease\": it has no column expires_at"_s);
        }));
    }

    // A text tells whether a row is held: only the values that the rule lists do.
    void statusOfCustomRuleIsReadStrictly()
    {
        QFile file(QFINDTESTDATA("../../docs/rules/acme-rows.json"));
        QVERIFY(file.open(QFile::ReadOnly));
        must(*m_admin, "CREATE DATABASE acme");
        must(*m_admin, "CREATE TABLE acme.acme_exports (id INT PRIMARY KEY, status VARCHAR(20), worker VARCHAR(40), "
                       "changed_at DATETIME)");
        must(*m_admin, "INSERT INTO acme.acme_exports VALUES (1, 'LOCKED', 'web-1', UTC_TIMESTAMP()), (2, 'RUNNING', "
                       "'web-2', NULL), (3, 'NEW', NULL, NULL), (4, 'DONE', 'web-2', NULL), (5, NULL, NULL, NULL), "
                       "(6, 'locked', 'web-1', NULL), (7, 'new', 'web-1', NULL), (8, 'paused', 'web-1', NULL)");
        recipes::setUserRules(recipes::readRuleFile(file.readAll(), u"acme-rows.json"_s));
        const auto session = openConnected();
        MariaDbObserver observer(*session, ConnectionName("db"), {.follow = false}, m_sink);
        observer.start();
        QTRY_VERIFY(observer.firstSnapshot().isComplete());
        const auto coverage = observer.coverage();
        QByteArrayList names;
        for (const auto &lock : observer.snapshots()) {
            if (lock.lock.name.startsWith("RULE-"))
                names << lock.lock.name;
        }
        recipes::setUserRules({});
        must(*m_admin, "DROP DATABASE acme");
        std::ranges::sort(names);
        const QByteArray name("RULE-ACME-EXPORT-STATUS#acme.acme_exports#");
        QCOMPARE(names, (QByteArrayList{name + '1', name + '2'}));
        QVERIFY(std::ranges::any_of(coverage, [](const Coverage &part) {
            return part.message.contains(u"3 of the rows of acme.acme_exports are not understood"_s);
        }));
    }

    // Tables of known clients as these make them, each with a row that is held; and as it is free.
    void rowsOfKnownClientsAreSeen_data()
    {
        const Rows<QByteArray, QByteArray, QByteArray, QByteArray, qint64> row("create", "held", "free", "name",
                                                                               "secondsLeft");
        const auto ahead = [](const char *seconds) { return "UNIX_TIMESTAMP() + " + QByteArray(seconds); };
        row("Knex", "knex_migrations_lock (`index` INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, is_locked INT)", "(1, 1)",
            "(1, 0), (2, NULL)", "KNEX#clients.knex_migrations_lock#1", -1);
        row("Ghost",
            "migrations_lock (lock_key VARCHAR(191) PRIMARY KEY, locked TINYINT(1), acquired_at DATETIME, "
            "released_at DATETIME)",
            "('km01', 1, NOW(), NULL)", "('km01', 0, NOW(), NOW())", "KNEX-MIGRATOR#clients.migrations_lock#km01",
            -1);
        row("Hangfire", "`lock` (resource VARCHAR(200) PRIMARY KEY, updatecount INT, acquired DATETIME(6))",
            "('jobs', 0, UTC_TIMESTAMP(6) - INTERVAL 2 DAY)", "", "HANGFIRE#clients.lock#jobs", -1);
        row("Laravel", "cache_locks (`key` VARCHAR(191) PRIMARY KEY, owner VARCHAR(191), expiration INT)",
            "('app:import', 'x7Gh', " + ahead("600") + ')', "('app:import', 'x7Gh', " + ahead("0 - 5") + ')',
            "LARAVEL#clients.cache_locks#app:import", 600);
        row("Laravel, no time", "cache_locks (`key` VARCHAR(191) PRIMARY KEY, owner VARCHAR(191), expiration TEXT)",
            "('a', 'x7Gh', 'soon')", "", "LARAVEL#clients.cache_locks#a", -1);
        row("Spring",
            "INT_LOCK (LOCK_KEY CHAR(36), REGION VARCHAR(100), CLIENT_ID CHAR(36), CREATED_DATE "
            "TIMESTAMP(6) NOT NULL, PRIMARY KEY (LOCK_KEY, REGION))",
            "('0f3c', 'DEFAULT', 'c1', UTC_TIMESTAMP(6))", "", "SPRING#clients.INT_LOCK#DEFAULT,0f3c", -1);
        const QByteArray spring7("INT_LOCK (LOCK_KEY CHAR(36), REGION VARCHAR(100), CLIENT_ID CHAR(36), CREATED_DATE "
                                 "DATETIME(6) NOT NULL, EXPIRED_AFTER DATETIME(6))");
        row("Spring 7", spring7,
            "('0f3c', 'DEFAULT', 'c1', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 600 SECOND)",
            "('0f3c', 'DEFAULT', 'c1', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 1 DAY)",
            "SPRING#clients.INT_LOCK#DEFAULT,0f3c", 600);
        row("Symfony",
            "lock_keys (key_id VARCHAR(64) PRIMARY KEY, key_token VARCHAR(44), key_expiration INT UNSIGNED)",
            "('9f86', 'dG9r', " + ahead("300") + ')', "('9f86', 'dG9r', UNIX_TIMESTAMP())",
            "SYMFONY#clients.lock_keys#9f86", 300);
        row("Drupal", "semaphore (name VARCHAR(255) PRIMARY KEY, value VARCHAR(255), expire DOUBLE)",
            "('cron', '6655.1', " + ahead("30.5") + ')', "('cron', '6655.1', " + ahead("0 - 0.5") + ')',
            "DRUPAL#clients.semaphore#cron", 30);
        row("Keycloak", "DATABASECHANGELOGLOCK (ID INT, LOCKED BIT(1), LOCKGRANTED DATETIME, LOCKEDBY VARCHAR(255))",
            "(1, 0, NULL, NULL), (1000, 1, NOW(), 'kc (10.0.3.7)')", "(1, 0, NULL, NULL), (1000, 0, NULL, NULL)",
            "LIQUIBASE#clients.DATABASECHANGELOGLOCK#1000", -1);
    }
    void rowsOfKnownClientsAreSeen()
    {
        QFETCH(QByteArray, create);
        QFETCH(QByteArray, held);
        QFETCH(QByteArray, free);
        QFETCH(QByteArray, name);
        QFETCH(qint64, secondsLeft);
        must(*m_admin, "SET GLOBAL time_zone = '+00:00'");
        must(*m_admin, "CREATE DATABASE clients");
        must(*m_admin, "CREATE TABLE clients." + create);
        const auto table = "clients." + create.left(create.indexOf(' '));
        const auto session = openConnected();
        MariaDbObserver observer(*session, ConnectionName("db"), {}, m_sink);
        const auto empty = readNow(observer, name);
        must(*m_admin, "INSERT INTO " + table + " VALUES " + held);
        const auto lock = readNow(observer, name);
        must(*m_admin, "DELETE FROM " + table);
        if (!free.isEmpty())
            must(*m_admin, "INSERT INTO " + table + " VALUES " + free);
        const auto freed = readNow(observer, name);
        must(*m_admin, "DROP DATABASE clients");
        QCOMPARE(codeOf(empty), code(ErrorCode::NoNode));
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(lock->state, LockState::Held);
        QCOMPARE(lock->contenders.size(), std::size_t(1));
        const auto &ends = lock->contenders[0].expiresAt;
        QCOMPARE(ends.has_value(), secondsLeft >= 0);
        QVERIFY(!ends || std::chrono::abs(*ends - lock->observed - std::chrono::seconds(secondsLeft)) < 3s);
        QVERIFY2(lock->findings.empty() || lock->findings[0].code == FindingCode::LongHeld, "on a healthy lock");
        QCOMPARE(codeOf(freed), code(ErrorCode::NoNode));
    }

    // Quartz' rows are always there: it locks them FOR UPDATE.
    void rowsThatAreAlwaysThereAreNoLocks()
    {
        must(*m_admin, "CREATE TABLE shop.app_locks (SCHED_NAME VARCHAR(120), LOCK_NAME VARCHAR(40))");
        must(*m_admin, "INSERT INTO shop.app_locks VALUES ('s', 'TRIGGER_ACCESS')");
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {.follow = false}, m_sink);
        observer.start();
        QTRY_VERIFY(observer.firstSnapshot().isComplete());
        must(*m_admin, "DROP TABLE shop.app_locks");
        QCOMPARE(observer.coverage().front().unexplained[0].example, QByteArray("other.shedlock"));
        QCOMPARE(observer.coverage().front().unexplained[0].count, 1);
        QCOMPARE(codeOf(readNow(observer, "QUARTZ#shop.app_locks#s,TRIGGER_ACCESS")), code(ErrorCode::NoNode));
    }

    void liquibasesLockIsSeenAndGoesWithItsRow()
    {
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, m_sink);
        QCOMPARE(codeOf(readNow(observer, liquibaseRow)), code(ErrorCode::NoNode)); // nobody has it
        const auto client = openConnected();
        QVERIFY(liquibaseLocks(*client, "app-1 (10.0.0.7)"));
        const auto lock = readNow(observer, liquibaseRow);
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(lock->recipe, QByteArray("sql-liquibase"));
        QCOMPARE(lock->client, std::optional(u"Liquibase"_s));
        QCOMPARE(lock->state, LockState::Held);
        QVERIFY(!lock->waitersKnown);
        QCOMPARE(lock->contenders.size(), std::size_t(1));
        const auto &holder = lock->contenders[0];
        QCOMPARE(holder.identity, std::optional<QByteArray>("app-1 (10.0.0.7)"));
        QVERIFY(holder.heldSince && *holder.heldSince <= lock->observed);
        QVERIFY(!holder.expiresAt && !holder.session);

        auto plan = operate::planForceRelease(*lock, holder.id);
        QVERIFY2(plan, textOf(plan));
        QVERIFY2(plan->commands.join(u' ').contains(u"LOCKEDBY = BINARY ?"_s), qPrintable(plan->commands.join(u' ')));
        QVERIFY2(plan->alternatives.join(u' ').contains(u"never expires"_s),
                 qPrintable(plan->alternatives.join(u' ')));
        const auto refused = act(*plan, observer); // what is risky wants to be said
        QCOMPARE(codeOf(refused), code(ErrorCode::Refused));
        plan->isRiskAccepted = true;
        const auto outcome = act(*plan, observer);
        QVERIFY2(outcome && outcome->released, textOf(outcome));
        QFile audit(m_folder.filePath(u"audit.jsonl"_s));
        QVERIFY(audit.open(QIODevice::ReadOnly));
        QVERIFY(audit.readAll().contains("it was killed"));
        QCOMPARE(ask("SELECT CONCAT(LOCKED, ' ', LOCKEDBY IS NULL, ' ', LOCKGRANTED IS NULL) FROM "
                     "shop.DATABASECHANGELOGLOCK"),
                 QByteArray("0 1 1"));
        QVERIFY(liquibaseLocks(*client, "app-2 (10.0.0.8)"));
        liquibaseUnlocks();
    }

    // Taken by another, or anew by the same, between the preview and the act: theirs stays.
    void rowChangedMeanwhileIsNotCleared_data()
    {
        const Rows<QByteArray> row("change");
        row("another", "LOCKEDBY = 'app-2 (10.0.0.8)'");
        row("in another case", "LOCKEDBY = 'APP-1 (10.0.0.7)'");
        row("later", "LOCKGRANTED = LOCKGRANTED + INTERVAL 1 SECOND");
    }
    void rowChangedMeanwhileIsNotCleared()
    {
        QFETCH(QByteArray, change);
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, m_sink);
        QVERIFY(liquibaseLocks(*m_admin, "app-1 (10.0.0.7)"));
        const auto lock = readNow(observer, liquibaseRow);
        QVERIFY2(lock, textOf(lock));
        auto plan = operate::planForceRelease(*lock, lock->contenders[0].id);
        QVERIFY2(plan, textOf(plan));
        plan->isRiskAccepted = true;
        must(*m_admin, "UPDATE shop.DATABASECHANGELOGLOCK SET " + change + " WHERE ID = 1");
        QCOMPARE(codeOf(act(*plan, observer)), code(ErrorCode::Refused)); // by the look
        const auto sent = testing::finish(m_loop, operate::sendRelease(*plan, m_admin.get(), soon()));
        QCOMPARE(codeOf(sent), code(ErrorCode::Refused)); // and by the statement itself
        QCOMPARE(ask("SELECT LOCKED FROM shop.DATABASECHANGELOGLOCK"), QByteArray("1"));
        liquibaseUnlocks();
    }

    void uncommittedRowIsNotALock()
    {
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, m_sink);
        const auto client = openConnected();
        must(*client, "START TRANSACTION");
        QVERIFY(liquibaseLocks(*client, "app-1 (10.0.0.7)"));
        QCOMPARE(codeOf(readNow(observer, liquibaseRow)), code(ErrorCode::NoNode));
        must(*client, "ROLLBACK");
    }

    void aReadOnlyGateLetsNothingThrough()
    {
        operate::CommandLog log;
        operate::Gate gate{ConnectionName("db"), true, false, log};
        const auto gated = operate::gated(*m_admin, gate, {});
        MariaDbObserver observer(*gated, ConnectionName("db"), {}, m_sink);
        QVERIFY(liquibaseLocks(*m_admin, "app-1 (10.0.0.7)"));
        const auto lock = readNow(observer, liquibaseRow); // looking is no write
        QVERIFY2(lock, textOf(lock));
        auto plan = operate::planForceRelease(*lock, lock->contenders[0].id);
        QVERIFY2(plan, textOf(plan));
        const auto sent = testing::finish(m_loop, operate::sendRelease(*plan, gated.get(), soon()));
        QCOMPARE(codeOf(sent), code(ErrorCode::Refused));
        QCOMPARE(ask("SELECT LOCKED FROM shop.DATABASECHANGELOGLOCK"), QByteArray("1"));
        liquibaseUnlocks();
    }

    // Somebody has the whole table for himself: the look goes on without it, and says so.
    void aTableThatIsKeptDoesNotHoldUpTheLook()
    {
        const auto session = openConnected();
        MariaDbObserver observer(*session, ConnectionName("db"), {}, m_sink);
        const auto holder = openConnected();
        must(*holder, "LOCK TABLES shop.DATABASECHANGELOGLOCK WRITE");
        const auto lock = readNow(observer, liquibaseRow);
        QVERIFY(!lock);
        QVERIFY2(codeOf(lock) != code(ErrorCode::NoNode), textOf(lock)); // not: there is none
        QVERIFY2(textOf(lock).contains("are not read while another client locks"), textOf(lock));
        must(*holder, "UNLOCK TABLES");
    }

    void shedLocksRowsHaveTimeLeft()
    {
        must(*m_admin, "SET GLOBAL time_zone = '+00:00'");
        must(*m_admin, "SET time_zone = '+00:00'");
        shedLockLocks("reports", 600);
        shedLockLocks("over", -5);
        const auto session = openConnected();
        MariaDbObserver observer(*session, ConnectionName("db"), {}, m_sink);
        const auto lock = readNow(observer, "SHEDLOCK#shop.shedlock#reports");
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(lock->recipe, QByteArray("sql-shedlock"));
        QCOMPARE(lock->confidence, Confidence::High);
        const auto &holder = lock->contenders[0];
        QCOMPARE(holder.identity, std::optional<QByteArray>("app-1"));
        QVERIFY(holder.expiresAt && *holder.expiresAt > lock->observed);
        QVERIFY(*holder.expiresAt - *holder.heldSince > 599s && *holder.expiresAt - *holder.heldSince < 601s);
        QCOMPARE(codeOf(readNow(observer, "SHEDLOCK#shop.shedlock#over")), code(ErrorCode::NoNode));
    }

    // As ShedLock's own unlock, but of this one hold: by who it is, and since when.
    void shedLocksRowIsEnded_data()
    {
        QTest::addColumn<QByteArray>("change"); // between the preview and the act
        QTest::addColumn<bool>("isReleased");
        QTest::newRow("as it was seen") << QByteArray() << true;
        QTest::newRow("extended") << QByteArray("lock_until = lock_until + INTERVAL 60 SECOND") << true;
        QTest::newRow("taken anew") << QByteArray("locked_at = locked_at + INTERVAL 1 SECOND") << false;
        QTest::newRow("another's") << QByteArray("locked_by = 'APP-1'") << false;
    }
    void shedLocksRowIsEnded()
    {
        QFETCH(QByteArray, change);
        QFETCH(bool, isReleased);
        must(*m_admin, "SET GLOBAL time_zone = '+00:00'");
        shedLockLocks("reports", 600);
        const auto session = openConnected();
        MariaDbObserver observer(*session, ConnectionName("db"), {}, m_sink);
        const auto lock = readNow(observer, "SHEDLOCK#shop.shedlock#reports");
        QVERIFY2(lock, textOf(lock));
        auto plan = operate::planForceRelease(*lock, lock->contenders[0].id);
        QVERIFY2(plan, textOf(plan));
        QVERIFY(!plan->exact); // its client compares its host's name alone
        plan->isRiskAccepted = true;
        if (!change.isEmpty())
            must(*m_admin, "UPDATE shop.shedlock SET " + change + " WHERE name = 'reports'");
        const auto sent = testing::finish(m_loop, operate::sendRelease(*plan, m_admin.get(), soon()));
        QVERIFY2(bool(sent) == isReleased, textOf(sent));
        QCOMPARE(ask("SELECT COUNT(*) FROM shop.shedlock WHERE name = 'reports' AND lock_until > UTC_TIMESTAMP(3)"),
                 QByteArray(isReleased ? "0" : "1"));
        must(*m_admin, "DELETE FROM shop.shedlock");
    }

    // Where UTC and the server's zone differ nothing says of which lock_until is: no time left is claimed.
    void aZoneThatIsNotSaidIsNotGuessed()
    {
        must(*m_admin, "SET GLOBAL time_zone = '+03:00'");
        shedLockLocks("reports", 600);
        const auto session = openConnected();
        MariaDbObserver observer(*session, ConnectionName("db"), {}, m_sink);
        const auto lock = readNow(observer, "SHEDLOCK#shop.shedlock#reports");
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(lock->confidence, Confidence::Medium);
        QVERIFY(!lock->contenders[0].expiresAt && !lock->contenders[0].heldSince);
        must(*m_admin, "SET GLOBAL time_zone = '+00:00'");
        must(*m_admin, "DELETE FROM shop.shedlock");
    }

    // To read a view may run what its owner wrote, as us.
    void aViewOfThatNameIsNotRead()
    {
        must(*m_admin, "CREATE DATABASE theirs");
        must(*m_admin, "CREATE SQL SECURITY INVOKER VIEW theirs.shedlock AS SELECT 'x' AS name, "
                       "NOW() + INTERVAL 1 HOUR AS lock_until, NOW() AS locked_at, 'me' AS locked_by");
        NotingSql noting(*m_admin);
        SqlReader reader(noting);
        const auto look = testing::finish(m_loop, reader.look(soon()));
        QVERIFY2(look, textOf(look));
        QCOMPARE(noting.naming("`theirs`"), 0);
        must(*m_admin, "DROP DATABASE theirs");
    }

    // At most once a second per table, and looked for every half a minute.
    void lookingCostsLittle()
    {
        NotingSql noting(*m_admin);
        SqlReader reader(noting);
        const auto begun = m_loop.now();
        for (int looks = 0; looks < 6; ++looks) {
            const auto look = testing::finish(m_loop, reader.look(soon()));
            QVERIFY2(look, textOf(look));
        }
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(m_loop.now() - begun).count();
        QVERIFY(noting.naming("`DATABASECHANGELOGLOCK`") <= seconds + 1);
        QVERIFY(noting.naming("`shedlock`") <= seconds + 1);
        QVERIFY(noting.naming("information_schema.TABLES") <= seconds / 30 + 1);
        QCOMPARE(noting.naming("`other`"), 0);
    }
};

LOCKSCOPE_TEST(TestMariaDbLockRows)
#include "tst_mariadb_lockrows.moc"
