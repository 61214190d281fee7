// SPDX-License-Identifier: Apache-2.0
// From rows of a PostgreSQL to snapshots: names, who holds and who waits, in which order, what is odd; what its
// errors mean; and that nothing of a value becomes a part of a statement.
#include "core/inspect/findings.h"
#include "core/inspect/postgresql/observer.h"
#include "core/inspect/mariadb/observer.h"
#include "core/operate/releasemethod.h"
#include "core/operate/forcerelease.h"
#include "core/operate/sql.h"
#include "core/postgresql/dialect.h"
#include "core/recipes/mariadb/rowname.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;

namespace {

const ConnectionName pgConnection("pg");
constexpr PgMoment oneSecond = 1'000'000, pgBegun = 1'700'000'000 * oneSecond;

PgSession pgSession(quint64 pid, const QByteArray &state = "active")
{
    return {pid,
            "app",
            "shop",
            {},
            "client backend",
            state,
            {},
            "10.0.0." + QByteArray::number(pid) + ":4000",
            pgBegun + PgMoment(pid),
            pgBegun + 10 * oneSecond,
            pgBegun + 20 * oneSecond};
}

PgLock pgAdvisory(quint64 pid, bool isGranted, const QByteArray &mode = "ExclusiveLock",
                  std::vector<quint64> blockedBy = {})
{
    PgLock lock{.type = "advisory",
                .database = "5",
                .databaseName = "shop",
                .classId = "0",
                .objectId = "42",
                .objectSubId = "1",
                .owner = QByteArray::number(pid) + "/1",
                .pid = pid,
                .mode = mode,
                .isGranted = isGranted,
                .blockedBy = std::move(blockedBy)};
    if (!isGranted)
        lock.waitStart = pgBegun + PgMoment(30 + pid) * oneSecond;
    return lock;
}

PgLock pgTransaction(quint64 pid, const QByteArray &transaction, bool isGranted, std::vector<quint64> blockedBy = {})
{
    auto lock = pgAdvisory(pid, isGranted, isGranted ? "ExclusiveLock" : "ShareLock", std::move(blockedBy));
    lock.type = "transactionid";
    lock.database = lock.databaseName = lock.classId = lock.objectId = lock.objectSubId = {};
    lock.transaction = transaction;
    return lock;
}

PgLock pgTuple(quint64 pid, bool isGranted, std::vector<quint64> blockedBy = {})
{
    auto lock = pgAdvisory(pid, isGranted, "AccessExclusiveLock", std::move(blockedBy));
    lock.type = "tuple";
    lock.classId = lock.objectId = lock.objectSubId = {};
    lock.relation = "16384";
    lock.relationName = "`public`.`stock`";
    lock.page = "0";
    lock.tuple = "1";
    return lock;
}

PgLock pgTable(quint64 pid, const QByteArray &mode, bool isGranted, std::vector<quint64> blockedBy = {})
{
    auto lock = pgTuple(pid, isGranted, std::move(blockedBy));
    lock.type = "relation";
    lock.page = lock.tuple = {};
    lock.mode = mode;
    return lock;
}

PgPoll pgLook(std::vector<PgLock> locks, std::vector<PgSession> sessions)
{
    PgPoll look{.now = timeOf(pgBegun + 100 * oneSecond),
                .database = "5",
                .sessions = std::move(sessions),
                .locks = std::move(locks)};
    look.rowKeys[{"16384", "0", "1"}] = {{"id"}, {"1"}};
    return look;
}

// "public.stock#id=1 pg-for-update contended: holder 1 0, waiter 2 1 ->1 server"
QByteArray drawn(const LockSnapshot &lock)
{
    QByteArrayList parts;
    for (const auto &contender : lock.contenders) {
        auto part = QByteArray(contender.role == Role::Holder ? "holder " : "waiter ")
                    + contender.session.value_or(u"-"_s).toUtf8() + ' '
                    + (contender.position ? QByteArray::number(*contender.position) : QByteArray("?"));
        for (const auto &watch : contender.watches)
            part += " ->" + watch.target.left(watch.target.indexOf('@'))
                    + (watch.evidence == Evidence::Server ? "" : " inferred");
        parts << part;
    }
    return lock.lock.name + ' ' + lock.recipe + ": " + parts.join(", ");
}

QByteArray drawn(const PgPoll &look)
{
    QByteArrayList all;
    for (const auto &lock : snapshotsOf(look, pgConnection))
        all << drawn(lock);
    return all.join(" | ");
}

} // namespace

