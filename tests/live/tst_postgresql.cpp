// SPDX-License-Identifier: Apache-2.0
// A private PostgreSQL: psql sessions that lock as applications do, beside lockscopectl that waits, shows, and takes
// away. Both ways: what psql holds lockscopectl queues for, and the other way round.
#include "postgresqlfixture.h"
#include "tests/support/testmain.h"

#include <QRegularExpression>

namespace {

QJsonObject contender(const QJsonObject &lock, int place)
{
    return lock.value("contenders"_L1).toArray().at(place).toObject();
}

// "holder 4711 read, waiter 4712 exclusive"
QString drawn(const QJsonObject &lock)
{
    QStringList all;
    for (const auto &one : lock.value("contenders"_L1).toArray())
        all << u"%1 %2 %3"_s.arg(one.toObject().value("role"_L1).toString(),
                                 one.toObject().value("session"_L1).toString(u"-"_s),
                                 one.toObject().value("mode"_L1).toString());
    return all.join(u", "_s);
}

QString role(const char *word, const Psql &of, const char *mode)
{
    return QString::fromLatin1(word + QByteArray(" ") + of.pid() + ' ' + mode);
}

} // namespace

class TestPostgreSql : public PostgreSqlFixture {
    Q_OBJECT

    [[nodiscard]] std::unique_ptr<Psql> psql() const { return std::make_unique<Psql>(uri()); }
    [[nodiscard]] QStringList acquiring(const QString &lock, const QString &recipe,
                                        const QStringList &more = {}) const
    {
        return with(QStringList{u"acquire"_s, u"pg:"_s + lock, u"--recipe"_s, recipe, u"--json"_s} + more);
    }
    static QString findingOf(const QJsonObject &lock, const QString &code)
    {
        for (const auto &one : lock.value("findings"_L1).toArray()) {
            if (one.toObject().value("code"_L1).toString() == code)
                return one.toObject().value("message"_L1).toString();
        }
        return {};
    }

private slots:
    void initTestCase() { SKIP_FOR(startServer()); }
    void cleanupTestCase() { m_server.reset(); }

    // Everybody on this machine may come in: so nobody is let near the files of whoever started it.
    void privateServerIsOnLoopbackWithoutSuperuser()
    {
        const auto one = psql();
        QCOMPARE(one->ask("SHOW is_superuser;"), QByteArray("off"));
        QCOMPARE(one->ask("SHOW listen_addresses;"), QByteArray("127.0.0.1"));
        QVERIFY(one->ask("SELECT pg_read_file('/etc/hostname');").contains("permission denied"));
        const Psql keeper(uri(u"keeper"_s));
        QVERIFY2(keeper.pid().contains("pg_hba.conf"), keeper.pid());
    }

    // A look is no write: what is read-only is seen all the same.
    void readOnlyConnectionSeesLocks()
    {
        const auto one = psql();
        one->ask("SELECT pg_advisory_lock(4711);");
        const auto locks = run(with({u"locks"_s, u"--json"_s, u"--read-only"_s}));
        QVERIFY2(locks.status == 0, locks.what());
        QVERIFY2(locks.out.contains("ADVISORY#4711"), locks.what());
        const auto trial = run(with({u"test"_s, u"--production"_s, u"pg"_s}));
        QVERIFY2(trial.status == 0 && trial.out.contains("locks at first sight: 1"), trial.what());
    }

