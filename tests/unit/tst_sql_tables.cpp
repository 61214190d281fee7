// SPDX-License-Identifier: Apache-2.0
// From what a MariaDB or MySQL server says of its tables to snapshots: who is in whose way, and what is not said.
#include "core/inspect/findings.h"
#include "core/inspect/mariadb/poll.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;

namespace {

// "3 SHARED_READ, 4 EXCLUSIVE?": granted, and asked for.
SqlPoll lookAtTable(const QString &locks, std::chrono::milliseconds inState = 40s, bool isIdle = true)
{
    SqlPoll look{
        .now = ServerTime(1'700'000'100s), .tellsTableWaiters = true, .serverStarted = ServerTime(1'700'000'000s)};
    for (const auto &part : locks.split(QStringLiteral(", "))) {
        const auto words = part.split(QLatin1Char(' '));
        SqlTableLock one{
            "shop", "stock", words[0].toULongLong(), words[1].toLatin1(), !words[1].endsWith(QLatin1Char('?')),
            false};
        if (!one.isGranted)
            one.mode.chop(1);
        look.processes.push_back({.connection = one.connection,
                                  .user = "app",
                                  .host = "10.0.0.1:4000",
                                  .isIdle = isIdle && one.isGranted,
                                  .inState = inState});
        look.tableLocks.push_back(std::move(one));
    }
    return look;
}

QString tableWords(const SqlPoll &look)
{
    const auto locks = snapshotsOf(look, ConnectionName("db"));
    if (locks.size() != 1)
        return QStringLiteral("%1 locks").arg(locks.size());
    QStringList all;
    for (const auto &contender : locks[0].contenders)
        all << *contender.session
                   + (contender.role == Role::Holder ? QStringLiteral(" holds") : QStringLiteral(" waits"));
    return all.join(QStringLiteral(", "));
}

} // namespace

class TestSqlTables : public QObject {
    Q_OBJECT
private slots:
    void tableBlockersAreListed_data()
    {
        addColumns<QString, QString>("locks", "words");
        const auto row = [](const char *name, const char *locks, const char *words) {
            QTest::newRow(name) << QString::fromLatin1(locks) << QString::fromLatin1(words);
        };
        row("LOCK TABLES, nobody waits", "3 SHARED_NO_READ_WRITE", "3 holds");
        row("of MyISAM for reading", "3 SHARED_READ_ONLY", "3 holds");
        row("what any statement has is no lock", "3 SHARED_READ, 4 SHARED_WRITE", "0 locks");
        row("ALTER behind a reader", "3 SHARED_READ, 4 SHARED_UPGRADABLE, 4 EXCLUSIVE?", "3 holds, 4 waits");
        row("and a reader behind it", "3 SHARED_READ, 4 SHARED_UPGRADABLE, 4 EXCLUSIVE?, 5 SHARED_READ?",
            "3 holds, 4 waits, 5 waits");
        row("two in its way", "3 SHARED_READ, 6 SHARED_WRITE, 4 EXCLUSIVE?", "3 holds, 6 holds, 4 waits");
        row("only the writer is in a reader's way", "3 SHARED_READ, 6 SHARED_NO_READ_WRITE, 4 SHARED_READ?",
            "6 holds, 4 waits");
        row("the mode says too little, and it is alone", "3 SHARED_READ, 4 SHARED_WRITE?", "3 holds, 4 waits");
        row("the mode says too little, and there are two", "3 SHARED_READ, 6 SHARED_READ, 4 SHARED_WRITE?",
            "4 waits");
        row("nobody is seen", "4 EXCLUSIVE?", "4 waits");
        row("two that want to be alone", "3 SHARED_READ, 4 SHARED_UPGRADABLE, 4 EXCLUSIVE?, 5 SHARED_UPGRADABLE?",
            "3 holds, 4 waits, 5 waits");
        row("a mode of tomorrow", "3 SHARED_SOMEHOW, 4 SHARED_OTHERWISE?", "3 holds, 4 waits");
    }
    void tableBlockersAreListed()
    {
        QFETCH(QString, locks);
        QTEST(tableWords(lookAtTable(locks)), "words");
    }

