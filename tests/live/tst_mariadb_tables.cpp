// SPDX-License-Identifier: Apache-2.0
// Locks on whole tables of a real MariaDB: LOCK TABLES, an ALTER behind an open transaction and who waits behind it,
// what a server that tells less still says, and how they are ended. And what a client is doing.
#include "core/inspect/findings.h"
#include "core/inspect/mariadb/observer.h"
#include "core/operate/forcerelease.h"
#include "core/operate/releasemethod.h"
#include "core/operate/sql.h"
#include "mariadbfixture.h"
#include "tests/support/finish.h"
#include "tests/support/keepingsink.h"
#include "tests/support/testmain.h"

#include <QTemporaryDir>

using namespace lockscope::inspect;

namespace {

Task<Result<operate::ForceReleasePlan>> withLossesOf(operate::ForceReleasePlan plan, mariadb::Session *session,
                                                     Deadline deadline)
{
    auto looking = operate::withKillLosses(std::move(plan), session, deadline);
    auto full = co_await looking;
    co_return full;
}

} // namespace

class TestMariaDbTables : public MariaDbFixture {
    Q_OBJECT

    const QByteArray table{"TABLE#shop.stock"};
    QTemporaryDir m_folder;

    void keepStatements(bool yes)
    {
        must(*m_admin, QByteArray("UPDATE performance_schema.setup_consumers SET ENABLED = ")
                           + (yes ? "'YES'" : "'NO'") + " WHERE NAME = 'events_statements_current'");
    }
    Result<LockSnapshot> readNow(Observer &observer, const QByteArray &name)
    {
        return testing::finish(m_loop, observer.readNow(name, soon()));
    }
    // "11 holds read, 12 waits" …, in order.
    static QString words(const LockSnapshot &lock)
    {
        QStringList all;
        for (const auto &contender : lock.contenders)
            all << u"%1 %2%3"_s.arg(*contender.session, contender.role == Role::Holder ? u"holds"_s : u"waits"_s,
                                    contender.mode == Mode::Read ? u" read"_s : QString());
        return all.join(u", "_s);
    }
    static QString sessionOf(const mariadb::Session &session) { return QString::number(session.connectionId()); }
    Result<operate::ForceReleaseOutcome> act(const operate::ForceReleasePlan &plan, Observer &observer,
                                             operate::AuditFile &audit)
    {
        operate::ForceReleaseTools tools{
            .observer = &observer,
            .send = [this](operate::ForceReleasePlan sent,
                           Deadline by) { return operate::sendRelease(std::move(sent), m_admin.get(), by); },
            .audit = &audit,
            .loop = &m_loop};
        return testing::finish(m_loop, operate::forceRelease(plan, tools, QStringLiteral("a test"), soon()));
    }
    bool isAnswered(const Reply<mariadb::Rows> &reply)
    {
        return QTest::qWaitFor([&] { return reply.isComplete(); }, patienceMs);
    }
    Result<SessionActivity> doing(const mariadb::Session &client)
    {
        return testing::finish(m_loop, readSqlDoing(m_admin.get(), client.connectionId(), soon()));
    }
    void instrument(bool on)
    {
        must(*m_admin, QByteArray("UPDATE performance_schema.setup_instruments SET ENABLED = ")
                           + (on ? "'YES'" : "'NO'") + " WHERE NAME = 'wait/lock/metadata/sql/mdl'");
    }

private slots:
    void initTestCase()
    {
        qputenv("XDG_STATE_HOME", m_folder.path().toUtf8());
        SKIP_FOR(startServer());
    }
    void cleanup() { QVERIFY(nothingIsHeld()); }
    void cleanupTestCase()
    {
        if (m_server)
            endServer();
    }

    void lockTablesIsALockBeforeAnybodyWaits()
    {
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        const auto holder = openConnected(), reader = openConnected();
        must(*holder, "LOCK TABLES shop.stock WRITE");
        auto lock = readNow(observer, table);
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(lock->recipe, QByteArray("sql-table-lock"));
        QCOMPARE(lock->state, LockState::Held);
        QCOMPARE(words(*lock), sessionOf(*holder) + u" holds"_s);
        QVERIFY(lock->findings.empty());
        const auto waiting = send(*reader, "SELECT * FROM shop.stock");
        QVERIFY(waitForTables(1));
        lock = readNow(observer, table);
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(words(*lock), u"%1 holds, %2 waits read"_s.arg(sessionOf(*holder), sessionOf(*reader)));
        QVERIFY(lock->contenders[1].waitingSince);
        QVERIFY(lock->contenders[0].runsNothing && !lock->find(FindingCode::IdleInTransaction)); // not for long
        must(*holder, "UNLOCK TABLES");
        QVERIFY(isAnswered(waiting));
        const auto after = readNow(observer, table);
        QVERIFY(!after);
        QCOMPARE(codeOf(after), code(ErrorCode::NoNode));
    }