    // Who may make functions in a schema of the path has none of them called by us.
    void functionsOfOthersAreNotRun()
    {
        const auto one = psql();
        one->ask("CREATE FUNCTION public.to_jsonb(record) RETURNS jsonb LANGUAGE plpgsql AS "
                 "$$ BEGIN RAISE EXCEPTION 'run by a look'; END $$;");
        one->ask("CREATE FUNCTION public.pg_has_role(text, text) RETURNS boolean LANGUAGE plpgsql AS "
                 "$$ BEGIN RAISE EXCEPTION 'run by a trial'; END $$;");
        const auto ran = run(with({u"test"_s}));
        QVERIFY2(ran.status == 0 && !ran.what().contains("run by"), ran.what());
        const auto locks = run(with({u"locks"_s, u"--json"_s}));
        QVERIFY2(locks.status == 0 && !locks.what().contains("run by"), locks.what());
        one->ask("DROP FUNCTION public.to_jsonb(record); DROP FUNCTION public.pg_has_role(text, text);");
    }

    void aTrialSaysWhatItsUserMayDo()
    {
        const auto ran = run(with({u"test"_s}));
        QVERIFY2(ran.status == 0, ran.what());
        QVERIFY2(ran.out.contains("PostgreSQL 1"), ran.what());
        QVERIFY2(ran.out.contains("may see when other users' sessions began"), ran.what());
        QVERIFY2(ran.out.contains("may end the sessions of others, but for superusers'"), ran.what());
    }

    void lockscopeQueuesForAnAdvisoryLockOfPsql()
    {
        const auto holder = psql();
        holder->ask("SELECT pg_advisory_lock(42);");
        Ctl waiter(acquiring(u"ADVISORY#42"_s, u"pg-advisory"_s));
        QTRY_COMPARE_WITH_TIMEOUT(shown(u"ADVISORY#42"_s).value("contenders"_L1).toArray().size(), 2, patienceMs);
        const auto lock = shown(u"ADVISORY#42"_s);
        QCOMPARE(lock.value("recipe"_L1).toString(), u"pg-advisory"_s);
        QCOMPARE(lock.value("backend"_L1).toString(), u"postgresql"_s);
        QCOMPARE(lock.value("state"_L1).toString(), u"contended"_s);
        QVERIFY2(drawn(lock).startsWith(role("holder", *holder, "exclusive") + u", waiter "_s),
                 qPrintable(drawn(lock)));
        // Its number comes again, when it began does not.
        const auto id = contender(lock, 0).value("id"_L1).toString();
        QVERIFY2(QRegularExpression(u"^%1@[0-9]{16}$"_s.arg(QString::fromLatin1(holder->pid()))).match(id).hasMatch(),
                 qPrintable(id));
        const auto watch = contender(lock, 1).value("watches"_L1).toArray().at(0).toObject();
        QCOMPARE(watch.value("target"_L1).toString(), id);
        QCOMPARE(watch.value("evidence"_L1).toString(), u"server"_s);
        holder->ask("SELECT pg_advisory_unlock(42);");
        QVERIFY(waiter.jsonLine().value("acquired"_L1).toBool());
    }

    void psqlQueuesForAnAdvisoryLockOfLockscope()
    {
        Ctl holder(acquiring(u"ADVISORY#-7,42"_s, u"pg-advisory"_s));
        const auto had = holder.jsonLine();
        QVERIFY(had.value("acquired"_L1).toBool());
        const auto waiter = psql();
        QCOMPARE(waiter->ask("SELECT pg_try_advisory_lock(-7, 42);"), QByteArray("f"));
        waiter->send("SELECT 'mine' FROM pg_advisory_lock(-7, 42);");
        QTRY_COMPARE_WITH_TIMEOUT(shown(u"ADVISORY#-7,42"_s).value("contenders"_L1).toArray().size(), 2, patienceMs);
        const auto lock = shown(u"ADVISORY#-7,42"_s);
        QCOMPARE(contender(lock, 0).value("id"_L1), had.value("id"_L1));
        QVERIFY2(drawn(lock).endsWith(role("waiter", *waiter, "exclusive")), qPrintable(drawn(lock)));
        holder.signal(SIGTERM);
        QCOMPARE(waiter->answer(), QByteArray("mine"));
        QCOMPARE(holder.jsonLine().value("reason"_L1).toString(), u"interrupted"_s);
    }

