// SPDX-License-Identifier: Apache-2.0
// The simulated MariaDB by itself: queues, deadlocks, timeouts, KILL, and what becomes of what a connection had.
// That the real server does the same is shown by tests/live/tst_simulated_mariadb.cpp.
#include "tests/simulate/sqlworld.h"
#include "tests/support/testmain.h"

using Heard = QByteArrayList;

class TestSimulatedMariaDb : public QObject {
    Q_OBJECT
private slots:
    void aRowGoesFromOneToTheNextInTheOrderTheyCame()
    {
        SqlWorld sql;
        sql.open("abcd");
        for (const auto name : QByteArray("abcd"))
            sql.begin(name);
        sql.lockRow('a', "1");
        sql.lockRow('a', "1"); // it has it already
        sql.lockRow('b', "1");
        sql.lockRow('c', "1");
        sql.lockRow('d', "2"); // another row
        QCOMPARE(sql.heard(), (Heard{"a row 1", "a row 1", "d row 2"}));
        sql.run('a', "COMMIT");
        QCOMPARE(sql.heard(), (Heard{"a 0 changed", "b row 1"}));
        sql.run('b', "ROLLBACK");
        QCOMPARE(sql.heard(), (Heard{"b 0 changed", "c row 1"}));
        QCOMPARE(sql.server.rowLocks().holderOf(sim::RowId{"shop.stock", "1"}), std::optional(sql.connections['c']));
    }

    void withoutATransactionNothingIsKept()
    {
        SqlWorld sql;
        sql.open("ab");
        sql.lockRow('a', "1");
        QVERIFY(sql.server.leftBehind().isEmpty());
        sql.begin('b');
        sql.lockRow('b', "1");
        sql.run('a', "SELECT `id` FROM `shop`.`stock` WHERE `id` = ? FOR UPDATE NOWAIT", {"1"});
        sql.run('b', "START TRANSACTION"); // ends the one before
        sql.lockRow('a', "1");
        QCOMPARE(sql.heard(), (Heard{"a row 1", "b row 1", "a 1205", "b 0 changed", "a row 1"}));
        sql.lockRow('b', "3");
        QCOMPARE(sql.heard(), (Heard{"b no row"}));
    }

    void clientClosingTheCycleIsTheVictim()
    {
        SqlWorld sql;
        sql.open("ab");
        sql.begin('a');
        sql.begin('b');
        sql.lockRow('a', "1");
        sql.lockRow('b', "2");
        sql.lockRow('a', "2");
        sql.lockRow('b', "1");
        QCOMPARE(sql.heard(), (Heard{"a row 1", "b row 2", "b 1213", "a row 2"}));
        sql.run('b', "SELECT @@in_transaction AS mine"); // all of it was rolled back
        QCOMPARE(sql.heard(), (Heard{"b row 0"}));
    }

    void writerIsNotTheVictim()
    {
        SqlWorld sql;
        sql.open("ab");
        sql.begin('a');
        sql.begin('b');
        sql.lockRow('a', "1");
        sql.write('b', "2", "1");
        sql.lockRow('a', "2");
        sql.lockRow('b', "1");
        QCOMPARE(sql.heard(), (Heard{"a row 1", "b 1 changed", "a 1213", "b row 1"}));
        // What a victim wrote is taken back.
        sql.begin('a');
        sql.run('b', "ROLLBACK");
        sql.readVersion('a', "2");
        QCOMPARE(sql.heard(), (Heard{"b 0 changed", "a row 1"}));
    }

    void theServersOwnTimeLimitEndsOnlyTheStatement()
    {
        SqlWorld sql;
        sql.open("abc");
        sql.begin('a');
        sql.lockRow('a', "1");
        sql.run('b', "SET SESSION innodb_lock_wait_timeout = 2");
        sql.begin('b');
        sql.lockRow('b', "2");
        sql.lockRow('b', "1");
        sql.lockRow('c', "1"); // its own limit is 50 s
        sql.heard();
        sql.world.advance(1999ms);
        QCOMPARE(sql.heard(), Heard());
        sql.world.advance(2ms);
        QCOMPARE(sql.heard(), (Heard{"b 1205"}));
        QCOMPARE(sql.server.rowLocks().holderOf(sim::RowId{"shop.stock", "2"}), std::optional(sql.connections['b']));
        sql.run('b', "SELECT @@in_transaction AS mine");
        sql.run('a', "COMMIT");
        QCOMPARE(sql.heard(), (Heard{"b row 1", "a 0 changed", "c row 1"}));
    }