    void aStatementThatIsOverInAMomentIsNoLock()
    {
        const auto locks = QStringLiteral("3 EXCLUSIVE");
        QCOMPARE(tableWords(lookAtTable(locks, 40ms, false)), QStringLiteral("0 locks"));
        QCOMPARE(tableWords(lookAtTable(locks, 4s, false)), QStringLiteral("3 holds"));
        QCOMPARE(tableWords(lookAtTable(locks, 40ms, true)), QStringLiteral("3 holds")); // idle: LOCK TABLES
    }

    // Who selects and who inserts wait for LOCK TABLES, not for each other: arrows are made of modes, not of places.
    void waitersPointToWhomTheyWaitFor()
    {
        const auto lock = snapshotsOf(lookAtTable(QStringLiteral("3 SHARED_NO_READ_WRITE, 4 SHARED_WRITE?, "
                                                                 "5 SHARED_READ?, 6 EXCLUSIVE?")),
                                      ConnectionName("db"))
                              .front();
        const auto targetsOf = [&lock](const char *connection) {
            QByteArrayList all;
            for (const auto &contender : lock.contenders) {
                for (const auto &edge : contender.watches) {
                    if (contender.session == QLatin1String(connection))
                        all << edge.target.left(1);
                }
            }
            return all;
        };
        QCOMPARE(targetsOf("6"), QByteArrayList{"3"});
        QCOMPARE(targetsOf("4"), QByteArrayList{"6"}); // which has precedence, and waits for 3
        QCOMPARE(targetsOf("5"), QByteArrayList{"6"});
    }

    // FLUSH TABLES WITH READ LOCK and backups are locks of the whole server.
    void theWholeServerIsALock()
    {
        const auto wordsOf = [](const char *type, const QString &locks) {
            auto look = lookAtTable(locks);
            for (auto &one : look.tableLocks) {
                one.type = type;
                one.schema.clear();
                one.table.clear();
            }
            const auto all = snapshotsOf(look, ConnectionName("db"));
            return all.empty() ? QStringLiteral("none")
                               : QString::fromUtf8(all[0].lock.name) + QStringLiteral(": ") + tableWords(look);
        };
        QCOMPARE(wordsOf("BACKUP", QStringLiteral("3 BACKUP_FTWRL1, 4 BACKUP_TRANS_DML?, 5 BACKUP_DDL?")),
                 QStringLiteral("SERVER#BACKUP: 3 holds, 4 waits, 5 waits"));
        QCOMPARE(wordsOf("BACKUP", QStringLiteral("3 BACKUP_FTWRL1")), QStringLiteral("SERVER#BACKUP: 3 holds"));
        QCOMPARE(wordsOf("BACKUP", QStringLiteral("3 BACKUP_TRANS_DML")), QStringLiteral("none")); // any statement's
        // A backup that waits for a statement: other statements are in nobody's way.
        QCOMPARE(wordsOf("BACKUP", QStringLiteral("3 BACKUP_DML, 4 BACKUP_FTWRL1?")),
                 QStringLiteral("SERVER#BACKUP: 3 holds, 4 waits"));
        QCOMPARE(wordsOf("GLOBAL", QStringLiteral("3 SHARED, 4 INTENTION_EXCLUSIVE?")),
                 QStringLiteral("SERVER#GLOBAL: 3 holds, 4 waits"));
    }

