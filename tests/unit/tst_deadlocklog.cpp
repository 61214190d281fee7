// SPDX-License-Identifier: Apache-2.0
// InnoDB's log of its last deadlock: of a real MariaDB 10.11, and with statements that imitate it. The sample of
// MySQL follows the layout that MySQL 8 is known to print; no server produced it.
#include "core/inspect/coverage.h"
#include "core/inspect/findings.h"
#include "core/inspect/json.h"
#include "core/inspect/mariadb/reader.h"
#include "tests/support/testmain.h"

#include <QFile>
#include <QJsonArray>

using namespace lockscope::inspect;
using namespace std::chrono_literals;

namespace {

const QByteArray firstStatement("update dl set n=3 where id=1");

QByteArray printedStatus(const QString &server)
{
    QFile file(QString::fromUtf8(CORPUS) + u"/innodb-status-%1.txt"_s.arg(server));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("%s", qPrintable(file.fileName()));
    return file.readAll();
}

QByteArray withFirstStatement(QByteArray statement)
{
    return printedStatus(u"mariadb"_s).replace(firstStatement, statement);
}

EndedDeadlock endedDeadlock()
{
    return {ServerTime(1'763'805'600s),
            false,
            2,
            {{u"6"_s, "localhost root", "UPDATE a", "shop.a#id=1", true}, {u"5"_s, {}, {}, "shop.b#id=2", false}},
            {}};
}

} // namespace

class TestDeadlockLog : public QObject {
    Q_OBJECT
private slots:
    void mariaDbLogIsParsed()
    {
        const auto log = parseDeadlockLog(printedStatus(u"mariadb"_s));
        QVERIFY(log);
        QCOMPARE(log->age, 0s);
        QCOMPARE(log->parties.size(), std::size_t(2));
        const auto &[victim, other] = std::pair(log->parties[0], log->parties[1]);
        QVERIFY(victim.isRolledBack && !other.isRolledBack);
        QCOMPARE(victim.connection, 20U);
        QCOMPARE(victim.transaction, QByteArray("34"));
        QCOMPARE(victim.client, QByteArray("localhost 127.0.0.1 root Updating"));
        QCOMPARE(victim.statement, firstStatement);
        QCOMPARE(victim.wait.table, QByteArray("`shop`.`dl`"));
        QCOMPARE(victim.wait.index, QByteArray("PRIMARY"));
        QCOMPARE(victim.wait.requestedMode, QByteArray("X,REC_NOT_GAP"));
        QCOMPARE(victim.wait.id, QByteArray("34:4:3:2"));
        QCOMPARE(victim.key.front(), QByteArray::fromHex("80000001"));
        QCOMPARE(innoDbLockName(victim.wait, {}), QByteArray("shop.dl#PRIMARY:?4:3:2"));
        QCOMPARE(other.statement, QByteArray("update dl set n=3 where id=2"));
    }

    void mySqlLogIsParsed()
    {
        const auto log = parseDeadlockLog(printedStatus(u"mysql"_s));
        QVERIFY(log);
        QCOMPARE(log->age, 40s);
        QCOMPARE(log->parties.size(), std::size_t(2));
        QCOMPARE(log->parties[0].connection, 19U);
        QCOMPARE(log->parties[0].statement,
                 QByteArray("UPDATE Animals SET value=30 WHERE name='?'")); // texts may be secrets
        QCOMPARE(log->parties[0].wait.table, QByteArray("`test`.`Animals`"));
        QCOMPARE(log->parties[0].key.front(), QByteArray("Aardvark"));
        QCOMPARE(log->parties[1].wait.table, QByteArray("`test`.`Birds`"));
        QVERIFY(!log->parties[0].isRolledBack && log->parties[1].isRolledBack);
    }

