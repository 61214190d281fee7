// SPDX-License-Identifier: Apache-2.0
// Rows of a real PostgreSQL that are locks by what stands in them. Liquibase's and ShedLock's statements are those of
// their sources (LockDatabaseChangeLogGenerator, PostgresSqlServerTimeStatementsSource), with the values put in.
#include "postgresqlfixture.h"
#include "tests/support/testmain.h"

class TestPostgreSqlLockRows : public PostgreSqlFixture {
    Q_OBJECT

    std::unique_ptr<Psql> m_psql;

    const QString m_liquibase = u"LIQUIBASE#public.databasechangeloglock"_s;
    const QString m_shedLock = u"SHEDLOCK#jobs.shedlock#reports"_s;

    [[nodiscard]] static QJsonObject holderIn(const QJsonObject &lock)
    {
        return lock.value("contenders"_L1).toArray().at(0).toObject();
    }
    void must(const QByteArray &statements)
    {
        const auto said = m_psql->ask(statements);
        if (said.contains("ERROR"))
            qFatal("%s: %s", statements.constData(), said.constData());
    }
    void liquibaseLocks(const QByteArray &who)
    {
        must("UPDATE public.databasechangeloglock SET LOCKED = TRUE, LOCKEDBY = '" + who
             + "', LOCKGRANTED = NOW() WHERE ID = 1 AND LOCKED = FALSE;");
    }
    // With the database's time.
    void shedLockLocks(const QByteArray &name, int seconds)
    {
        must("INSERT INTO jobs.shedlock(name, lock_until, locked_at, locked_by) VALUES('" + name
             + "', timezone('utc', CURRENT_TIMESTAMP) + cast('" + QByteArray::number(seconds)
             + " seconds' as interval), timezone('utc', CURRENT_TIMESTAMP), 'app-1') ON CONFLICT (name) DO UPDATE "
               "SET lock_until = excluded.lock_until, locked_at = excluded.locked_at, locked_by = 'app-1';");
    }
    void setZone(const QByteArray &zone)
    {
        must("ALTER ROLE CURRENT_USER SET timezone = '" + zone + "'; SET timezone = '" + zone + "';");
    }

private slots:
    void initTestCase()
    {
        SKIP_FOR(startServer());
        m_psql = std::make_unique<Psql>(uri());
        must("CREATE TABLE public.databasechangeloglock (ID INTEGER NOT NULL, LOCKED BOOLEAN NOT NULL, LOCKGRANTED "
             "TIMESTAMP WITHOUT TIME ZONE, LOCKEDBY VARCHAR(255), CONSTRAINT pk PRIMARY KEY (ID)); "
             "INSERT INTO public.databasechangeloglock (ID, LOCKED) VALUES (1, FALSE); CREATE SCHEMA jobs; "
             "CREATE TABLE jobs.shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL, "
             "locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name)); "
             // Of such a name, and something else.
             "CREATE SCHEMA other; CREATE TABLE other.shedlock (id INT PRIMARY KEY);");
    }
    void init()
    {
        setZone("UTC");
        must("UPDATE public.databasechangeloglock SET LOCKED = FALSE, LOCKEDBY = NULL, LOCKGRANTED = NULL; "
             "TRUNCATE jobs.shedlock;");
    }
    void cleanupTestCase() { m_psql.reset(); }

    // A table of locks of a tool that has no recogniser is named, so that "no locks" is not claimed of it.
    void tablesNamedLikeLocksAreReported()
    {
        must("CREATE SCHEMA hangfire; CREATE TABLE hangfire.lock (resource TEXT); "
             "CREATE TABLE public.blocks (id INT);");
        const auto answer = testing::run({u"--connect"_s, uri(), u"locks"_s, u"--json"_s}).json();
        const auto unexplained = answer.value("unexplained"_L1).toArray();
        QCOMPARE(unexplained.size(), 1);
        // And the table of ShedLock's name over other columns.
        QCOMPARE(unexplained[0].toObject().value("count"_L1).toInt(), 2);
        must("DROP SCHEMA hangfire CASCADE; DROP TABLE public.blocks;");
    }