    void readersShareAndAWriterWaitsBehindThem()
    {
        const auto one = psql(), other = psql(), writer = psql();
        one->ask("SELECT pg_advisory_lock_shared(5);");
        other->ask("BEGIN; SELECT pg_advisory_xact_lock_shared(5);");
        writer->send("SELECT 'mine' FROM pg_advisory_lock(5);");
        QTRY_COMPARE_WITH_TIMEOUT(shown(u"ADVISORY#5"_s).value("contenders"_L1).toArray().size(), 3, patienceMs);
        const auto lock = shown(u"ADVISORY#5"_s);
        QVERIFY2(drawn(lock).contains(role("holder", *one, "read")), qPrintable(drawn(lock)));
        QVERIFY2(drawn(lock).contains(role("holder", *other, "read")), qPrintable(drawn(lock)));
        QVERIFY2(drawn(lock).endsWith(role("waiter", *writer, "exclusive")), qPrintable(drawn(lock)));
        // The lock of a transaction ends with it, that of a session does not.
        other->ask("COMMIT;");
        QTRY_COMPARE_WITH_TIMEOUT(shown(u"ADVISORY#5"_s).value("contenders"_L1).toArray().size(), 2, patienceMs);
        one->ask("SELECT pg_advisory_unlock_shared(5);");
        QCOMPARE(writer->answer(), QByteArray("mine"));
    }

    void rowHasItsKeyAndItsStuckHolderIsTerminated()
    {
        const auto holder = psql();
        holder->ask("SET application_name = 'billing'; BEGIN; UPDATE stock SET quantity = 1 WHERE id = 1;");
        Ctl waiter(acquiring(u"public.stock#id=1"_s, u"pg-for-update"_s));
        const auto third = psql();
        QTRY_COMPARE_WITH_TIMEOUT(shown(u"public.stock#id=1"_s).value("contenders"_L1).toArray().size(), 2,
                                  patienceMs);
        third->send("SELECT 'had' FROM stock WHERE id = 1 FOR UPDATE;");
        QTRY_COMPARE_WITH_TIMEOUT(shown(u"public.stock#id=1"_s).value("contenders"_L1).toArray().size(), 3,
                                  patienceMs);
        const auto lock = shown(u"public.stock#id=1"_s);
        QCOMPARE(lock.value("recipe"_L1).toString(), u"pg-for-update"_s);
        QVERIFY2(drawn(lock).startsWith(role("holder", *holder, "exclusive")), qPrintable(drawn(lock)));
        QVERIFY2(drawn(lock).endsWith(role("waiter", *third, "exclusive")), qPrintable(drawn(lock)));
        QCOMPARE(findingOf(lock, u"idle-in-transaction"_s), QString()); // not for long
        const auto sessions = run(with({u"sessions"_s, u"--json"_s}));
        QVERIFY2(sessions.out.contains("public.stock#id=1"), sessions.what());
        const auto graph = run(with({u"graph"_s, u"--json"_s}));
        QVERIFY2(graph.out.contains("public.stock#id=1"), graph.what());

        // By the name that tells it from others of its user.
        const auto text = run(with({u"show"_s, u"pg:public.stock#id=1"_s})), table = run(with({u"locks"_s}));
        const auto clients = run(with({u"sessions"_s}));
        QVERIFY2(clients.out.contains("shop (billing)"), clients.what());
        QVERIFY2(text.out.contains("shop (billing)"), text.what());
        QVERIFY2(text.out.contains("last statement: UPDATE stock SET quantity = 1 WHERE id = 1;"), text.what());
        QVERIFY2(text.out.contains("statement: SELECT '?' FROM stock WHERE id = 1 FOR UPDATE;"), text.what());
        const auto work = contender(lock, 0).value("work"_L1).toObject();
        QVERIFY(!work.value("running"_L1).toBool(true) && work.value("transactionMs"_L1).isDouble());
        QVERIFY2(table.out.contains("\tbilling\t"), table.what());

        const auto id = contender(lock, 0).value("id"_L1).toString();
        const auto planned = forced(u"public.stock#id=1"_s, id, {u"--dry-run"_s});
        QVERIFY2(planned.out.contains("pg_terminate_backend(" + holder->pid()), planned.what());
        const auto refused = forced(u"public.stock#id=1"_s, id, {u"--read-only"_s});
        QVERIFY2(refused.status == 4, refused.what());
        const auto released = forced(u"public.stock#id=1"_s, id);
        QVERIFY2(released.status == 0 && released.json().value("released"_L1).toBool(), released.what());
        const auto said = holder->ask("SELECT 1;");
        QVERIFY2(said.contains("terminating connection due to administrator command"), said);
        QVERIFY(waiter.jsonLine().value("acquired"_L1).toBool());
        waiter.signal(SIGTERM);
        QCOMPARE(third->answer(), QByteArray("had"));
    }