class TestPostgreSqlSnapshots : public QObject {
    Q_OBJECT
private slots:
    void invalidIndexIsALeftover()
    {
        auto look = pgLook({}, {});
        look.invalidIndexes.push_back({"`public`.`By Note`", "public.stock"});
        const auto locks = snapshotsOf(look, pgConnection);
        QCOMPARE(locks.size(), std::size_t(1));
        const auto &lock = locks.front();
        QVERIFY(lock.lock.name == "public.By Note" && lock.contenders.empty() && lock.state == LockState::Free);
        const auto *finding = lock.find(FindingCode::LeftoverKeys);
        QVERIFY(finding && lock.worst() == Severity::Warning && finding->message.contains(u"DROP INDEX"_s));
        // Where a client waits for that index it is one lock.
        auto held = pgTable(1, "AccessExclusiveLock", true), asked = pgTable(2, "AccessShareLock", false, {1});
        held.relationName = asked.relationName = look.invalidIndexes.front().relationName;
        look.locks = {held, asked};
        const auto contended = snapshotsOf(look, pgConnection);
        QVERIFY(contended.size() == 1 && contended.front().find(FindingCode::LeftoverKeys)
                && contended.front().holderCount() == 1);
    }
    void namesAdvisoryLocks_data()
    {
        const Rows<quint32, quint32, int, QByteArray> row("classId", "objectId", "kind", "name");
        row("one key", 0U, 42U, 1, "ADVISORY#42");
        row("a large one", 1U, 0U, 1, "ADVISORY#4294967296");
        row("a negative one", ~0U, ~0U, 1, "ADVISORY#-1");
        row("two keys", 7U, 42U, 2, "ADVISORY#7,42");
        row("a negative one of two", ~0U, 42U, 2, "ADVISORY#-1,42");
    }
    void namesAdvisoryLocks()
    {
        QFETCH(quint32, classId);
        QFETCH(quint32, objectId);
        QFETCH(int, kind);
        const auto name = advisoryName({classId, objectId, kind}, {});
        QTEST(name, "name");
        QVERIFY(recipes::readAdvisoryName(name)); // what is shown can be acquired
    }
    void knowsWhoseKeyItIs()
    {
        QVERIFY(!knownAdvisory({0, 42, 1}, "shop"));
        // 2053462845 times 0xCBF43926, which is the CRC-32 of this name.
        const AdvisoryKey rails{1635984199, 293609486, 1};
        QCOMPARE(knownAdvisory(rails, "123456789"), std::optional(u"Rails migrations"_s));
        QVERIFY(!knownAdvisory(rails, "shop"));
        QCOMPARE(knownAdvisory({0x466C, 0x79776179, 1}, "shop"), std::optional(u"Flyway"_s));
        QVERIFY(!knownAdvisory({0x466C, 0x79776179, 2}, "shop"));
        QCOMPARE(knownAdvisory({0, 3689236698, 1}, "shop"), std::optional(u"golang-migrate"_s));
        QVERIFY(!knownAdvisory({0, 3689236698, 1}, "other"));
        QCOMPARE(knownAdvisory({0, 72707369, 1}, "shop"), std::optional(u"Prisma Migrate"_s));
        QCOMPARE(knownAdvisory({1370892985, 814103398, 1}, "shop"), std::optional(u"goose"_s));
        QCOMPARE(knownAdvisory({0, 4097083626, 1}, "shop"), std::optional(u"goose"_s));
    }