    // Lines as servers print them: from MySQL's manual and public reports of 8.0, and MariaDB 10.11 (the cut value).
    void awaitedLockIsNamed_data()
    {
        const Rows<QByteArray, QByteArray, QByteArray> row("lock", "record", "name");
        const QByteArray end = "Record lock, heap no 1 PHYSICAL RECORD: n_fields 1; compact format; info bits 0\n"
                               " 0: len 8; hex 73757072656d756d; asc supremum;;\n\n";
        const QByteArray record = "Record lock, heap no 2 PHYSICAL RECORD: n_fields 2; compact format; info bits 0\n";
        const QByteArray number =
            record + " 0: len 4; hex 80000002; asc     ;;\n 1: len 6; hex 00000000a8f9; asc ;;\n";
        const QByteArray records =
            "RECORD LOCKS space id 27 page no 4 n bits 72 index PRIMARY of table `test`.`Animals`";
        row("a row", records + " trx id 43260 lock_mode X locks rec but not gap waiting", number,
            "test.Animals#name=2");
        row("an INSERT behind the last row", records + " trx id 43260 lock_mode X insert intention waiting", end,
            "before test.Animals#PRIMARY:?27:4:1");
        row("an INSERT in a gap", records + " trx id 43260 lock_mode X locks gap before rec insert intention waiting",
            number, "before test.Animals#name=2");
        row("a shared lock", records + " trx id 43260 lock mode S waiting", number, "test.Animals#name=2");
        row("a partition", records + " /* Partition `p0` */ trx id 43260 lock_mode X locks rec but not gap waiting",
            number, "test.Animals#name=2");
        row("numbers of AUTO_INCREMENT", "TABLE LOCK table `test`.`Animals` trx id 43260 lock mode AUTO-INC waiting",
            "", "test.Animals");
        row("a value that is cut", records + " trx id 43260 lock_mode X locks rec but not gap waiting",
            record
                + " 0: len 30; hex 6f726465722d636f6e6669726d6174696f6e2d6d61696c2d73656e646572; asc "
                  "order-confirmation-mail-sender; (total 33 bytes);\n 1: len 6; hex 00000000a8f9; asc ;;\n",
            "test.Animals#PRIMARY:?27:4:2");
        row("deleted, and not purged", records + " trx id 43260 lock_mode X locks rec but not gap waiting",
            "Record lock, heap no 2 PHYSICAL RECORD: n_fields 1; compact format; info bits 32\n"
            " 0: len 4; hex 80000002; asc     ;;\n",
            "test.Animals#name=2");
    }
    void awaitedLockIsNamed()
    {
        QFETCH(QByteArray, lock);
        QFETCH(QByteArray, record);
        auto status = printedStatus(u"mysql"_s);
        const auto from = status.indexOf("RECORD LOCKS", status.indexOf("(1) WAITING"));
        status.replace(from, status.indexOf("*** (2) TRANSACTION") - from, lock + '\n' + record + '\n');
        const auto log = parseDeadlockLog(status);
        QVERIFY(log);
        auto wait = log->parties[0].wait;
        IndexColumns columns;
        if (const auto &key = log->parties[0].key; !key.isEmpty()) {
            columns[{wait.table, wait.index}] = {"name"};
            wait.data = valueOfField(key.front(), "int").value_or("?");
        }
        QTEST(innoDbLockName(wait, columns), "name");
    }