    // Tables that custom rules describe (docs/rules/acme-rows.json), whatever they are named.
    void rowsOfCustomRulesAreSeen()
    {
        must(
            "CREATE SCHEMA acme; CREATE TABLE acme.acme_job_leases (job text PRIMARY KEY, worker text, taken_at "
            "timestamp, expires_at timestamptz, note text); INSERT INTO acme.acme_job_leases VALUES ('nightly', "
            "'web-3', timezone('utc', now()) - interval '2 min', now() + interval '60 s', NULL), ('weekly', 'web-4', "
            "NULL, now() - interval '1 s', NULL); CREATE TABLE acme.acme_imports (tenant text, source int, is_running "
            "boolean, run_id uuid); INSERT INTO acme.acme_imports VALUES ('eu', 1, true, "
            "'0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11'), ('us', 1, false, NULL);");
        const auto withRules = [this](const QStringList &words) {
            return ctl(QStringList{u"--rules"_s, QFINDTESTDATA("../../docs/rules/acme-rows.json")} + words);
        };
        const auto locks = withRules({u"locks"_s});
        const auto lease = u"RULE-ACME-JOB-LEASE#acme.acme_job_leases#nightly"_s;
        const auto flag = u"RULE-ACME-IMPORT-FLAG#acme.acme_imports#eu,1"_s;
        const auto shownLease = withRules({u"show"_s, u"pg:"_s + lease}).json().value("lock"_L1).toObject();
        const auto shownFlag = withRules({u"show"_s, u"pg:"_s + flag}).json().value("lock"_L1).toObject();
        const auto refused = withRules({u"force-release"_s, u"pg:"_s + flag, u"--holder"_s,
                                        u"0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11"_s, u"--yes"_s});
        // Free as many tables have it; a claim without an end; and two rows that one name stands for.
        must("INSERT INTO acme.acme_job_leases VALUES ('idle', NULL, NULL, NULL, NULL), ('endless', 'web-5', NULL, "
             "NULL, NULL); INSERT INTO acme.acme_imports VALUES ('eu', 1, true, gen_random_uuid());");
        const auto unclear = withRules({u"locks"_s});
        must("ALTER TABLE acme.acme_imports DROP COLUMN run_id;");
        const auto without = withRules({u"locks"_s});
        must("DROP SCHEMA acme CASCADE;");
        QStringList names;
        for (const auto &lock : locks.json().value("locks"_L1).toArray())
            names << lock.toObject().value("lock"_L1).toString();
        names.sort();
        QCOMPARE(names, (QStringList{u"pg:"_s + flag, u"pg:"_s + lease}));
        QCOMPARE(shownLease.value("client"_L1).toString(), u"Acme job lease"_s);
        QCOMPARE(holderIn(shownLease).value("identity"_L1).toString(), u"web-3"_s);
        const auto left = holderIn(shownLease).value("ttlMs"_L1).toDouble(-1);
        QVERIFY2(left > 40'000 && left <= 60'000, qPrintable(QString::number(left)));
        QCOMPARE(holderIn(shownFlag).value("id"_L1).toString(), u"0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11"_s);
        QVERIFY2(refused.status != 0 && refused.what().contains("UPDATE"), refused.what());
        QVERIFY2(!unclear.out.contains("#idle") && !unclear.out.contains("#endless"), unclear.what());
        QVERIFY2(!unclear.out.contains("#eu,1"), unclear.what());
        QVERIFY2(unclear.out.contains("the end of 1 of the rows of acme.acme_job_leases cannot be read"),
                 unclear.what());
        QVERIFY2(unclear.out.contains("2 rows of acme.acme_imports share their lock name"), unclear.what());
        QVERIFY2(without.out.contains("it has no column run_id of a built-in type"), without.what());
    }

    // A text tells whether a row is held: only the values that the rule lists do.
    void statusOfCustomRuleIsReadStrictly()
    {
        must("CREATE SCHEMA acme; CREATE TABLE acme.acme_exports (id int, status text, worker text, changed_at "
             "timestamp); INSERT INTO acme.acme_exports VALUES (1, 'LOCKED', 'web-1', timezone('utc', now())), (2, "
             "'RUNNING', 'web-2', NULL), (3, 'NEW', NULL, NULL), (4, 'DONE', 'web-2', NULL), (5, NULL, NULL, NULL);");
        const auto seen = [this] {
            return ctl(
                QStringList{u"--rules"_s, QFINDTESTDATA("../../docs/rules/acme-rows.json"), u"locks"_s, u"--json"_s});
        };
        const auto namesOf = [](const Ran &ran) {
            QStringList names;
            for (const auto &lock : ran.json().value("locks"_L1).toArray())
                names << lock.toObject().value("lock"_L1).toString().section(u'#', -1);
            names.sort();
            return names;
        };
        const auto listed = seen();
        must("INSERT INTO acme.acme_exports VALUES (6, 'locked', 'web-1', NULL), (7, 'LOCKED ', 'web-1', NULL), (8, "
             "'paused', 'web-1', NULL);");
        const auto odd = seen();
        must("DROP SCHEMA acme CASCADE;");
        QCOMPARE(namesOf(listed), (QStringList{u"1"_s, u"2"_s}));
        QVERIFY2(!listed.out.contains("not understood"), listed.what());
        QCOMPARE(namesOf(odd), (QStringList{u"1"_s, u"2"_s}));
        QVERIFY2(odd.out.contains("3 of the rows of acme.acme_exports are not understood"), odd.what());
    }