    // The one that blocks everything, and did nothing but read: an open transaction. Then ALTER, then all others.
    void blockerOfTheAlterIsShown()
    {
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        const auto holder = openConnected(), other = openConnected(), alter = openConnected(),
                   reader = openConnected();
        must(*other, "START TRANSACTION");
        must(*other, "SELECT 1"); // has no table: in nobody's way
        must(*holder, "START TRANSACTION");
        must(*holder, "SELECT * FROM shop.stock");
        const auto altering = send(*alter, "ALTER TABLE shop.stock ADD COLUMN weight INT");
        QVERIFY(waitForTables(1));
        const auto reading = send(*reader, "SELECT * FROM shop.stock");
        QVERIFY(waitForTables(2));
        const auto lock = readNow(observer, table);
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(words(*lock), u"%1 holds read, %2 waits, %3 waits read"_s.arg(sessionOf(*holder), sessionOf(*alter),
                                                                               sessionOf(*reader)));
        QVERIFY(lock->contenders[0].heldSince && lock->contenders[0].heldAtMost);                // its transaction's
        QVERIFY(lock->contenders[0].runsNothing && !lock->find(FindingCode::IdleInTransaction)); // not for long

        // It only read, so it has no number: another of the same second could pass for it.
        auto late = lock;
        QVERIFY(QTest::qWaitFor(
            [&] {
                late = readNow(observer, table);
                return late && late->contenders[0].heldSince && late->observed - *late->contenders[0].heldSince > 2s;
            },
            patienceMs));
        auto plan = operate::planForceRelease(*late, late->contenders[0].id);
        QVERIFY2(plan, textOf(plan));
        plan = testing::finish(m_loop, withLossesOf(*plan, m_admin.get(), soon()));
        QVERIFY2(plan, textOf(plan));
        QCOMPARE(plan->act, u"KILL connection %1"_s.arg(sessionOf(*holder)));
        QVERIFY(plan->otherLocksLost.empty());
        operate::AuditFile audit(m_folder.filePath(u"audit.jsonl"_s));
        const auto outcome = act(*plan, observer, audit);
        QVERIFY2(outcome && outcome->released, textOf(outcome));
        QVERIFY(isAnswered(altering) && isAnswered(reading));
        QVERIFY2(altering.value(), textOf(altering.value()));
        QVERIFY2(reading.value(), textOf(reading.value()));
        must(*other, "ROLLBACK");
        must(*m_admin, "ALTER TABLE shop.stock DROP COLUMN weight");
    }

    // Two readers: both are in its way, by name.
    void allWhoAreInTheWayAreHolders()
    {
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        const auto one = openConnected(), two = openConnected(), alter = openConnected();
        for (auto *session : {one.get(), two.get()}) {
            must(*session, "START TRANSACTION");
            must(*session, "SELECT * FROM shop.stock");
        }
        const auto altering = send(*alter, "TRUNCATE TABLE shop.stock");
        QVERIFY(waitForTables(1));
        const auto lock = readNow(observer, table);
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(words(*lock), u"%1 holds read, %2 holds read, %3 waits"_s.arg(sessionOf(*one), sessionOf(*two),
                                                                               sessionOf(*alter)));
        // The ALTER is what is ended here: its connection stays, and so do the others' transactions. Without blocks
        // it is refused, and somebody does it by hand.
        const auto plan = operate::planWay(*lock, lock->contenders[2].id, operate::ReleaseAction::KillWaiter);
        QVERIFY2(plan, textOf(plan));
        operate::AuditFile audit(m_folder.filePath(u"audit.jsonl"_s));
        const auto outcome = act(*plan, observer, audit);
        if (m_admin->features().blocks)
            QVERIFY2(outcome && outcome->done, textOf(outcome));
        else
            QCOMPARE(codeOf(outcome), code(ErrorCode::Unsupported));
        if (!outcome)
            must(*m_admin, "KILL QUERY " + QByteArray::number(alter->connectionId()));
        QVERIFY(isAnswered(altering));
        QVERIFY(!altering.value());
        must(*alter, "SELECT 1");
        must(*one, "ROLLBACK");
        must(*two, "ROLLBACK");
        QCOMPARE(ask("SELECT COUNT(*) FROM shop.stock"), QByteArray("4"));
    }