    void textsOfAStatementAreHidden_data()
    {
        addColumns<BackendKind, QByteArray, QByteArray>("backend", "statement", "shown");
        const auto row = [](const char *name, BackendKind backend, const char *statement, const char *shown) {
            QTest::newRow(name) << backend << QByteArray(statement) << QByteArray(shown);
        };
        using enum BackendKind;
        row("numbers and names stay", MariaDb, "UPDATE `it's` SET n = 7\n  WHERE id = 5",
            "UPDATE `it's` SET n = 7 WHERE id = 5");
        row("a text", MariaDb, "SET PASSWORD = 'geheim'", "SET PASSWORD = '?'");
        row("a text in double quotes", MariaDb, "IDENTIFIED BY \"geheim\" OR", "IDENTIFIED BY '?' OR");
        row("a quote in a text", MariaDb, "SET a = 'it''s', b = 'x'", "SET a = '?', b = '?'");
        row("a backslash at its end", MariaDb, "SET a = 'x\\\\', b = 'y'", "SET a = '?', b = '?'");
        // By one server's setting the second text begins in the middle of it.
        row("a quote behind a backslash", MariaDb, "SET a = 'x\\', b = 'geheim', c = 7", "SET a = '?' …");
        row("a quote behind a backslash ends it", MariaDb, "SET a = 'x\\'', b = 'geheim'", "SET a = '?' …");
        row("a quote alone behind a backslash", MariaDb, "REPLACE(x, '\\'', 'geheim')", "REPLACE(x, '?' …");
        row("a text of bytes", MariaDb, "IDENTIFIED AS 0x244124 AND a0x1 = 10x", "IDENTIFIED AS '?' AND a0x1 = 10x");
        row("a comment of another version", MariaDb, "/*!99999 it's */ SET PASSWORD = 'geheim'", "…");
        row("a comment after a control character", MariaDb, "--\rdon't\n SET PASSWORD = 'geheim'",
            "SET PASSWORD = '?'");
        row("it is cut off", MariaDb, "SET a = 'geheim", "SET a = '?'");
        row("a quote in a comment", MariaDb, "SELECT 1 /* it's */, 'geheim' -- don't\n, 'x'", "SELECT 1 , '?' , '?'");
        row("a comment that is executed", MariaDb, "SELECT /*! STRAIGHT_JOIN */ 1", "SELECT /*! STRAIGHT_JOIN */ 1");
        row("minus and minus", MariaDb, "SELECT 5--3, 'x'", "SELECT 5--3, '?'");
        row("a name in double quotes", PostgreSql, "UPDATE \"it's\" SET a = 'geheim'", "UPDATE \"it's\" SET a = '?'");
        row("dollars", PostgreSql, "SELECT $$it's$$, $t$ $$ geheim $t$, $1, a$b", "SELECT '?', '?', $1, a$b");
        row("dollars, cut off", PostgreSql, "SELECT $t$ geheim", "SELECT '?'");
        row("comments in one another", PostgreSql, "SELECT /* a /* it's */ b' */ 'geheim'", "SELECT '?'");
        row("an escape text", PostgreSql, "SELECT E'it\\'s geheim', 'x'", "SELECT E'?' …");
        row("a number sign is an operator", PostgreSql, "SELECT 5 # 3, 'x'", "SELECT 5 # 3, '?'");
        row("a tag beyond ASCII", PostgreSql, "SELECT $\xc3\xa4$geheim$\xc3\xa4$", "SELECT '?'");
        row("a backtick is no quote", PostgreSql, "SELECT a ` 'geheim'", "SELECT a ` '?'");
        row("a comment ends at CR", PostgreSql, "-- a\r, 'it\n', 'geheim'", ", '?', '?'");
        row("nothing", PostgreSql, "", "");
    }
    void textsOfAStatementAreHidden()
    {
        QFETCH(BackendKind, backend);
        QFETCH(QByteArray, statement);
        QTEST(withoutTexts(statement, backend), "shown");
    }

    void gapAndTableLocksAreNamed()
    {
        auto status = withFirstStatement("INSERT");
        status.replace("X locks rec but not gap waiting", "X locks gap before rec insert intention waiting");
        const auto gap = parseDeadlockLog(status);
        QVERIFY(gap);
        QCOMPARE(innoDbLockName(gap->parties[0].wait, {}), QByteArray("before shop.dl#PRIMARY:?4:3:2"));
        const auto from = status.indexOf("RECORD LOCKS");
        status.replace(from, status.indexOf('\n', from) - from,
                       "TABLE LOCK table `shop`.`dl` trx id 34 lock mode X waiting");
        const auto table = parseDeadlockLog(status);
        QVERIFY(table);
        QCOMPARE(innoDbLockName(table->parties[0].wait, {}), QByteArray("shop.dl"));
    }