    void killQueryEndsTheWaitAndKillTheConnection()
    {
        SqlWorld sql;
        sql.open("abck");
        for (const auto name : QByteArray("abc"))
            sql.begin(name);
        sql.lockRow('a', "1");
        sql.lockRow('b', "2");
        sql.lockRow('b', "1");
        sql.lockRow('c', "1");
        sql.heard();
        sql.run('k', "KILL QUERY " + QByteArray::number(sql.connections['b']));
        QCOMPARE(sql.heard(), (Heard{"b 1317", "k 0 changed"}));
        QCOMPARE(sql.server.rowLocks().holderOf(sim::RowId{"shop.stock", "2"}), std::optional(sql.connections['b']));
        sql.run('k', "KILL QUERY " + QByteArray::number(sql.connections['b'])); // nothing runs: no effect
        sql.run('k', "KILL " + QByteArray::number(sql.connections['a']));
        QCOMPARE(sql.heard(), (Heard{"k 0 changed", "c row 1", "a closed", "k 0 changed"}));
        sql.run('k', "KILL " + QByteArray::number(sql.connections['a']));
        QCOMPARE(sql.heard(), (Heard{"k 1094"}));
    }

    void aClosedConnectionGivesBackEverythingAtOnce()
    {
        SqlWorld sql;
        sql.open("ab");
        sql.begin('a');
        sql.write('a', "1", "1");
        sql.getLock('a', "x", "0");
        sql.lockRow('b', "1");
        sql.heard();
        sql.server.disconnected(sql.connections['a']);
        QCOMPARE(sql.heard(), (Heard{"b row 1"}));
        sql.readVersion('b', "1");
        sql.getLock('b', "x", "0");
        QCOMPARE(sql.heard(), (Heard{"b row 1", "b row 1"}));
    }

    // As a real one: it does not look at the socket while it waits for the row.
    void deadRowWaiterHoldsForAnInstant()
    {
        SqlWorld sql;
        sql.open("abc");
        for (const auto name : QByteArray("abc")) {
            sql.run(name, "SET SESSION autocommit=1, innodb_lock_wait_timeout=100000000"); // none
            sql.begin(name);
            sql.lockRow(name, "1");
        }
        sql.heard();
        sql.server.disconnected(sql.connections['b']);
        sql.world.advance(1h);
        QVERIFY(!sql.server.idleSince(sql.connections['b']));
        QCOMPARE(sql.server.leftBehind().size(), 4); // three transactions and the lock
        sql.run('a', "COMMIT");
        QCOMPARE(sql.heard(), (Heard{"a 0 changed", "c row 1"}));
        QVERIFY(!sql.server.kill(sql.connections['b']));
    }
    void deadNameWaiterIsNoticedWithinASecond()
    {
        SqlWorld sql;
        sql.open("ab");
        sql.getLock('a', "x", "0");
        sql.getLock('b', "x", "1000");
        sql.world.advance(1300ms);
        sql.server.disconnected(sql.connections['b']);
        sql.world.advance(699ms);
        QVERIFY(!sql.server.idleSince(sql.connections['b']));
        QVERIFY(!sql.server.kill(99));
        sql.world.advance(2ms);
        QVERIFY(!sql.server.kill(sql.connections['b']));
        sql.releaseLock('a', "x");
        QVERIFY(sql.server.leftBehind().isEmpty());
    }

    void namedLocksAreCountedAndQueued()
    {
        SqlWorld sql;
        sql.open("abc");
        sql.getLock('a', "x", "1");
        sql.getLock('a', "x", "1");
        sql.getLock('a', "y", "1"); // more than one
        sql.getLock('b', "x", "0");
        sql.getLock('b', "x", "-1");
        sql.getLock('b', "", "1");
        sql.getLock('b', "x", "2.5");
        sql.getLock('c', "x", "31536000");
        QCOMPARE(sql.heard(), (Heard{"a row 1", "a row 1", "a row 1", "b row 0", "b row NULL", "b row NULL"}));
        sql.world.advance(2501ms);
        QCOMPARE(sql.heard(), (Heard{"b row 0"}));
        sql.releaseLock('b', "x");
        sql.releaseLock('b', "nobody's");
        sql.releaseLock('a', "x");
        QCOMPARE(sql.heard(), (Heard{"b row 0", "b row NULL", "a row 1"}));
        sql.run('a', "COMMIT"); // has nothing to do with them
        sql.releaseLock('a', "x");
        QCOMPARE(sql.heard(), (Heard{"a 0 changed", "a row 1", "c row 1"}));
        sql.run('c', "SELECT IS_USED_LOCK(?) = CONNECTION_ID() AS mine", {"x"});
        sql.run('c', "SELECT IS_USED_LOCK(?) = CONNECTION_ID() AS mine", {"y"});
        QCOMPARE(sql.heard(), (Heard{"c row 1", "c row 0"}));
    }

