// SPDX-License-Identifier: Apache-2.0
// The SQL recipes on a real MariaDB: conflicts, deadlocks, four kinds of failure that are not the
// same, and names. The rest: tests/contract.
#include "core/async/completion.h"
#include "core/recipes/make.h"
#include "core/recipes/mariadb/rowname.h"
#include "mariadbfixture.h"
#include "tests/support/contender.h"
#include "tests/support/countingsql.h"
#include "tests/support/testmain.h"

using mariadb::SessionState;
using SqlFault = RequestFault;

namespace {

const QByteArray stockRow("shop.stock#id=1");

struct SqlClient {
    explicit SqlClient(std::unique_ptr<mariadb::Session> itsSession) : session(std::move(itsSession)), sql(*session)
    {
    }
    std::unique_ptr<mariadb::Session> session;
    CountingSql sql;
    std::unique_ptr<recipes::Lock> lockOf(const QByteArray &recipe, const QByteArray &name)
    {
        auto made = recipes::makeLock(recipe, sql, name, {}, Random::fromSystem());
        if (!made)
            qFatal("%s", qPrintable(made.error().message));
        return std::move(*made);
    }
};

// With a session of its own, which outlives the lock.
struct SqlContender : SqlClient, testing::Contender {
    SqlContender(std::unique_ptr<mariadb::Session> itsSession, const QByteArray &recipe, const QByteArray &name)
        : SqlClient(std::move(itsSession)), Contender(session->loop(), lockOf(recipe, name))
    {
    }
    [[nodiscard]] QByteArray why() const { return granted ? textOf(*granted) : QByteArray("no answer"); }
};

struct Tally {
    int number = 0, failed = 0;
};

// The optimistic way: nobody is kept out, and work that came too late is done again.
Task<void> addByVersion(recipes::Lock *lock, mariadb::Session *session, int rounds, Tally *tally)
{
    const auto never = Deadline::never();
    for (int done = 0; done < rounds;) {
        const auto grant = co_await lock->acquire(never);
        if (!grant) {
            ++tally->failed;
            co_return;
        }
        auto pause = sleepFor(session->loop(), 2ms);
        co_await pause;
        const auto released = co_await lock->release(never);
        if (released)
            ++done;
        else if (released.error().code == ErrorCode::BadVersion)
            ++tally->number; // a conflict
        else
            ++tally->failed;
    }
}

} // namespace

class TestRecipesMariaDb : public MariaDbFixture {
    Q_OBJECT

    std::vector<std::unique_ptr<SqlContender>> m_contenders;

    SqlContender &add(const QByteArray &recipe, const QByteArray &name = {})
    {
        const auto lock = !name.isEmpty()            ? name
                          : recipe == "sql-get-lock" ? QByteArray("GET_LOCK#the lock")
                                                     : stockRow;
        m_contenders.push_back(std::make_unique<SqlContender>(openConnected(), recipe, lock));
        return *m_contenders.back();
    }

private slots:
    void initTestCase()
    {
        OK(startServer());
        QVERIFY(run(*m_admin, "CREATE TABLE shop.`odd ``#=.name` (`c``ol` VARCHAR(40) NOT NULL PRIMARY KEY)"));
        QVERIFY(run(*m_admin, "INSERT INTO shop.`odd ``#=.name` VALUES ('a'' OR ''1''=''1'), ('b')"));
    }
    void cleanup()
    {
        m_contenders.clear();
        QVERIFY(someWait(0));
        QVERIFY(nothingIsHeld());
        QCOMPARE(ask("SELECT IS_FREE_LOCK('the lock')"), QByteArray("1"));
    }
    void cleanupTestCase() { endServer(); }

