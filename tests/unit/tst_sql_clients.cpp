// SPDX-License-Identifier: Apache-2.0
// Whose a lock is, by names that are certain; and names that only look like theirs.
#include "core/inspect/mariadb/poll.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;

class TestSqlClients : public QObject {
    Q_OBJECT
private slots:
    void namedLocksSayWhoseTheyAre_data()
    {
        addColumns<QByteArray, QString>("name", "client");
        const auto row = [](const char *name, const char *client) {
            QTest::newRow(name) << QByteArray(name) << QString::fromLatin1(client);
        };
        // "`shop`.`flyway_schema_history`".hashCode(), and what else an int can be.
        row("Flyway--1695041341", "Flyway");
        row("Flyway--2147483648", "Flyway");
        row("Flyway-2147483648", ""); // no int
        row("Flyway-01", "");
        row("Flyway-", "");
        row("flyway-1", "");
        row("Flyway-1 ", "");
        // 2053462845 * crc32("shop")
        row("5939944341529942170", "Rails migrations");
        row("2053462845", "Rails migrations");
        row("8819555760772654275", "Rails migrations"); // * 0xffffffff
        row("8819555762826117120", "");                 // one more: no CRC-32
        row("2053462846", "");
        row("02053462845", "");
        row("0", "");
        row("-2053462845", "");
        row("nightly-report", "");
        row("", "");
    }
    void namedLocksSayWhoseTheyAre()
    {
        QFETCH(QByteArray, name);
        SqlPoll look{.now = ServerTime(1'700'000'100s)};
        look.namedLocks.push_back({name, 7, true});
        const auto locks = snapshotsOf(look, ConnectionName("db"));
        QCOMPARE(locks.size(), std::size_t(1));
        QTEST(locks[0].client.value_or(QString()), "client");
    }

    void quartzIsKnownByItsKey_data()
    {
        const Rows<QByteArray, QByteArrayList, bool> row("table", "columns", "isQuartz");
        row("as it is", "`q`.`QRTZ_LOCKS`", {"SCHED_NAME", "LOCK_NAME"}, true);
        row("prefix and case", "`q`.`app_qrtz_locks`", {"sched_name", "lock_name"}, true);
        row("another table of it", "`q`.`QRTZ_TRIGGERS`", {"SCHED_NAME", "LOCK_NAME"}, false);
        row("another key", "`q`.`QRTZ_LOCKS`", {"LOCK_NAME"}, false);
    }
    void quartzIsKnownByItsKey()
    {
        QFETCH(QByteArray, table);
        QFETCH(QByteArrayList, columns);
        QFETCH(bool, isQuartz);
        SqlPoll look{.now = ServerTime(1'700'000'100s)};
        look.transactions = {{"1", 3, look.now, {}, 1, 0}, {"2", 4, look.now, look.now, 1, 0}};
        look.waits.push_back({"2", "1", table, "PRIMARY", "'sched', 'TRIGGER_ACCESS'", "X", "X"});
        look.columns[{table, "PRIMARY"}] = columns;
        const auto locks = snapshotsOf(look, ConnectionName("db"));
        QCOMPARE(locks.size(), std::size_t(1));
        QCOMPARE(locks[0].client == QStringLiteral("Quartz"), isQuartz);
    }
};

LOCKSCOPE_TEST(TestSqlClients)
#include "tst_sql_clients.moc"