    // Two in a row do not both hit the same one.
    void namedLockCycleEndsAWaitNotATransaction()
    {
        SqlWorld sql;
        sql.open("ab");
        sql.begin('a');
        sql.getLock('a', "x", "0");
        sql.getLock('b', "y", "0");
        sql.getLock('b', "x", "100");
        sql.heard();
        sql.getLock('a', "y", "100");
        sql.run('a', "SELECT @@in_transaction AS mine");
        QCOMPARE(sql.heard(), (Heard{"a 1213", "a row 1"}));
        sql.getLock('a', "y", "0"); // does not wait, and so is in no circle
        sql.getLock('a', "y", "100");
        QCOMPARE(sql.heard(), (Heard{"a row 0", "b 1213"}));
        sql.releaseLock('b', "y");
        QCOMPARE(sql.heard(), (Heard{"b row 1", "a row 1"}));
    }

    // Nobody sees a circle that goes through both kinds.
    void rowsAndNamesAreApart()
    {
        SqlWorld sql;
        sql.open("ab");
        sql.begin('a');
        sql.lockRow('a', "1");
        sql.getLock('b', "x", "0");
        sql.lockRow('b', "1");
        sql.getLock('a', "x", "3");
        sql.heard();
        sql.world.advance(3001ms);
        QCOMPARE(sql.heard(), (Heard{"a row 0"}));
    }

    void aVersionIsWrittenByOneOfThem()
    {
        SqlWorld sql;
        sql.open("ab");
        sql.begin('a');
        sql.write('a', "1", "1");
        sql.readVersion('b', "1"); // of what is committed
        sql.write('b', "1", "1");  // waits, and comes too late
        QCOMPARE(sql.heard(), (Heard{"a 1 changed", "b row 1"}));
        sql.run('a', "COMMIT");
        QCOMPARE(sql.heard(), (Heard{"a 0 changed", "b 0 changed"}));
        sql.write('b', "1", "2");
        sql.readVersion('a', "1");
        QCOMPARE(sql.heard(), (Heard{"b 1 changed", "a row 3"}));
    }

    void aTransactionReadsWhatThereWasWhenItFirstRead()
    {
        SqlWorld sql;
        sql.open("ab");
        sql.begin('a');
        sql.write('b', "1", "1");
        sql.readVersion('a', "1"); // only now
        sql.write('b', "1", "2");
        sql.readVersion('a', "1");
        sql.write('a', "1", "3"); // writes what is there now
        sql.readVersion('a', "1");
        QCOMPARE(sql.heard(), (Heard{"b 1 changed", "a row 2", "b 1 changed", "a row 2", "a 1 changed", "a row 4"}));
    }