    // Tables of known clients as these make them, each with a row that is held; and as it is free.
    void rowsOfKnownClientsAreSeen_data()
    {
        const Rows<QByteArray, QByteArray, QByteArray, QString, qint64, bool> row("create", "held", "free", "name",
                                                                                  "secondsLeft", "isAged");
        const auto ahead = [](const char *seconds) { // as Symfony writes it, rounded
            return "CAST(EXTRACT(epoch FROM now()) AS INT) + " + QByteArray(seconds);
        };
        row("Knex", "knex_migrations_lock (index serial PRIMARY KEY, is_locked int)", "(1, 1)", "(1, 0), (2, NULL)",
            u"KNEX#clients.knex_migrations_lock#1"_s, -1, false);
        row("Ghost",
            "migrations_lock (lock_key varchar(191) PRIMARY KEY, locked boolean, acquired_at timestamp, "
            "released_at timestamp)",
            "('km01', true, localtimestamp, NULL)", "('km01', false, localtimestamp, localtimestamp)",
            u"KNEX-MIGRATOR#clients.migrations_lock#km01"_s, -1, true);
        row("Hangfire", "lock (resource text UNIQUE, updatecount int DEFAULT 0, acquired timestamptz)",
            "('hangfire:nightly', 0, now() - interval '2 days')", "", u"HANGFIRE#clients.lock#hangfire:nightly"_s, -1,
            true);
        row("Hangfire, no time", "lock (resource text UNIQUE, updatecount int DEFAULT 0, acquired timestamp)",
            "('a', 0, NULL)", "", u"HANGFIRE#clients.lock#a"_s, -1, false);
        row("Laravel", "cache_locks (key varchar(255) PRIMARY KEY, owner varchar(255), expiration integer)",
            "('app:import', 'x7Gh', " + ahead("600") + ')', "('app:import', 'x7Gh', " + ahead("0 - 5") + ')',
            u"LARAVEL#clients.cache_locks#app:import"_s, 600, false);
        row("Laravel, no time", "cache_locks (key varchar(255) PRIMARY KEY, owner varchar(255), expiration text)",
            "('a', 'x7Gh', 'soon')", "", u"LARAVEL#clients.cache_locks#a"_s, -1, false);
        row("Spring 7",
            "int_lock (lock_key char(36), region varchar(100), client_id char(36), created_date timestamp "
            "NOT NULL, expired_after timestamp NOT NULL)",
            "('0f3c', 'DEFAULT', 'c1', timezone('utc', now()), timezone('utc', now()) + interval '600 s')",
            "('0f3c', 'DEFAULT', 'c1', timezone('utc', now()), timezone('utc', now()) - interval '1 day')",
            u"SPRING#clients.int_lock#DEFAULT,0f3c"_s, 600, false);
        row("Symfony", "lock_keys (key_id varchar(64) PRIMARY KEY, key_token varchar(44), key_expiration int)",
            "('9f86', 'dG9r', " + ahead("300") + ')', "('9f86', 'dG9r', " + ahead("0 - 1") + ')',
            u"SYMFONY#clients.lock_keys#9f86"_s, 300, false);
        row("Drupal", "semaphore (name varchar(255) PRIMARY KEY, value varchar(255), expire double precision)",
            "('cron', '6655.1', " + ahead("30.5") + ')', "('cron', '6655.1', " + ahead("0 - 0.5") + ')',
            u"DRUPAL#clients.semaphore#cron"_s, 30, false);
    }
    void rowsOfKnownClientsAreSeen()
    {
        QFETCH(QByteArray, create);
        QFETCH(QByteArray, held);
        QFETCH(QByteArray, free);
        QFETCH(QString, name);
        QFETCH(qint64, secondsLeft);
        QFETCH(bool, isAged);
        must("CREATE SCHEMA clients; CREATE TABLE clients." + create + ';');
        const auto table = "clients." + create.left(create.indexOf(' '));
        const auto empty = shown(name);
        must("INSERT INTO " + table + " VALUES " + held + ';');
        const auto lock = shown(name);
        const auto id = holderIn(lock).value("id"_L1).toString();
        const auto refused = forced(name, id, {u"--not-exact"_s});
        const auto taken =
            ctl({u"acquire"_s, u"pg:"_s + name, u"--recipe"_s, u"pg-for-update"_s, u"--hold"_s, u"100ms"_s});
        must("DELETE FROM " + table + ';'
             + (free.isEmpty() ? free : "INSERT INTO " + table + " VALUES " + free + ';'));
        const auto freed = shown(name);
        must("DROP SCHEMA clients CASCADE;");
        QVERIFY(empty.isEmpty() && freed.isEmpty());
        QCOMPARE(lock.value("recipe"_L1).toString(), u"pg-row-lock"_s);
        QCOMPARE(lock.value("state"_L1).toString(), u"held"_s);
        const auto left = holderIn(lock).value("ttlMs"_L1).toInteger(-1);
        QVERIFY2(secondsLeft < 0 ? left == -1 : std::abs(left - secondsLeft * 1000) < 3000,
                 qPrintable(QString::number(left)));
        QCOMPARE(holderIn(lock).value("heldMs"_L1).toInteger(-1) >= 0, isAged);
        QVERIFY2(refused.status != 0 && (refused.out + refused.err).contains(", then run: "), refused.what());
        QVERIFY2(taken.status != 0 && (taken.out + taken.err).contains("only its own clients take it"), taken.what());
    }