    // The next one waits for one of those that share it, and then for the other: none of them is all that is in the
    // way.
    void readersShareARowAndTheNextWaitsForEachOfThem()
    {
        const auto name = u"public.stock#id=3"_s;
        const auto one = psql(), other = psql(), writer = psql();
        one->ask("BEGIN; SELECT FROM stock WHERE id = 3 FOR SHARE;");
        other->ask("BEGIN; SELECT FROM stock WHERE id = 3 FOR SHARE;");
        writer->send("UPDATE stock SET quantity = 1 WHERE id = 3;");
        QTRY_COMPARE_WITH_TIMEOUT(shown(name).value("contenders"_L1).toArray().size(), 3, patienceMs);
        const auto lock = shown(name);
        QVERIFY2(drawn(lock).contains(role("holder", *one, "read")), qPrintable(drawn(lock)));
        QVERIFY2(drawn(lock).contains(role("holder", *other, "read")), qPrintable(drawn(lock)));
        QVERIFY2(drawn(lock).endsWith(role("waiter", *writer, "exclusive")), qPrintable(drawn(lock)));
        // Both can be taken away, each by its own transaction, and neither lets the writer in.
        for (int holder = 0; holder < 2; ++holder) {
            const auto id = contender(lock, holder).value("id"_L1).toString();
            const auto planned = forced(name, id, {u"--dry-run"_s});
            QVERIFY2(planned.out.contains("the other holders keep the lock"), planned.what());
        }
        const auto released = forced(name, contender(lock, 0).value("id"_L1).toString());
        QVERIFY2(released.status == 0 && released.json().value("released"_L1).toBool(), released.what());
        QTRY_COMPARE_WITH_TIMEOUT(shown(name).value("contenders"_L1).toArray().size(), 2, patienceMs);
    }

    // An ALTER that waits keeps all readers behind it out: taking it out of the queue lets them in, and says so.
    void aWaiterThatIsTakenOutLetsInWhomItKeptOut()
    {
        const auto reader = psql(), writer = psql(), late = psql();
        reader->ask("SELECT pg_advisory_lock_shared(50);");
        writer->send("SELECT pg_advisory_lock(50);");
        QTRY_COMPARE_WITH_TIMEOUT(shown(u"ADVISORY#50"_s).value("contenders"_L1).toArray().size(), 2, patienceMs);
        late->send("SELECT pg_advisory_lock_shared(50);");
        QTRY_COMPARE_WITH_TIMEOUT(shown(u"ADVISORY#50"_s).value("contenders"_L1).toArray().size(), 3, patienceMs);
        const auto lock = shown(u"ADVISORY#50"_s);
        const auto waiter = contender(lock, 1).value("id"_L1).toString();
        const auto next = contender(lock, 2).value("id"_L1).toString();
        const auto planned = forced(u"ADVISORY#50"_s, waiter, {u"--method"_s, u"kill-waiter"_s, u"--dry-run"_s});
        QVERIFY2(planned.out.contains("the readers right behind it (the server wakes them): " + next.toUtf8()),
                 planned.what());
    }