    void unreadableStatementIsAnError_data()
    {
        const Rows<QByteArray, QByteArray> row("text", "answer");
        row("nothing", {}, "a 1064");
        row("another language", "DROP TABLE shop.stock", "a 1064");
        row("more than it knows", "COMMIT AND CHAIN", "a 1064");
        row("an open backtick", "SELECT `version AS version", "a 1064");
        row("without its parameter", "SELECT `id` FROM `shop`.`stock` WHERE `id` = ? FOR UPDATE", "a 1064");
        row("two columns", "SELECT `id` FROM `shop`.`stock` WHERE `name` = 1 FOR UPDATE", "a 1064");
        row("in lower case", "commit", "a 0 changed");
        row("do nothing", "DO 0", "a 0 changed");
    }
    void unreadableStatementIsAnError()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, answer);
        SqlWorld sql;
        sql.open("a");
        sql.run('a', text);
        QCOMPARE(sql.heard(), (Heard{answer}));
    }

    // What a statement looks at is locked. Each row is asked for by somebody who does not wait.
    void rowsThatAreReadAreLocked_data()
    {
        const Rows<bool, QByteArray, QByteArray> row("isReadCommitted", "where", "locked");
        row("by the index", false, "id >= 3", "3 4 5");
        row("too many for the index", false, "id >= 2", "1 2 3 4 5");
        row("none", false, "id >= 9", {});
        row("the number of a number", false, "id = 3", "3");
        row("a text for a number", false, "id = '3'", "3");
        row("a text for a text", false, "code = '3'", "3");
        row("a number for a text", false, "code = 3", "1 2 3 4 5");
        row("too many, READ COMMITTED", true, "id >= 2", "2 3 4 5");
        row("a number for a text, READ COMMITTED", true, "code = 3", "3");
    }
    void rowsThatAreReadAreLocked()
    {
        QFETCH(bool, isReadCommitted);
        QFETCH(QByteArray, where);
        QFETCH(QByteArray, locked);
        SqlWorld sql;
        sql.open("ab");
        if (isReadCommitted)
            sql.run('a', "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
        sql.begin('a');
        sql.run('a', "SELECT * FROM shop.goods WHERE " + where + " FOR UPDATE");
        QVERIFY(!sql.heard().last().contains("10")); // 1054, 1064
        QCOMPARE(sql.lockedGoods('b'), locked);
        sql.run('a', "COMMIT");
        QCOMPARE(sql.lockedGoods('b'), QByteArray());
    }

    // It has what it has seen, and waits where it comes to another's; granted, it looks on.
    void readerOfAllRowsWaitsForEachInTurn()
    {
        SqlWorld sql;
        sql.open("abc");
        const QByteArray lock("SELECT `id` FROM `shop`.`goods` WHERE `id` = ? FOR UPDATE");
        for (const auto name : QByteArray("abc"))
            sql.begin(name);
        sql.run('a', lock, {"2"});
        sql.run('b', lock, {"4"});
        sql.heard();
        sql.run('c', "SELECT * FROM shop.goods WHERE code = 5 FOR UPDATE");
        const auto hasC = [&](const char *id) {
            return sql.server.rowLocks().holderOf({"shop.goods", id}) == sql.connections['c'];
        };
        QVERIFY(hasC("1") && !hasC("2") && !hasC("3"));
        sql.run('a', "COMMIT");
        QVERIFY(hasC("2") && hasC("3") && !hasC("4") && !hasC("5"));
        QCOMPARE(sql.heard(), (Heard{"a 0 changed"}));
        sql.run('b', "COMMIT");
        QVERIFY(hasC("4") && hasC("5"));
        QCOMPARE(sql.heard(), (Heard{"b 0 changed", "c row 5"}));
    }

    // What was typed into a transaction goes with its connection.
    void writesAreRolledBackWithTheConnection()
    {
        SqlWorld sql;
        sql.open("ab");
        for (const auto name : QByteArray("ab"))
            sql.begin(name);
        sql.run('a', "UPDATE shop.goods SET version = version + 1 WHERE id = 3");
        sql.run('b', "SELECT * FROM shop.goods WHERE id = 3 FOR UPDATE"); // waits
        QCOMPARE(sql.heard(), (Heard{"a 1 changed"}));
        QCOMPARE(sql.server.committedVersion({"shop.goods", "3"}), std::optional<qint64>(1));
        sql.server.kill(sql.connections['a']);
        QCOMPARE(sql.heard(), (Heard{"b row 3", "a closed"}));
        QCOMPARE(sql.server.committedVersion({"shop.goods", "3"}), std::optional<qint64>(1));
        sql.run('b', "UPDATE shop.goods SET version = version + 1 WHERE id = 3");
        sql.run('b', "COMMIT");
        QCOMPARE(sql.server.committedVersion({"shop.goods", "3"}), std::optional<qint64>(2));
    }

    // READ COMMITTED: it lets go of what it got at once and does not want; what it had, or waited for, it keeps.
    void readCommittedLetsGoOfWhatDoesNotMatch()
    {
        SqlWorld sql;
        sql.open("abc");
        const QByteArray lock("SELECT `id` FROM `shop`.`heap` WHERE `id` = ? FOR UPDATE");
        for (const auto name : QByteArray("abc")) {
            sql.run(name, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
            sql.begin(name);
        }
        sql.heard();
        sql.run('a', lock, {"1"});
        sql.run('a', lock, {"2"});
        sql.run('b', lock, {"3"}); // waits at 1
        sql.run('c', lock, {"2"}); // behind it
        QCOMPARE(sql.heard(), (Heard{"a row 1", "a row 2"}));
        sql.run('a', "COMMIT");
        QCOMPARE(sql.heard(), (Heard{"a 0 changed", "b row 3"}));
        const auto holderOf = [&](const char *id) { return sql.server.rowLocks().holderOf({"shop.heap", id}); };
        QCOMPARE(holderOf("1"), std::optional(sql.connections['b'])); // it waited for that
        QVERIFY(!holderOf("2"));
        QCOMPARE(holderOf("3"), std::optional(sql.connections['b']));
        sql.run('b', "COMMIT");
        QCOMPARE(sql.heard(), (Heard{"b 0 changed", "c row 2"}));
        sql.run('c', "COMMIT");
        QVERIFY(sql.server.leftBehind().isEmpty());
    }
    void readCommittedIsForTheTransactionsThatFollow()
    {
        SqlWorld sql;
        sql.open("ab");
        sql.begin('a');
        sql.run('a', "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
        sql.run('a', "SELECT * FROM shop.goods WHERE code = 3 FOR UPDATE");
        QCOMPARE(sql.lockedGoods('b'), QByteArray("1 2 3 4 5"));
        // Its plain reads see what others have committed meanwhile.
        sql.begin('a');
        sql.readVersion('a', "1");
        sql.write('b', "1", "1");
        sql.heard();
        sql.readVersion('a', "1");
        QCOMPARE(sql.heard(), (Heard{"a row 2"}));
    }

    void rowsThatNothingEnds()
    {
        SqlWorld sql;
        sql.open("ab");
        const QByteArray insert(
            "INSERT INTO `shop`.`lock_marks` (name, owner, created_at) VALUES (?, ?, UTC_TIMESTAMP(3))"),
            remove("DELETE FROM `shop`.`lock_marks` WHERE name = ? AND owner = ?"),
            old("DELETE FROM shop.lock_marks WHERE created_at < UTC_TIMESTAMP(3) - INTERVAL 2 SECOND"),
            look("SELECT status, version FROM `shop`.`lock_flags` WHERE id = ?"),
            set("UPDATE `shop`.`lock_flags` SET status = 1, version = version + 1 WHERE version = ? AND id = ? AND "
                "status = 0"),
            clear("UPDATE `shop`.`lock_flags` SET status = 0 WHERE id = ? AND version = ? AND status = 1");
        sql.run('a', insert, {"job", "a"});
        sql.run('b', insert, {"job", "b"});
        sql.run('b', remove, {"job", "b"});
        QCOMPARE(sql.heard(), (Heard{"a 1 changed", "b 1062", "b 0 changed"}));
        QCOMPARE(sql.server.leftBehind(), QByteArrayList{"mark shop.lock_marks#job"});
        sql.world.advance(2s);
        sql.run('b', old);
        sql.world.advance(1ms);
        sql.run('b', old);
        sql.run('b', insert, {"job", "b"});
        QCOMPARE(sql.heard(), (Heard{"b 0 changed", "b 1 changed", "b 1 changed"}));
        sql.run('b', remove, {"job", "b"});
        for (const auto *version : {"0", "0", "1"})
            sql.run('a', set, {version, "1"});
        sql.run('b', look, {"1"});
        sql.run('b', clear, {"1", "0"});
        sql.run('b', clear, {"1", "1"});
        sql.run('b', clear, {"1", "1"});
        sql.run('b', look, {"2"});
        QCOMPARE(sql.heard(), (Heard{"b 1 changed", "a 1 changed", "a 0 changed", "a 0 changed", "b row 1",
                                     "b 0 changed", "b 1 changed", "b 0 changed", "b no row"}));
        QVERIFY(sql.server.leftBehind().isEmpty());
    }

    void unknownTablesAndColumns()
    {
        SqlWorld sql;
        sql.open("a");
        sql.run('a', "SELECT `id` FROM `shop`.`stick` WHERE `id` = ? FOR UPDATE", {"1"});
        sql.run('a', "SELECT `no` FROM `shop`.`stock` WHERE `no` = ? FOR UPDATE", {"1"});
        QCOMPARE(sql.heard(), (Heard{"a 1146", "a 1054"}));
    }
};

LOCKSCOPE_TEST(TestSimulatedMariaDb)
#include "tst_mariadb_server.moc"