    void liquibasesLockIsSeenAndGoesWithItsRow()
    {
        QVERIFY(shown(m_liquibase).isEmpty());
        liquibaseLocks("app-1 (10.0.0.7)");
        const auto lock = shown(m_liquibase);
        QCOMPARE(lock.value("recipe"_L1).toString(), u"pg-liquibase"_s);
        QCOMPARE(lock.value("client"_L1).toString(), u"Liquibase"_s);
        QCOMPARE(lock.value("state"_L1).toString(), u"held"_s);
        QCOMPARE(holderIn(lock).value("identity"_L1).toString(), u"app-1 (10.0.0.7)"_s);
        QVERIFY(holderIn(lock).value("heldMs"_L1).toInteger(-1) >= 0);
        QVERIFY(holderIn(lock).value("ttlMs"_L1).isNull());
        const auto listed = ctl({u"locks"_s});
        QVERIFY2(listed.out.contains("pg:LIQUIBASE#public.databasechangeloglock"), listed.what());

        const auto id = holderIn(lock).value("id"_L1).toString();
        const auto risky = forced(m_liquibase, id);
        QVERIFY2(risky.status != 0 && (risky.out + risky.err).contains("nothing was sent"), risky.what());
        const auto closed = run({u"--connect"_s, u"pg="_s + uri(), u"--read-only"_s, u"force-release"_s,
                                 u"pg:"_s + m_liquibase, u"--holder"_s, id, u"--yes"_s, u"--not-exact"_s});
        QVERIFY2(closed.status == 4, closed.what());
        QCOMPARE(m_psql->ask("SELECT locked FROM databasechangeloglock;"), QByteArray("t"));
        const auto done = forced(m_liquibase, id, {u"--not-exact"_s});
        QVERIFY2(done.status == 0 && done.json().value("released"_L1).toBool(), done.what());
        QCOMPARE(m_psql->ask("SELECT locked, lockedby IS NULL, lockgranted IS NULL FROM databasechangeloglock;"),
                 QByteArray("f|t|t"));
    }