    // An ALTER waits by then, and the row cannot be read again: what it is was known before.
    void aRowKeepsItsNameOverAReconnect()
    {
        const auto holder = psql(), waiter = psql(), alter = psql();
        holder->ask("BEGIN; SELECT * FROM stock WHERE id = 1 FOR UPDATE;");
        waiter->send("BEGIN; SELECT * FROM stock WHERE id = 1 FOR UPDATE;");
        Ctl watch(with({u"locks"_s, u"--watch"_s, u"--json"_s}));
        const auto told = [&watch](const QByteArray &until) {
            QByteArray all;
            const QDeadlineTimer limit(patienceMs);
            while (!all.contains(until) && !limit.hasExpired())
                all += watch.line() + '\n';
            return all;
        };
        QVERIFY(told("stock#id=1").contains("stock#id=1"));
        alter->send("ALTER TABLE stock ADD COLUMN IF NOT EXISTS note text;");
        // Both wait for the table, and whoever reads a row of it now waits behind them.
        QVERIFY(told("pg-table").contains("pg-table"));
        const auto ended = psql()->ask("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE "
                                       "application_name LIKE 'lockscope%';");
        QVERIFY2(ended.toInt() > 0, ended);
        const auto sign = psql();
        sign->ask("SELECT pg_advisory_lock(4711);"); // seen on the new connection
        const auto after = told("ADVISORY#4711");
        QVERIFY2(after.contains("ADVISORY#4711"), after);
        QVERIFY2(!after.contains("ctid"), after);
        const auto unread = shown(u"public.stock#id=1"_s); // who comes now cannot read it
        QVERIFY(unread.isEmpty());
        holder->ask("COMMIT;");
        waiter->answer();
        waiter->ask("COMMIT;");
        alter->answer();
        watch.signal(SIGTERM);
        watch.finish();
    }

    void tableOfAWaitingAlterShowsItsBlockers()
    {
        const auto reader = psql(), alter = psql(), late = psql();
        reader->ask("BEGIN; SELECT count(*) FROM jobs;");
        alter->send("ALTER TABLE jobs ADD COLUMN IF NOT EXISTS note text;");
        QTRY_COMPARE_WITH_TIMEOUT(shown(u"public.jobs"_s).value("contenders"_L1).toArray().size(), 2, patienceMs);
        late->send("SELECT count(*) FROM jobs;");
        QTRY_COMPARE_WITH_TIMEOUT(shown(u"public.jobs"_s).value("contenders"_L1).toArray().size(), 3, patienceMs);
        const auto lock = shown(u"public.jobs"_s);
        QCOMPARE(lock.value("recipe"_L1).toString(), u"pg-table"_s);
        QCOMPARE(drawn(lock), role("holder", *reader, "read") + u", "_s + role("waiter", *alter, "write") + u", "_s
                                  + role("waiter", *late, "read"));
        // Gentler than to end the reader: the ALTER does not wait any more, and whoever came behind it goes on.
        const auto ended =
            forced(u"public.jobs"_s, contender(lock, 1).value("id"_L1).toString(), {u"--method"_s, u"kill-waiter"_s});
        QVERIFY2(ended.status == 0 && !ended.what().contains("INVALID"), ended.what());
        const auto said = alter->answer();
        QVERIFY2(said.contains("canceling statement due to user request"), said);
        QCOMPARE(late->answer(), QByteArray("3"));
        QCOMPARE(reader->ask("SELECT 'still here';"), QByteArray("still here"));
    }