    void sinceWhenIsKnownOfWhatWasSeenToBegin()
    {
        const ServerTime before(std::chrono::seconds(100));
        const auto seen = [](Role role, const char *recipe = "pg-advisory") {
            LockSnapshot lock{.recipe = recipe};
            lock.contenders.resize(1);
            lock.contenders[0].id = "7@1";
            lock.contenders[0].role = role;
            return lock;
        };
        const auto beginning = [](LockSnapshot lock, const LockSnapshot *then,
                                  std::optional<ServerTime> lookedBefore) {
            notifyBeginnings(lock, then, lookedBefore);
            const auto &one = lock.contenders[0];
            return one.heldAtMost == one.heldSince.has_value() ? one.heldSince : ServerTime();
        };
        const auto holder = seen(Role::Holder);
        const auto waiter = seen(Role::Waiter);
        QCOMPARE(beginning(holder, nullptr, before), std::optional(before));
        QCOMPARE(beginning(holder, &waiter, before), std::optional(before));
        QVERIFY(!beginning(holder, nullptr, std::nullopt)); // the first look
        QVERIFY(!beginning(holder, &holder, before));       // had it at the first look
        QVERIFY(!beginning(waiter, nullptr, before));
        auto known = holder;
        notifyBeginnings(known, nullptr, before);
        QCOMPARE(beginning(holder, &known, ServerTime(std::chrono::seconds(200))), std::optional(before));
        // Of a row no look says that nobody has it.
        QVERIFY(!beginning(seen(Role::Holder, "pg-table"), nullptr, before));
    }

    void anAdvisoryLockAndItsQueue()
    {
        const auto look = pgLook({pgAdvisory(1, true), pgAdvisory(3, false, "ExclusiveLock", {1, 2}),
                                  pgAdvisory(2, false, "ExclusiveLock", {1})},
                                 {pgSession(1), pgSession(2), pgSession(3)});
        QCOMPARE(drawn(look), QByteArray("ADVISORY#42 pg-advisory: holder 1 0, waiter 2 1 ->1, waiter 3 2 ->2"));
        const auto lock = snapshotsOf(look, pgConnection).front();
        QCOMPARE(lock.state, LockState::Contended);
        QCOMPARE(lock.contenders[0].id, backendContenderId(1, pgBegun + 1));
        QCOMPARE(lock.contenders[0].guard.sql().text,
                 QByteArray("pid=1 backend_start=1700000000000001 lock=advisory:5:0:42:1"));
        QCOMPARE(lock.contenders[1].waitingSince, std::optional(timeOf(pgBegun + 32 * oneSecond)));
        QVERIFY(lock.findings.empty());
    }
    void anotherDatabasesLockIsAnother()
    {
        auto other = pgAdvisory(2, true);
        other.database = "6";
        other.databaseName = "billing";
        QCOMPARE(drawn(pgLook({pgAdvisory(1, true), other}, {})),
                 QByteArray("ADVISORY#42 pg-advisory: holder 1 0 | ADVISORY@billing#42 pg-advisory: holder 2 0"));
    }
    void hiddenSessionCannotBeReleased()
    {
        auto hidden = pgSession(1);
        hidden.backendStart.reset();
        const auto lock = snapshotsOf(pgLook({pgAdvisory(1, true)}, {hidden}), pgConnection).front();
        QVERIFY(lock.contenders[0].guard.sql().text.isEmpty());
        QVERIFY(!operate::planForceRelease(lock, lock.contenders[0].id));
    }

    // No statement can be ended where none runs; nothing says what ended ones have to do with the lock.
    void anIdleHolderHasNoStatementToEnd()
    {
        const auto offers = [](const QByteArray &state) {
            auto session = pgSession(1, state);
            session.statement = "SELECT secret FROM t WHERE name = 'geheim'";
            const auto lock = snapshotsOf(pgLook({pgAdvisory(1, true), pgAdvisory(2, false, "ExclusiveLock", {1})},
                                                 {session, pgSession(2)}),
                                          pgConnection)
                                  .front();
            const auto &work = lock.contenders[0].work;
            if (!work || work->statement != "SELECT secret FROM t WHERE name = '?'"
                || work->isRunning == (state == "idle"))
                qFatal("%s", "the work of the holder is missing or wrong");
            return bool(operate::planWay(lock, lock.contenders[0].id, operate::ReleaseAction::KillQuery));
        };
        QVERIFY(offers("active"));
        QVERIFY(!offers("idle"));
    }