    // Its transaction names a holder; without one, its connection does. Who waits is a connection.
    void aHolderIsItsTransaction()
    {
        auto look = lookAtTable(QStringLiteral("3 SHARED_READ, 4 EXCLUSIVE?"));
        auto locks = snapshotsOf(look, ConnectionName("db"));
        QCOMPARE(locks[0].contenders[0].id, QByteArray("3@1700000000000"));
        QCOMPARE(locks[0].contenders[0].guard.sql().text,
                 QByteArray("connection 3 of app from 10.0.0.1:4000, has it SHARED_READ"));
        QVERIFY(!locks[0].contenders[0].heldSince);
        look.transactions.push_back({"4711", 3, ServerTime(1'700'000'050s), {}, 0, 0});
        locks = snapshotsOf(look, ConnectionName("db"));
        QCOMPARE(locks[0].contenders[0].id, QByteArray("3@1700000050711"));
        QCOMPARE(locks[0].contenders[0].guard.sql().text, QByteArray("trx 4711 started 1700000050000"));
        QVERIFY(locks[0].contenders[0].heldAtMost);
        QCOMPARE(locks[0].contenders[1].id, QByteArray("4@1700000000000"));
        QCOMPARE(locks[0].contenders[0].mode, Mode::Read);
        QCOMPARE(locks[0].contenders[1].mode, Mode::Write); // so that a count of readers leaves nobody out
        QCOMPARE(locks[0].find(FindingCode::IdleInTransaction)->severity, Severity::Warning);
        // What the server says is who has what; who is in whose way is worked out.
        QCOMPARE(locks[0].contenders[1].watches.front().evidence, Evidence::Inferred);
    }

    void namesComeBack()
    {
        for (const auto &[schema, table] : {std::pair<QByteArray, QByteArray>("shop", "stock"),
                                            {"my.shop", "a`b"},
                                            {"shop", "stock#id=1"},
                                            {"käse", " x"}}) {
            const auto back = objectOfLock(tableLockName(schema, table));
            QVERIFY(back);
            QCOMPARE(back->type, QByteArray("TABLE"));
            QCOMPARE(back->schema, schema);
            QCOMPARE(back->name, table);
        }
        QCOMPARE(tableLockName("shop", "stock"), QByteArray("TABLE#shop.stock"));
        for (const SqlObject &object :
             {SqlObject{"BACKUP", {}, {}}, {"SCHEMA", "my.shop", {}}, {"FUNCTION", "shop", "f"}})
            QVERIFY(objectOfLock(objectLockName(object)) == object);
        QCOMPARE(objectLockName({"GLOBAL", {}, {}}), QByteArray("SERVER#GLOBAL"));
        for (const auto *name : {"shop.stock", "TABLE#", "TABLE#shop", "TABLE#shop.", "TABLE#.stock", "TABLE#a.b.c"})
            QVERIFY2(!objectOfLock(name), name);
    }

    void statementsNameTheirTable_data()
    {
        addColumns<QByteArray, QByteArray>("statement", "table");
        const auto row = [](const char *statement, const char *table) {
            QTest::newRow(statement) << QByteArray(statement) << QByteArray(table);
        };
        row("ALTER TABLE stock ADD COLUMN x INT", "db.stock");
        row("alter  online\ttable `a``b`.`c d` drop x", "a`b.c d");
        row("ALTER TABLE IF EXISTS shop.stock ADD x INT", "shop.stock");
        row("DROP TABLE IF EXISTS stock", "db.stock");
        row("DROP TABLE stock, cups", "");
        row("TRUNCATE stock", "db.stock");
        row("TRUNCATE TABLE shop . stock", "shop.stock");
        row("RENAME TABLE stock TO old", "db.stock");
        row("RENAME TABLE a TO b, c TO d", "");
        row("SELECT * FROM stock", "");
        row("ALTER DATABASE shop CHARACTER SET utf8", "");
        row("DROP VIEW v", "");
        row("ALTER TABLE", "");
        row("ALTER TABLE `", "");
        row("/* a hint */ ALTER TABLE stock ADD x INT", "");
        row("", "");
    }
    void statementsNameTheirTable()
    {
        QFETCH(QByteArray, statement);
        QFETCH(QByteArray, table);
        const auto found = tableIn(statement, "db");
        QCOMPARE(found ? found->first + '.' + found->second : QByteArray(), table);
        QVERIFY(!tableIn("ALTER TABLE stock ADD x INT", QByteArray())); // no database: whose?
    }
};

LOCKSCOPE_TEST(TestSqlTables)
#include "tst_sql_tables.moc"