    // What it has read is in pg_locks, too, as predicate locks of rows; what it waits for is a key.
    void aSerializableWaiterIsNotAtARowItHasRead()
    {
        const auto holder = psql(), waiter = psql();
        holder->ask("CREATE TABLE numbers (id int PRIMARY KEY); INSERT INTO numbers VALUES (1), (2);");
        holder->ask("BEGIN; INSERT INTO numbers VALUES (3);");
        const auto name = u"TRANSACTION#"_s + QString::fromLatin1(holder->ask("SELECT txid_current();"));
        waiter->ask("BEGIN ISOLATION LEVEL SERIALIZABLE; SET enable_seqscan = off; SET enable_bitmapscan = off;");
        waiter->ask("SELECT FROM numbers WHERE id = 1;");
        waiter->send("INSERT INTO numbers VALUES (3);");
        QTRY_COMPARE_WITH_TIMEOUT(shown(name).value("contenders"_L1).toArray().size(), 2, patienceMs);
        QVERIFY(!ctl({u"locks"_s}).out.contains("numbers#"));
    }

    void aParallelQueryIsOneHolder()
    {
        const auto name = u"public.many"_s;
        const auto reader = psql(), alter = psql();
        reader->ask("CREATE TABLE many AS SELECT i FROM generate_series(1, 5000) i;");
        reader->ask("ALTER TABLE many SET (parallel_workers = 2); SET parallel_setup_cost = 0;");
        reader->ask("SET max_parallel_workers_per_gather = 2; SET parallel_tuple_cost = 0;");
        reader->send("SELECT count(*) FROM many WHERE pg_sleep(0.05) IS NOT NULL;");
        const auto workers = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker';";
        QTRY_COMPARE_WITH_TIMEOUT(psql()->ask(workers), QByteArray("2"), patienceMs);
        alter->send("ALTER TABLE many ADD COLUMN note text;");
        QTRY_VERIFY_WITH_TIMEOUT(shown(name).value("contenders"_L1).toArray().size() > 1, patienceMs);
        const auto lock = shown(name);
        QCOMPARE(drawn(lock), role("holder", *reader, "read") + u", "_s + role("waiter", *alter, "write"));
        const auto released = forced(name, contender(lock, 0).value("id"_L1).toString());
        QVERIFY2(released.status == 0, released.what());
    }

    // PostgreSQL keeps the index of a CREATE INDEX CONCURRENTLY that is ended.
    void endedIndexBuildLeavesAnInvalidIndex_data()
    {
        const Rows<QByteArray, QByteArray> row("statement", "invalid");
        row("CREATE INDEX", "CREATE INDEX CONCURRENTLY \"By Note\" ON stock (quantity);", "public.\"By Note\"");
        row("REINDEX", "REINDEX INDEX CONCURRENTLY stock_pkey;", "public.stock_pkey_ccnew");
    }
    void endedIndexBuildLeavesAnInvalidIndex()
    {
        QFETCH(QByteArray, statement);
        QFETCH(QByteArray, invalid);
        const auto writer = psql(), builder = psql();
        writer->ask("BEGIN; UPDATE stock SET quantity = quantity WHERE id = 1;");
        builder->send(statement);
        QString lock;
        const auto awaited = [&] {
            for (const auto &one : ctl({u"locks"_s}).json().value("locks"_L1).toArray()) {
                const auto name = one.toObject().value("lock"_L1).toString();
                lock = name.startsWith(u"pg:VIRTUALXID#"_s) ? name.mid(3) : lock;
            }
            return !lock.isEmpty();
        };
        QTRY_VERIFY_WITH_TIMEOUT(awaited(), patienceMs);
        const auto leftovers = [&] {
            QStringList all;
            for (const auto &found : ctl({u"findings"_s}).json().value("findings"_L1).toArray()) {
                if (found["code"_L1].toString() == u"leftover-keys"_s)
                    all << found["locks"_L1][0].toString() + u' ' + found["severity"_L1].toString();
            }
            return all;
        };
        QCOMPARE(leftovers(), QStringList()); // it is being built
        const auto waiter = contender(shown(lock), 1).value("id"_L1).toString();
        const auto ended = forced(lock, waiter, {u"--method"_s, u"kill-waiter"_s});
        const auto outcome = ended.json().value("outcome"_L1).toString();
        QVERIFY2(outcome.contains(u"INVALID index (%1)"_s.arg(QString::fromUtf8(invalid))), ended.what());
        QVERIFY2(ended.out.contains("leaves its index as INVALID"), ended.what()); // of the preview
        QVERIFY(builder->answer().contains("canceling statement due to user request"));
        QCOMPARE(builder->ask("SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid;"),
                 invalid.mid(QByteArrayView("public.").size()));
        writer->ask("ROLLBACK;");
        auto named = QString::fromUtf8(invalid);
        QCOMPARE(leftovers(), QStringList(u"pg:"_s + named.remove(u'"') + u" warning"_s));
        builder->ask("VACUUM stock;");
        QCOMPARE(leftovers().size(), 1);
        builder->ask("DROP INDEX " + invalid + ';');
        QCOMPARE(leftovers(), QStringList());
    }