    void namesAreRead_data()
    {
        addColumns<QByteArray, QByteArray, QByteArray, QByteArray>("name", "table", "column", "value");
        QTest::newRow("plain") << stockRow << QByteArray("`shop`.`stock`") << QByteArray("id") << QByteArray("1");
        QTest::newRow("value with everything")
            << QByteArray("s.t#c=a=b#c.d") << QByteArray("`s`.`t`") << QByteArray("c") << QByteArray("a=b#c.d");
        QTest::newRow("backticks") << QByteArray("`s.s`.`t``#`#`c=`=1") << QByteArray("`s.s`.`t``#`")
                                   << QByteArray("c=") << QByteArray("1");
        QTest::newRow("a backtick inside")
            << QByteArray("s.a`b#c=1") << QByteArray("`s`.`a``b`") << QByteArray("c") << QByteArray("1");
        QTest::newRow("a key of two columns")
            << QByteArray("q.QRTZ_LOCKS#SCHED_NAME=sched,LOCK_NAME=TRIGGER_ACCESS") << QByteArray("`q`.`QRTZ_LOCKS`")
            << QByteArray("SCHED_NAME|LOCK_NAME") << QByteArray("sched|TRIGGER_ACCESS");
        QTest::newRow("values and columns in backticks")
            << QByteArray("q.t#a=`x,y=``1`,`b c`=2,d=3,4") << QByteArray("`q`.`t`") << QByteArray("a|b c|d")
            << QByteArray("x,y=`1|2|3,4");
        QTest::newRow("a comma in a text") << QByteArray("q.t#a=Smith, J. = x") << QByteArray("`q`.`t`")
                                           << QByteArray("a") << QByteArray("Smith, J. = x");
        QTest::newRow("no schema") << QByteArray("stock#id=1") << QByteArray() << QByteArray() << QByteArray();
        QTest::newRow("Unknown column") << QByteArray("shop.stock") << QByteArray() << QByteArray() << QByteArray();
        QTest::newRow("open backtick") << QByteArray("`shop.stock#id=1") << QByteArray() << QByteArray()
                                       << QByteArray();
        QTest::newRow("a named lock") << QByteArray("GET_LOCK#x") << QByteArray() << QByteArray() << QByteArray();
    }
    void namesAreRead()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, table);
        QFETCH(QByteArray, column);
        QFETCH(QByteArray, value);
        const auto read = recipes::readRowName(name);
        QCOMPARE(bool(read), !table.isEmpty());
        if (!read)
            return;
        QCOMPARE(read->quotedTable(), table);
        QCOMPARE(read->columns.join('|'), column);
        QCOMPARE(read->values.join('|'), value);
    }

    void noUpdateIsLostAndConflictsAreCounted()
    {
        constexpr int contenders = 4, rounds = 6;
        const auto before = ask("SELECT version FROM shop.stock WHERE id = 1").toInt();
        Tally tally;
        Scope scope(m_loop);
        for (int i = 0; i < contenders; ++i) {
            auto &one = add("sql-version");
            scope.launch(addByVersion(one.lock.get(), &one.sql, rounds, &tally));
        }
        QTRY_VERIFY_WITH_TIMEOUT(scope.isIdle(), 60'000);
        QCOMPARE(tally.failed, 0);
        QCOMPARE(ask("SELECT version FROM shop.stock WHERE id = 1").toInt(), before + contenders * rounds);
        int statements = 0;
        for (const auto &contender : m_contenders)
            statements += contender->sql.statements();
        // One SELECT and one UPDATE for each that won, and the same for each lost round.
        QCOMPARE(statements, 2 * (contenders * rounds + tally.number));
    }

    void aConflictIsToldAndTheTokenGrows()
    {
        auto &one = add("sql-version");
        auto &other = add("sql-version");
        one.acquire();
        other.acquire();
        QTRY_VERIFY(one.holds() && other.holds());
        QCOMPARE((*one.granted)->fencingToken, (*other.granted)->fencingToken);
        QVERIFY(one.givesBack());
        QVERIFY(other.saysItIsNotMine());
        QCOMPARE(other.codeOfRelease(), code(ErrorCode::BadVersion));
        const auto before = *(*other.granted)->fencingToken;
        QVERIFY(other.takes());
        QCOMPARE(*(*other.granted)->fencingToken, before + 1);
        QCOMPARE((*other.granted)->conflicts, 1);
        QVERIFY(other.givesBack());
    }

    void conflictsInARowAreBounded()
    {
        auto &one = add("sql-version");
        for (int i = 0; i < 100; ++i) {
            QVERIFY2(one.takes(), one.why());
            QCOMPARE((*one.granted)->conflicts, i);
            QVERIFY(run(*m_admin, "UPDATE shop.stock SET version = version + 1 WHERE id = 1"));
            QCOMPARE(one.codeOfRelease(), code(ErrorCode::BadVersion));
        }
        QCOMPARE(one.codeOfAcquire(), code(ErrorCode::BadVersion));
    }

    void fourFailuresAreFourErrors()
    {
        auto &holder = add("sql-for-update");
        QVERIFY2(holder.takes(), holder.why());
        // 1. No time left; and the server's own timeout does not end a wait that has time.
        auto &late = add("sql-for-update");
        QVERIFY(run(*late.session, "SET SESSION innodb_lock_wait_timeout = 1"));
        QVERIFY2(late.codeOfAcquire(Deadline::after(m_loop, 1500ms)) == code(ErrorCode::TimedOut), late.why());
        QCOMPARE(late.sql.count("SELECT"), 2);
        QCOMPARE(late.sql.count("ROLLBACK"), 1);
        QVERIFY2(late.codeOfAcquire(Deadline::at(m_loop.now())) == code(ErrorCode::TimedOut), late.why());
        // 2. Killed while it waits.
        auto &killed = add("sql-for-update");
        killed.acquire();
        QVERIFY(someWait(1));
        QVERIFY(kill(*killed.session));
        QTRY_VERIFY(killed.granted);
        QVERIFY2(codeOf(*killed.granted) == code(ErrorCode::SessionExpired), killed.why());
        // 3. No such row, and no such table.
        auto &missing = add("sql-for-update", "shop.stock#id=4711");
        QVERIFY2(missing.codeOfAcquire() == code(ErrorCode::NoRow), missing.why());
        auto &noTable = add("sql-for-update", "shop.no_such_table#id=1");
        QVERIFY2(noTable.codeOfAcquire() == code(ErrorCode::Unsupported), noTable.why());
    }

    void theVictimOfADeadlockIsToldAndHoldsNothing()
    {
        auto &one = add("sql-for-update");
        QVERIFY2(one.takes(), one.why());
        // Locks row 2 and then, by hand, wants row 1; heavier than the other, so that it is not the victim.
        auto other = openConnected();
        QVERIFY(run(*other, "START TRANSACTION"));
        for (const auto *id : {"2", "3", "4"})
            QVERIFY(run(*other, "UPDATE shop.stock SET quantity = quantity + 1 WHERE id = ?", {id}));
        const auto wants =
            other->execute({"SELECT id FROM shop.stock WHERE id = 1 FOR UPDATE", {}, {}, false}, soon());
        QVERIFY(someWait(1));
        const auto victim = run(*one.session, "SELECT id FROM shop.stock WHERE id = 2 FOR UPDATE");
        QVERIFY2(codeOf(victim) == code(ErrorCode::DeadlockVictim), textOf(victim));
        QVERIFY(answerOf(wants));
        // The server rolled the transaction back, and with it the lock.
        QVERIFY(one.saysItIsNotMine());
        QVERIFY(run(*other, "ROLLBACK"));
    }

    void namedLocksHaveDeadlocksToo()
    {
        auto &one = add("sql-get-lock", "GET_LOCK#first");
        auto &other = add("sql-get-lock", "GET_LOCK#second");
        one.acquire();
        other.acquire();
        QTRY_VERIFY(one.holds() && other.holds());
        const auto crosswise = one.session->execute({"SELECT GET_LOCK('second', 20)", {}, {}, false}, soon());
        QVERIFY(someWait(1));
        const auto second = run(*other.session, "SELECT GET_LOCK('first', 20)");
        if (!second) {
            QCOMPARE(codeOf(second), code(ErrorCode::DeadlockVictim));
            other.release();
            QVERIFY(answerOf(crosswise));
        } else {
            QCOMPARE(codeOf(answerOf(crosswise)), code(ErrorCode::DeadlockVictim));
        }
    }

    void aLostCommitIsOfUnknownOutcomeAndTheLockIsFree()
    {
        auto &holder = add("sql-for-update");
        QVERIFY2(holder.takes(), holder.why());
        holder.sql.plan("COMMIT", SqlFault::LoseRequest);
        QCOMPARE(holder.codeOfRelease(), code(ErrorCode::UnknownOutcome));
        auto &next = add("sql-for-update");
        QVERIFY2(next.takes(), next.why());
    }

    void aLostWriteOfAVersionIsOfUnknownOutcome()
    {
        auto &one = add("sql-version");
        QVERIFY2(one.takes(), one.why());
        one.sql.plan("UPDATE", SqlFault::LoseReply);
        QCOMPARE(one.codeOfRelease(), code(ErrorCode::UnknownOutcome));
        QCOMPARE(ask("SELECT version FROM shop.stock WHERE id = 1").toLongLong(), *(*one.granted)->fencingToken + 1);
    }

    void oddNamesAreQuotedAndValuesBound()
    {
        const QByteArray table("shop.`odd ``#=.name`#`c``ol`=");
        auto &one = add("sql-for-update", table + "a' OR '1'='1");
        QVERIFY2(one.takes(), one.why());
        auto &other = add("sql-for-update", table + "b");
        QVERIFY2(other.takes(), other.why());
        auto &none = add("sql-for-update", table + "c' OR '1'='1");
        QCOMPARE(none.codeOfAcquire(), code(ErrorCode::NoRow));
        // MariaDB's longest, or MySQL's.
        const QByteArray longest(run(*m_admin, "SELECT IS_FREE_LOCK(REPEAT('n', 192))") ? 192 : 64, 'n');
        auto &fits = add("sql-get-lock", "GET_LOCK#" + longest);
        QVERIFY2(fits.takes(), fits.why());
        auto &tooLong = add("sql-get-lock", "GET_LOCK#" + longest + 'n');
        QVERIFY2(tooLong.codeOfAcquire() == code(ErrorCode::BadInput), tooLong.why());
    }
};

LOCKSCOPE_TEST(TestRecipesMariaDb)
#include "tst_recipes_mariadb.moc"