    // The first in line waits for the transaction, all others for the right to be next.
    void aRowAndItsQueue()
    {
        auto look = pgLook({pgTransaction(1, "740", true), pgTuple(2, true), pgTransaction(2, "740", false, {1}),
                            pgTuple(3, false, {2}), pgTransaction(3, "741", true)},
                           {pgSession(1, "idle in transaction"), pgSession(2), pgSession(3)});
        look.sessions.front().application = "billing";
        look.usualLimits = {{"lock_timeout", 5s, false}};
        QCOMPARE(drawn(look),
                 QByteArray("public.stock#id=1 pg-for-update: holder 1 0, waiter 2 1 ->1, waiter 3 2 ->2"));
        const auto lock = snapshotsOf(look, pgConnection).front();
        QVERIFY(lock.contenders[0].guard.sql().text.endsWith("xact_start=1700000010000000 lock=transactionid:740"));
        QVERIFY(lock.contenders[0].heldAtMost);
        const auto *idle = lock.find(FindingCode::IdleInTransaction);
        QVERIFY(idle);
        QCOMPARE(idle->severity, Severity::Warning); // for 80 s
        QVERIFY2(idle->message.startsWith(
                     u"connection 1 (billing; app from 10.0.0.1:4000) has been idle inside its transaction for"_s),
                 qPrintable(idle->message));
        QVERIFY(lock.contenders[0].runsNothing);
        look.sessions.front().stateSince = std::chrono::microseconds(look.now.time_since_epoch()).count(); // just now
        const auto between = snapshotsOf(look, pgConnection).front();
        QVERIFY(!between.find(FindingCode::IdleInTransaction) && between.contenders[0].runsNothing);
        QVERIFY2(lock.contenders[0].limits.empty(), "it waits for nothing");
        // What is known of a client whose work is told: the waiter of another host is another client.
        QVERIFY(!idle->message.contains(u"waiting for itself"_s));
        look.sessions.front().stateSince = pgBegun;
        look.sessions[1].application = look.sessions[0].application;
        look.sessions[1].endpoint = "10.0.0.1:4001";
        const auto alike = snapshotsOf(look, pgConnection).front();
        QVERIFY(alike.find(FindingCode::IdleInTransaction)->message.contains(u"connection 2, which waits for it"_s));
        QCOMPARE(lock.contenders[1].limits, look.usualLimits);
    }
    void aRowWithoutAKeyIsNamedByItsPlace()
    {
        auto look =
            pgLook({pgTransaction(1, "740", true), pgTuple(2, true), pgTransaction(2, "740", false, {1})}, {});
        look.rowKeys.clear();
        QVERIFY2(drawn(look).startsWith("public.stock#ctid:(0,1) "), drawn(look));
    }
    void aWaitForATransactionMayHaveNoRow()
    {
        const auto look = pgLook({pgTransaction(1, "740", true), pgTransaction(2, "740", false, {1})}, {});
        QCOMPARE(drawn(look), QByteArray("TRANSACTION#740 pg-for-update: holder 1 0, waiter 2 1 ->1"));
    }
    void aPreparedTransactionHoldsWithoutASession()
    {
        auto held = pgTransaction(0, "740", true);
        held.owner = "2/33"; // of the session that prepared it
        auto look = pgLook({held, pgTuple(2, true), pgTransaction(2, "740", false, {0})}, {pgSession(2)});
        look.prepared = {{"740", "stuck", "app", pgBegun}};
        const auto lock = snapshotsOf(look, pgConnection).front();
        QCOMPARE(lock.contenders[0].id, QByteArray("prepared:stuck@1700000000000000"));
        QVERIFY(!lock.contenders[0].session);
        QVERIFY(lock.find(FindingCode::IdleInTransaction)->message.contains(u"ROLLBACK PREPARED"_s));
        const auto plan = operate::planForceRelease(lock, lock.contenders[0].id);
        QVERIFY(plan && plan->commands.front().startsWith(u"nothing"_s));
    }