    // Who reads the row's key queues behind the ALTER. Whoever has read it before still knows it.
    void rowBehindAnAlterKeepsItsWaiters()
    {
        const auto holder = psql(), waiter = psql(), alter = psql();
        holder->ask("BEGIN; SELECT FROM stock WHERE id = 2 FOR UPDATE;");
        waiter->send("UPDATE stock SET quantity = 1 WHERE id = 2;");
        QTRY_COMPARE_WITH_TIMEOUT(shown(u"public.stock#id=2"_s).value("contenders"_L1).toArray().size(), 2,
                                  patienceMs);
        Ctl watch(with({u"locks"_s, u"--watch"_s}));
        QVERIFY(watch.line().contains("public.stock#id=2"));
        alter->send("ALTER TABLE stock ADD COLUMN IF NOT EXISTS note text;");
        QByteArray told;
        while (!told.contains("\"pg:public.stock\"")) {
            const auto line = watch.line();
            QVERIFY2(!line.isEmpty() && !line.contains("ctid"), line.constData());
            told += line;
        }
        const auto fresh = run(with({u"locks"_s, u"--json"_s}));
        QVERIFY2(fresh.out.contains("public.stock#ctid:(") && fresh.out.contains("their keys could not be read"),
                 fresh.what());
        const auto byKey = run(with({u"show"_s, u"pg:public.stock#id=2"_s}));
        QVERIFY2(byKey.status != 0 && !byKey.err.contains("no client waits"), byKey.what());
        QVERIFY2(byKey.err.contains("all of the table") && byKey.err.contains("it may be public.stock#ctid:("),
                 byKey.what());
        const auto place = QString::fromUtf8(byKey.err).section(u"it may be "_s, 1).trimmed();
        QCOMPARE(drawn(shown(place)),
                 role("holder", *holder, "exclusive") + u", "_s + role("waiter", *waiter, "exclusive"));
        const auto planned = forced(place, contender(shown(place), 0).value("id"_L1).toString(), {u"--dry-run"_s});
        QVERIFY2(planned.out.contains("pg_terminate_backend(" + holder->pid()), planned.what());
    }

    void aWorkQueueHandsEachRowToOne()
    {
        const auto queue = u"public.jobs#state=ready"_s, recipe = u"pg-skip-locked"_s;
        Ctl one(acquiring(queue, recipe)), other(acquiring(queue, recipe));
        QVERIFY(one.jsonLine().value("acquired"_L1).toBool());
        QVERIFY(other.jsonLine().value("acquired"_L1).toBool());
        const auto late = run(acquiring(queue, recipe, {u"--wait"_s, u"200ms"_s}));
        QVERIFY2(late.status == 5, late.what());
        Ctl next(acquiring(queue, recipe));
        one.signal(SIGTERM);
        QVERIFY(next.jsonLine().value("acquired"_L1).toBool());
    }