    // A line of a statement is none of the log, and what could be either is not understood.
    void imitatedLogIsNotUnderstood_data()
    {
        QTest::addColumn<QByteArray>("statement");
        const QByteArray lock =
            "\nRECORD LOCKS space id 4 page no 3 n bits 320 index PRIMARY of table `shop`.`x` trx id ";
        const QByteArray waits = "\n*** WAITING FOR THIS LOCK TO BE GRANTED:" + lock;
        const QByteArray party =
            "\n*** (2) TRANSACTION:\nTRANSACTION 99, ACTIVE 1 sec\nMariaDB thread id 1, OS thread "
            "handle 1, query id 1 h u s\nUPDATE x";
        const QByteArray end = "\n*** WE ROLL BACK TRANSACTION (2)";
        const QByteArray next = "\n------------\nTRANSACTIONS\n------------\n";
        QTest::newRow("own lock and end") << QByteArray("x" + waits + "34 lock_mode X waiting" + end);
        QTest::newRow("lock of another") << QByteArray("x" + waits + "99 lock_mode X waiting");
        QTest::newRow("own lock") << QByteArray("x" + waits + "34 lock_mode X waiting");
        QTest::newRow("party behind a lock") << QByteArray("x" + waits + "34 lock_mode X waiting" + party);
        QTest::newRow("complete log") << QByteArray("x" + waits + "34 lock_mode X waiting" + party + waits
                                                    + "99 lock_mode X waiting" + end + next);
        QTest::newRow("next section") << QByteArray("x" + next);
        QTest::newRow("title") << QByteArray("x\n------------------------\nLATEST DETECTED DEADLOCK\n"
                                             "------------------------\n2026-11-29 12:00:17 0x1\n");
    }
    void imitatedLogIsNotUnderstood()
    {
        QFETCH(QByteArray, statement);
        QVERIFY(!parseDeadlockLog(withFirstStatement(statement)));
    }

    void markersInAStatementAreItsText()
    {
        for (const QByteArray statement : {"x\n*** of a comment", "x\n*** WE ROLL BACK TRANSACTION (2)",
                                           "x\n*** (2) TRANSACTION:\nTRANSACTION 99, ACTIVE 1 sec"}) {
            const auto log = parseDeadlockLog(withFirstStatement(statement));
            QVERIFY2(log, statement.constData());
            QCOMPARE(log->parties.size(), std::size_t(2));
            QCOMPARE(log->parties[0].statement, statement.simplified());
            QVERIFY(log->parties[0].isRolledBack);
        }
    }

    void brokenLogIsNotUnderstood()
    {
        const auto status = printedStatus(u"mariadb"_s);
        const auto section = deadlockSectionOf(status);
        QVERIFY(section.startsWith("2026-11-29") && section.endsWith("TRANSACTION (1)"));
        for (const auto length :
             {qsizetype(0), qsizetype(100), status.indexOf("CONFLICTING"), status.indexOf("*** WE")})
            QVERIFY(!parseDeadlockLog(status.left(length)));
        const std::vector<std::pair<QByteArray, QByteArray>> faults{{"TRANSACTION (1)\n-", "TRANSACTION (3)\n-"},
                                                                    {"TRANSACTION (1)\n-", "TRANSACTION (0)\n-"},
                                                                    {"*** (2) TRANSACTION", "*** (3) TRANSACTION"},
                                                                    {"MariaDB thread id", "thread"},
                                                                    {"2026-11-29", "2026-13-29"},
                                                                    {"trx id 34 lock_mode", "trx id 35 lock_mode"},
                                                                    {"*** (1) TRANSACTION:", "*** TOO DEEP"},
                                                                    {"LATEST DETECTED", "LATEST"}};
        for (const auto &[from, to] : faults)
            QVERIFY2(!parseDeadlockLog(QByteArray(status).replace(from, to)), from.constData());
        QVERIFY(!parseDeadlockLog(QByteArray(1'000'000, '*')));
    }

    void endOfAnIndexHasNoKey()
    {
        auto status = withFirstStatement("INSERT");
        const QByteArray record = "Record lock, heap no 1 PHYSICAL RECORD: n_fields 1; compact format; info bits 0\n"
                                  " 0: len 8; hex 73757072656d756d; asc supremum;;\n\n";
        const auto from = status.indexOf("Record lock");
        status.replace(from, status.indexOf("*** CONFLICTING") - from, record);
        const auto log = parseDeadlockLog(status);
        QVERIFY(log);
        QVERIFY(log->parties[0].key.isEmpty());
        QCOMPARE(innoDbLockName(log->parties[0].wait, {}), QByteArray("before shop.dl#PRIMARY:?4:3:1"));
    }