    // The other zone's time is an hour or two off: what is left is not told, that it is a lock is.
    void shedLocksTimeIsReadWhereItsZoneIsClear_data()
    {
        const Rows<QByteArray, QByteArray, bool> row("zone", "type", "isClear");
        row("UTC", "UTC", "TIMESTAMP", true);
        row("another", "Europe/Berlin", "TIMESTAMP", false);
        row("another, and the column says so", "Europe/Berlin", "TIMESTAMPTZ", true);
    }
    void shedLocksTimeIsReadWhereItsZoneIsClear()
    {
        QFETCH(QByteArray, zone);
        QFETCH(QByteArray, type);
        QFETCH(bool, isClear);
        setZone(zone);
        const auto typed = [&type](const QByteArray &column) {
            return "ALTER COLUMN " + column + " TYPE " + type + " USING " + column + "::" + type;
        };
        must("ALTER TABLE jobs.shedlock " + typed("lock_until") + ", " + typed("locked_at") + ';');
        // As the column is: with a zone, ShedLock's own statement would be read in the session's.
        shedLockLocks("reports", 600);
        if (type == "TIMESTAMPTZ")
            must("UPDATE jobs.shedlock SET locked_at = now(), lock_until = now() + interval '600 seconds';");
        const auto lock = shown(m_shedLock);
        must("ALTER TABLE jobs.shedlock ALTER COLUMN lock_until TYPE TIMESTAMP, ALTER COLUMN locked_at TYPE "
             "TIMESTAMP;");
        QCOMPARE(lock.value("recipe"_L1).toString(), u"pg-shedlock"_s);
        QCOMPARE(lock.value("client"_L1).toString(), u"ShedLock"_s);
        QCOMPARE(lock.value("confidence"_L1).toString(), isClear ? u"high"_s : u"medium"_s);
        const auto left = holderIn(lock).value("ttlMs"_L1).toInteger(-1);
        QVERIFY2(isClear ? left > 500'000 && left <= 600'000 : left == -1, qPrintable(QString::number(left)));
        QVERIFY(shown(u"SHEDLOCK#jobs.shedlock#other"_s).isEmpty());
    }
    void expiredRowIsNotALock()
    {
        shedLockLocks("reports", -5);
        QVERIFY(shown(m_shedLock).isEmpty());
    }

    void shedLocksTimeIsEnded()
    {
        shedLockLocks("reports", 600);
        const auto id = holderIn(shown(m_shedLock)).value("id"_L1).toString();
        const auto done = forced(m_shedLock, id, {u"--not-exact"_s});
        QVERIFY2(done.status == 0 && done.json().value("released"_L1).toBool(), done.what());
        QCOMPARE(m_psql->ask("SELECT lock_until = locked_at FROM jobs.shedlock;"), QByteArray("t"));
    }
    // Taken by another, or anew by the same, since it was looked at: theirs stays.
    void rowChangedMeanwhileIsNotEnded_data()
    {
        const Rows<QByteArray> row("change");
        row("another", "locked_by = 'APP-1'");
        row("anew", "locked_at = locked_at + interval '1 second'");
    }
    void rowChangedMeanwhileIsNotEnded()
    {
        QFETCH(QByteArray, change);
        shedLockLocks("reports", 600);
        const auto id = holderIn(shown(m_shedLock)).value("id"_L1).toString();
        must("UPDATE jobs.shedlock SET " + change + ';');
        const auto done = forced(m_shedLock, id, {u"--not-exact"_s});
        QVERIFY2(done.status == 4, done.what());
        QCOMPARE(m_psql->ask("SELECT lock_until > locked_at FROM jobs.shedlock;"), QByteArray("t"));
    }

    // Not "it is free": the look is ended after a moment, and goes on without that table.
    void aTableThatSomebodyHasWholeIsSaidToBeUnread()
    {
        must("BEGIN; LOCK TABLE jobs.shedlock;");
        const auto shownThen = ctl({u"show"_s, u"pg:"_s + m_shedLock});
        const auto listed = ctl({u"locks"_s});
        must("COMMIT;");
        QVERIFY2((shownThen.out + shownThen.err).contains("cannot be read: another session has all of the table"),
                 shownThen.what());
        QVERIFY2(shownThen.status != 0, shownThen.what());
        QVERIFY2(listed.out.contains("cannot be read"), listed.what());
    }

    // Who may not read it is told so.
    void aTableThatMayNotBeReadIsSaid()
    {
        must("REVOKE SELECT ON public.databasechangeloglock FROM CURRENT_USER;");
        const auto ran = ctl({u"locks"_s});
        must("GRANT SELECT ON public.databasechangeloglock TO CURRENT_USER;");
        QVERIFY2(ran.out.contains("what stands in public.databasechangeloglock cannot be read"), ran.what());
    }
};

LOCKSCOPE_TEST(TestPostgreSqlLockRows)
#include "tst_postgresql_lockrows.moc"