    // Not in the way: who reads the table, of one that wants to write rows.
    void onlyTheBlockerHoldsATable()
    {
        const auto look = pgLook({pgTable(1, "AccessShareLock", true), pgTable(4, "RowExclusiveLock", true),
                                  pgTable(2, "ShareLock", false, {4})},
                                 {pgSession(1), pgSession(2), pgSession(4)});
        QCOMPARE(drawn(look), QByteArray("public.stock pg-table: holder 4 0, waiter 2 1 ->4"));
        QVERIFY(
            snapshotsOf(look, pgConnection).front().contenders[0].guard.sql().text.endsWith("lock=relation:5:16384"));
    }
    void modesConflictAsTheManualSays()
    {
        QVERIFY(!conflicts("AccessShareLock", "ExclusiveLock"));
        QVERIFY(conflicts("AccessShareLock", "AccessExclusiveLock"));
        QVERIFY(!conflicts("ShareLock", "ShareLock"));
        QVERIFY(conflicts("ShareLock", "RowExclusiveLock"));
        QVERIFY(conflicts("ShareUpdateExclusiveLock", "ShareUpdateExclusiveLock"));
        QVERIFY(!conflicts("RowExclusiveLock", "RowExclusiveLock"));
        for (const auto *one : {"AccessShareLock", "RowShareLock", "RowExclusiveLock", "ShareUpdateExclusiveLock",
                                "ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"}) {
            QVERIFY(conflicts("AccessExclusiveLock", one));
            for (const auto *other : {"AccessShareLock", "RowShareLock", "ShareLock", "ExclusiveLock"})
                QCOMPARE(conflicts(one, other), conflicts(other, one));
        }
    }
    // Before PostgreSQL 14 nothing tells two readers behind one writer apart.
    void anOrderThatIsNotKnownIsNotMadeUp()
    {
        auto one = pgAdvisory(2, false, "ShareLock", {1}), other = pgAdvisory(3, false, "ShareLock", {1});
        one.waitStart.reset();
        other.waitStart.reset();
        QCOMPARE(drawn(pgLook({pgAdvisory(1, true), one, other}, {})),
                 QByteArray("ADVISORY#42 pg-advisory: holder 1 0, waiter 2 ? ->1, waiter 3 ? ->1"));
    }