    // LOCK TABLES … READ is told with the mode of any reader; it is the only one there, so it is in the way.
    void theOnlyOneThereIsInTheWay()
    {
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        const auto holder = openConnected(), writer = openConnected();
        must(*holder, "LOCK TABLES shop.stock READ");
        const auto writing = send(*writer, "UPDATE shop.stock SET quantity = 41 WHERE id = 1");
        QVERIFY(waitForTables(1));
        const auto lock = readNow(observer, table);
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(words(*lock), u"%1 holds read, %2 waits"_s.arg(sessionOf(*holder), sessionOf(*writer)));
        const auto plan = operate::planForceRelease(*lock, lock->contenders[0].id);
        QVERIFY2(plan, textOf(plan));
        operate::AuditFile audit(m_folder.filePath(u"audit.jsonl"_s));
        const auto outcome = act(*plan, observer, audit);
        QVERIFY2(outcome && outcome->released, textOf(outcome));
        QVERIFY(isAnswered(writing));
        QVERIFY2(writing.value(), textOf(writing.value()));
    }

    // It let go between the preview and the act, and goes on with something else: nothing happens to it.
    void formerHolderIsNotKilled_data()
    {
        const Rows<QByteArray> row("next");
        row("something else", "SELECT 1"_ba);
        row("the same table, for reading", "LOCK TABLES shop.stock READ"_ba);
    }
    void formerHolderIsNotKilled()
    {
        QFETCH(QByteArray, next);
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        const auto holder = openConnected();
        must(*holder, "LOCK TABLES shop.stock WRITE");
        const auto lock = readNow(observer, table);
        QVERIFY2(lock, textOf(lock));
        const auto plan = operate::planForceRelease(*lock, lock->contenders[0].id);
        QVERIFY2(plan, textOf(plan));
        must(*holder, "UNLOCK TABLES");
        must(*holder, next);
        const auto connection = holder->connectionId();
        const auto sent = testing::finish(m_loop, operate::sendRelease(*plan, m_admin.get(), soon()));
        QVERIFY(!sent);
        QCOMPARE(codeOf(sent), code(ErrorCode::Refused));
        must(*holder, "UNLOCK TABLES");
        QCOMPARE(holder->connectionId(), connection);
    }

    // Without instruments: who waits is known by its statement, who is in the way is nobody's guess, and all of that
    // is said.
    void aServerThatTellsLessIsSaidTo()
    {
        instrument(false);
        const auto session = openConnected(); // asks anew what the server has
        testing::KeepingSink sink;
        MariaDbObserver observer(*session, ConnectionName("db"), {}, sink);
        const auto holder = openConnected(), alter = openConnected(), reader = openConnected();
        must(*holder, "START TRANSACTION");
        must(*holder, "SELECT * FROM shop.stock");
        const auto altering = send(*alter, "ALTER TABLE shop.stock ADD COLUMN weight INT");
        QVERIFY(waitForTables(1));
        const auto reading = send(*reader, "SELECT * FROM shop.stock");
        QVERIFY(waitForTables(2));
        const auto lock = readNow(observer, table);
        QVERIFY2(lock, textOf(lock));
        QCOMPARE(words(*lock), sessionOf(*alter) + u" waits"_s);
        QVERIFY(!lock->waitersKnown);
        QVERIFY2(lock->why.contains("its statement says"_L1) && lock->why.contains("does not report the blocker"_L1),
                 qPrintable(lock->why));
        QString said;
        const auto isCounted = [&] { // who has only just begun to wait is not counted yet
            (void)readNow(observer, table);
            said.clear();
            for (const auto &part : observer.coverage())
                said += (part.complete ? u"complete: "_s : u"gap: "_s) + part.message + u'\n';
            for (const auto &part : observer.coverage()) {
                for (const auto &wait : part.unexplained)
                    said += u"unexplained: "_s + wait.text + u'\n';
            }
            return said.contains(
                "unexplained: 2 connections wait in the state \"Waiting for table metadata lock\""_L1);
        };
        QVERIFY2(QTest::qWaitFor(isCounted, patienceMs), qPrintable(said));
        QVERIFY2(said.contains("gap: who has a table"_L1), qPrintable(said));
        must(*holder, "ROLLBACK");
        QVERIFY(isAnswered(altering) && isAnswered(reading));
        must(*m_admin, "ALTER TABLE shop.stock DROP COLUMN weight");
        instrument(true);
    }