    void fieldIsReadByItsType()
    {
        const auto hex = [](const char *digits) { return QByteArray::fromHex(digits); };
        QCOMPARE(valueOfField(hex("80000001"), "int(11)"), QByteArray("1"));
        QCOMPARE(valueOfField(hex("7fffffff"), "int"), QByteArray("-1"));
        QCOMPARE(valueOfField(hex("00000014"), "int(10) unsigned"), QByteArray("20"));
        QCOMPARE(valueOfField(hex("8000000000000014"), "bigint"), QByteArray("20"));
        QCOMPARE(valueOfField(hex("0000000000000000"), "bigint"), QByteArray("-9223372036854775808"));
        QCOMPARE(valueOfField(hex("ffffffffffffffff"), "bigint unsigned"), QByteArray("18446744073709551615"));
        QCOMPARE(valueOfField("abc", "varchar(10)"), QByteArray("'abc'"));
        for (const auto &[field, type] :
             std::vector<std::pair<QByteArray, QByteArray>>{{hex("80000001"), "bigint"},
                                                            {hex("0001"), "binary(2)"},
                                                            {"a'b", "varchar(9)"},
                                                            {"", "varchar(9)"},
                                                            {hex("8001"), "int"},
                                                            {hex("80000001"), "timestamp"},
                                                            {"", ""}})
            QVERIFY2(!valueOfField(field, type), type.constData());
    }

    void countThatFallsIsAnotherStart()
    {
        EndedDeadlocks deadlocks;
        QVERIFY(!deadlocks.risen(5));
        QVERIFY(!deadlocks.risen({}));
        QCOMPARE(deadlocks.risen(7), 2);
        QVERIFY(!deadlocks.risen(1));
        QCOMPARE(deadlocks.risen(1), 0);
        deadlocks.forgetCount();
        QVERIFY(!deadlocks.risen(9));
        for (int i = 0; i < 30; ++i)
            deadlocks.add({ServerTime(std::chrono::seconds(i)), true, 1, {}, {}});
        QCOMPARE(deadlocks.all().size(), std::size_t(20));
        QCOMPARE(deadlocks.all().front().at, ServerTime(10s));
        deadlocks.expire(ServerTime(10min + 28s));
        QCOMPARE(deadlocks.all().size(), std::size_t(2));
    }

    void endedDeadlockIsAFinding()
    {
        const ConnectionName name("db");
        std::vector<Coverage> coverage{{name, true, {}}};
        QVERIFY(findingsOfEndedDeadlocks(coverage).empty());
        addEndedDeadlocks(coverage, {endedDeadlock()});
        coverage = withGap(std::move(coverage), {name, false, u"a gap"_s});
        const auto found = findingsOfEndedDeadlocks(coverage);
        QCOMPARE(found.size(), std::size_t(1));
        QCOMPARE(found[0].connection, name);
        QCOMPARE(found[0].finding.code, FindingCode::DeadlockEnded);
        QCOMPARE(
            found[0].finding.message,
            u"the server ended 2 deadlocks, the last one at 2025-11-22T10:00:00Z; connection 6 (localhost root) "
            u"waited for lock shop.a#id=1 in \"UPDATE a\"; connection 5 waited for lock shop.b#id=2; connection 6 was rolled "
            u"back"_s);
        QVERIFY(endedDeadlockLines(coverage).front().startsWith(u"deadlock-ended: db: the server ended"_s));
        QVERIFY(noneFound(Question::Findings, true, coverage).contains(u"a server ended a deadlock"_s));
        const auto json = toJson(endedDeadlock());
        QCOMPARE(json[u"time"_s], u"2025-11-22T10:00:00.000Z"_s);
        QCOMPARE(json[u"parties"_s].toArray().at(0)[u"rolledBack"_s], true);
        QCOMPARE(json[u"parties"_s].toArray().at(1)[u"waitedFor"_s], u"shop.b#id=2"_s);
        QVERIFY(json[u"unknown"_s].isNull());
    }
};

LOCKSCOPE_TEST(TestDeadlockLog)
#include "tst_deadlocklog.moc"