    void tellsErrorsByTheirState()
    {
        const auto code = [](const char *state, bool isLasting = false) {
            return postgresql::statementError(QString::fromLatin1(state), u"said"_s, isLasting).code;
        };
        QCOMPARE(code("57014"), ErrorCode::Cancelled);
        QCOMPARE(code("55P03"), ErrorCode::TimedOut);
        QCOMPARE(code("40P01"), ErrorCode::DeadlockVictim);
        QCOMPARE(code("57P01"), ErrorCode::SessionExpired);
        QCOMPARE(code("", true), ErrorCode::UnknownOutcome);
        QCOMPARE(code("42501"), ErrorCode::NoPermission);
        QCOMPARE(code("42P01"), ErrorCode::Unsupported);
        QCOMPARE(code("22P02"), ErrorCode::BadInput);
        QCOMPARE(postgresql::connectError(u"FATAL: password authentication failed for user \"a\""_s).code,
                 ErrorCode::AuthFailed);
        const auto said = [](const char *text) { return postgresql::connectError(QString::fromLatin1(text)); };
        const auto nameless = said("connection to server at \"127.0.0.1\", port 43125 failed: FATAL: connection "
                                   "requires a valid client certificate");
        QVERIFY2(nameless.code == ErrorCode::AuthFailed && nameless.message.startsWith(u"TLS: "_s)
                     && nameless.message.contains(u"cert= and key="_s) && !nameless.message.contains(u"43125"_s),
                 qPrintable(nameless.message));
        for (const auto *how : {"no encryption", "SSL off"}) {
            const auto clear =
                said("FATAL: no pg_hba.conf entry for host \"::1\", user \"a\", database \"d\", " + QByteArray(how));
            QVERIFY2(clear.code == ErrorCode::AuthFailed && clear.message.contains(u"try tls=on"_s),
                     qPrintable(clear.message));
        }
        // Of several addresses each has its own words.
        QVERIFY(
            said("connection to server at \"h\" (::1), port 1 failed: a connection to server at \"h\" (10.0.0.1), "
                 "port 1 failed: b")
                .message.contains(u"(::1), port 1"_s));
        QCOMPARE(said("connection to server at \"h\" (::1), port 1 failed: timeout expired").message,
                 u"timeout expired"_s);
        // What libpq asks, who tells of it asks too.
        QCOMPARE(
            said("connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n\tIs the server running "
                 "on that host and accepting TCP/IP connections?\n")
                .message,
            u"Connection refused"_s);
        QCOMPARE(
            said("could not connect: No such file\n\tIs the server running locally and accepting connections on that "
                 "socket?")
                .message,
            u"could not connect: No such file"_s);
        QVERIFY(said("FATAL: sorry, too many clients already").isExplained);
        QVERIFY(nameless.isExplained);
        QVERIFY(!said("connection to server at \"127.0.0.1\", port 1 failed: Connection refused").isExplained);
        QVERIFY(!said("FATAL: password authentication failed for user \"a\"").isExplained);
        QCOMPARE(postgresql::connectError(u"FATAL: the database system is starting up"_s).code,
                 ErrorCode::NotConnected);
    }
    void aValueIsAValue()
    {
        const auto text = [](const QByteArray &statement, const QByteArrayList &parameters) {
            const auto told = postgresql::withParameters({statement, parameters, {}, false});
            return told ? *told : QByteArray("refused");
        };
        QCOMPARE(text("SELECT \"a?\" WHERE x = ?", {"it's"}), QByteArray("SELECT \"a?\" WHERE x = 'it''s'"));
        QCOMPARE(text("SELECT ?", {"a\\' --"}), QByteArray("SELECT  E'a\\\\'' --'"));
        QCOMPARE(text("SELECT ?", {}), QByteArray("refused"));
        QCOMPARE(text("SELECT 1", {"more"}), QByteArray("refused"));
        QCOMPARE(text("SELECT ?", {QByteArray("a\0b", 3)}), QByteArray("refused"));
        QCOMPARE(text("SELECT ?", {"\xff"}), QByteArray("refused"));
    }
    void theGateKnowsWhatLocks()
    {
        for (const auto *text :
             {"SELECT pg_advisory_lock('1')", "SELECT pg_try_advisory_lock('1')", "SELECT pg_terminate_backend(1)",
              "SELECT pg_cancel_backend(1)", "SELECT \"id\" FROM \"a\".\"b\" FOR UPDATE SKIP LOCKED",
              "SELECT 1 FOR NO KEY UPDATE", "WITH same AS (SELECT 1) SELECT pg_terminate_backend(1) FROM same"})
            QVERIFY2(operate::isSqlWrite({text, {}, {}, false}, operate::postgreSqlWriteWords()), text);
        for (const auto *text : {"SELECT 1", "SELECT set_config('lock_timeout', '100', false)",
                                 "SELECT pg_blocking_pids(1) FROM pg_locks WHERE locktype = 'advisory'"})
            QVERIFY2(!operate::isSqlWrite({text, {}, {}, false}, operate::postgreSqlWriteWords()), text);
    }
};

LOCKSCOPE_TEST(TestPostgreSqlSnapshots)
#include "tst_postgresql_snapshots.moc"