    // An idle client in a transaction shows its age, however it came to have one; also to one who asks right after
    // somebody asked before it began.
    void anIdleTransactionHasAnAge_data()
    {
        const Rows<QByteArrayList> row("statements");
        row("read", {"START TRANSACTION", "SELECT * FROM shop.stock"});
        row("read only", {"START TRANSACTION READ ONLY", "SELECT * FROM shop.stock"});
        row("written", {"START TRANSACTION", "UPDATE shop.stock SET quantity = quantity + 1 WHERE id = 2"});
        row("autocommit off", {"SET autocommit = 0", "SELECT * FROM shop.stock WHERE id = 3 FOR UPDATE"});
    }
    void anIdleTransactionHasAnAge()
    {
        QFETCH(QByteArrayList, statements);
        const auto client = openConnected();
        QVERIFY(doing(*client)); // the server has a copy now, and the transaction is not in it
        for (const auto &statement : statements)
            must(*client, statement);
        for (int reads = 0; reads < 3; ++reads) {
            const auto said = doing(*client);
            QVERIFY2(said, textOf(said));
            QVERIFY(!said->isRunning);
            QVERIFY2(said->transactionAge, qPrintable(u"read %1: "_s.arg(reads) + said->gaps.join(u"; "_s)));
        }
        must(*client, "ROLLBACK");
    }

    // What the page of sessions says of a client, beside an observer: one that is idle in a transaction, one that
    // runs something, one that is gone. The sandbox's server keeps the last statement; of one that does not, as
    // MariaDB by itself, that is said.
    void clientsActivityIsRead_data()
    {
        addRows<bool>("isKept", {{"statements are kept", true}, {"statements are not kept", false}});
    }
    void clientsActivityIsRead()
    {
        QFETCH(const bool, isKept);
        keepStatements(isKept);
        // The client's own question after a rest would be its last statement.
        auto options = sqlOptionsFor(m_server->address());
        options.askIdleEvery = 2 * std::chrono::milliseconds(patienceMs);
        const auto client = mariadb::openSession(m_loop, options);
        QVERIFY(becomes(*client, mariadb::SessionState::Connected));
        testing::KeepingSink sink;
        MariaDbObserver observer(*m_admin, ConnectionName("db"), {}, sink);
        observer.start();
        QTRY_VERIFY(observer.firstSnapshot().isComplete());
        must(*client, "START TRANSACTION");
        must(*client, "UPDATE shop.stock SET quantity = quantity + 1 WHERE id = 1");
        auto said = doing(*client);
        QVERIFY2(said, textOf(said));
        QVERIFY2(said->transactionAge, qPrintable(said->gaps.join(u"; "_s)));
        QCOMPARE(said->rowsModified, qint64(1));
        QCOMPARE(said->statement,
                 isKept ? QByteArray("UPDATE shop.stock SET quantity = quantity + 1 WHERE id = 1") : QByteArray());
        QCOMPARE(said->gaps.join(u' ').contains(u"its last statement is not kept"_s), !isKept);
        // Of a prepared one MariaDB keeps no text, and then what came before it is not the last.
        const auto prepared =
            client->execute({"SELECT id FROM shop.stock WHERE id = ? FOR UPDATE", {"2"}, {}, true}, soon());
        QVERIFY(isAnswered(prepared));
        QVERIFY(prepared.value());
        said = doing(*client);
        QVERIFY2(said, textOf(said));
        QCOMPARE(said->statement, QByteArray());
        QCOMPARE(said->gaps.join(u' ').contains(u"as of a prepared one"_s), isKept);
        must(*client, "ROLLBACK");
        const auto sleeping = send(*client, "SELECT SLEEP(60)");
        QVERIFY(QTest::qWaitFor(
            [&] {
                said = doing(*client);
                return said && said->isRunning;
            },
            patienceMs));
        QCOMPARE(said->statement, "SELECT SLEEP(60)");
        QVERIFY(!said->transactionAge);
        QVERIFY(kill(*client));
        QVERIFY(isAnswered(sleeping));
        const auto gone = testing::finish(m_loop, readSqlDoing(m_admin.get(), 999'999'999, soon()));
        QCOMPARE(codeOf(gone), code(ErrorCode::NoNode));
        keepStatements(true);
    }
};

LOCKSCOPE_TEST(TestMariaDbTables)
#include "tst_mariadb_tables.moc"