    void aPreparedTransactionHoldsWithoutASession()
    {
        const auto one = psql(), waiter = psql();
        one->ask("BEGIN; UPDATE stock SET quantity = 2 WHERE id = 2; PREPARE TRANSACTION 'stuck';");
        waiter->send("SELECT 'had' FROM stock WHERE id = 2 FOR UPDATE;");
        QTRY_COMPARE_WITH_TIMEOUT(shown(u"public.stock#id=2"_s).value("contenders"_L1).toArray().size(), 2,
                                  patienceMs);
        const auto lock = shown(u"public.stock#id=2"_s);
        const auto id = contender(lock, 0).value("id"_L1).toString();
        QVERIFY2(id.startsWith(u"prepared:stuck@"_s), qPrintable(id));
        QVERIFY(contender(lock, 0).value("session"_L1).isNull());
        QVERIFY(findingOf(lock, u"idle-in-transaction"_s).contains(u"ROLLBACK PREPARED"_s));
        const auto refused = forced(u"public.stock#id=2"_s, id);
        QVERIFY2(refused.status != 0 && refused.err.contains("ROLLBACK PREPARED"), refused.what());
        one->ask("ROLLBACK PREPARED 'stuck';");
        QCOMPARE(waiter->answer(), QByteArray("had"));
    }

    // Whoever comes after the holder that was planned for is never the one that is ended.
    void aReleaseThatRacesWithItsHolderHitsNobodyElse()
    {
        constexpr int races = 6;
        int taken = 0;
        const auto next = psql();
        for (int i = 0; i < races; ++i) {
            const auto holder = psql();
            holder->ask("SELECT pg_advisory_lock(9);");
            const auto id = contender(shown(u"ADVISORY#9"_s), 0).value("id"_L1).toString();
            next->send("SELECT 'mine' FROM pg_advisory_lock(9);");
            Ctl release(with({u"force-release"_s, u"pg:ADVISORY#9"_s, u"--holder"_s, id, u"--yes"_s, u"--json"_s}));
            // Never, at once, and anywhere between its looks.
            if (i % 3 == 1)
                QTest::qWait(15 * i);
            if (i % 3 != 0)
                holder->send("SELECT pg_advisory_unlock(9);");
            const auto ran = release.finish();
            QVERIFY2(ran.status == 0 || ran.status == 4, ran.what());
            taken += ran.status == 0 ? 1 : 0;
            QCOMPARE(next->answer(), QByteArray("mine"));
            QCOMPARE(next->ask("SELECT pg_backend_pid();"), next->pid()); // it lives
            next->ask("SELECT pg_advisory_unlock(9);");
        }
        QVERIFY(taken >= races / 3);
        qInfo("%d of %d were taken away, the others had let go before", taken, races);
    }

    void impossibleLockNameIsRefused_data()
    {
        addColumns<QString, QString, int>("lock", "recipe", "status");
        QTest::newRow("no number") << u"ADVISORY#orders"_s << u"pg-advisory"_s << 2;
        QTest::newRow("too large") << u"ADVISORY#9223372036854775808"_s << u"pg-advisory"_s << 2;
        QTest::newRow("no row's name") << u"stock"_s << u"pg-for-update"_s << 2;
        QTest::newRow("no such row") << u"public.stock#id=4711"_s << u"pg-for-update"_s << 1;
        QTest::newRow("a value is a value") << u"public.jobs#state=ready' OR '1'='1"_s << u"pg-for-update"_s << 1;
    }
    void impossibleLockNameIsRefused()
    {
        QFETCH(QString, lock);
        QFETCH(QString, recipe);
        const auto ran = run(acquiring(lock, recipe, {u"--wait"_s, u"2s"_s, u"--hold"_s, u"1ms"_s}));
        QTEST(ran.status, "status");
    }
};

LOCKSCOPE_TEST(TestPostgreSql)
#include "tst_postgresql.moc"
