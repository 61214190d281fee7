// SPDX-License-Identifier: Apache-2.0
// Rows that are locks by what stands in them: their snapshots, and what a force-release of one will say.
#include "core/inspect/findings.h"
#include "core/inspect/json.h"
#include "core/inspect/mariadb/poll.h"
#include "core/operate/forcerelease.h"
#include "core/rules/catalogue.h"
#include "tests/support/testmain.h"

#include <set>

using namespace lockscope::inspect;

namespace {

const QByteArray liquibase("LIQUIBASE#"), shedLock("SHEDLOCK#");

SqlLockRow lockRow(const QByteArray &prefix)
{
    SqlLockRow row{.layout = recipes::rowLayoutNamed(prefix),
                   .schema = "shop",
                   .table = "DATABASECHANGELOGLOCK",
                   .names = {"1"},
                   .lockedBy = "app-1 (10.0.0.7)",
                   .stamp = "2026-11-22 10:00:00"};
    row.since = ServerTime(1'700'000'000s);
    if (prefix == shedLock) {
        row.table = "shedlock";
        row.names = {"nightly #1"};
        row.ends = ServerTime(1'700'000'160s);
    }
    return row;
}

LockSnapshot snapshotOfRow(const SqlLockRow &row)
{
    SqlPoll look{.now = ServerTime(1'700'000'100s)};
    look.lockRows.push_back(row);
    const auto locks = snapshotsOf(look, ConnectionName("db"));
    return locks.size() == 1 ? locks.front() : LockSnapshot();
}

} // namespace

class TestSqlLockRows : public QObject {
    Q_OBJECT
private slots:
    void aRowIsALockWithItsHolder()
    {
        const auto lock = snapshotOfRow(lockRow(liquibase));
        QCOMPARE(lock.lock.name, QByteArray("LIQUIBASE#shop.DATABASECHANGELOGLOCK"));
        QCOMPARE(lock.recipe, QByteArray("sql-liquibase"));
        QCOMPARE(lock.client, std::optional(u"Liquibase"_s));
        QCOMPARE(lock.contenders.size(), std::size_t(1));
        QCOMPARE(lock.contenders[0].id, QByteArray("app-1 (10.0.0.7)@1700000000000"));
        QCOMPARE(*lock.contenders[0].heldSince, ServerTime(1'700'000'000s));
        QVERIFY(!lock.contenders[0].expiresAt && !lock.waitersKnown);

        const auto shed = snapshotOfRow(lockRow(shedLock));
        QCOMPARE(shed.lock.name, QByteArray("SHEDLOCK#shop.shedlock#nightly #1"));
        QCOMPARE(*shed.contenders[0].expiresAt, ServerTime(1'700'000'160s));
        QCOMPARE(shed.contenders[0].id, QByteArray("app-1 (10.0.0.7)@1700000000000"));
        QCOMPARE(shed.client, std::optional(u"ShedLock"_s));

        // A token is nobody's host name, and names one hold.
        auto ours = lockRow(shedLock);
        ours.lockedBy = "0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11";
        QCOMPARE(snapshotOfRow(ours).contenders[0].id, ours.lockedBy);
        QVERIFY(!snapshotOfRow(ours).client);
    }

    void connectionsOfTheHolderAreCompared_data()
    {
        const Rows<QByteArray, QByteArray, std::chrono::seconds, QString> row("holder", "connections", "held",
                                                                              "says");
        row("there", "app-1 (10.0.0.7)", "10.0.0.7:5001 10.0.0.8:9", 1min,
            u"1 connection from 10.0.0.7 is open, none in a transaction"_s);
        row("there, one of them in a transaction", "app-1 (10.0.0.7)", "10.0.0.7:5001 10.0.0.8:9 10.0.0.7:5002", 1h,
            u"2 connections from 10.0.0.7 are open, 1 in a transaction"_s);
        row("there, and a name of a host", "app-1 (10.0.0.7)", "10.0.0.7:5001 app-2:9", 1h,
            u"1 connection from 10.0.0.7 is open, none in a transaction"_s);
        row("IPv6 as Java writes it", "app-1 (2001:db8:0:0:0:0:0:7)", "2001:db8::7:5001", 1h,
            u"1 connection from 2001:db8::7 is open, none in a transaction"_s);
        row("IPv6 with a zone", "app-1 (fe80:0:0:0:0:0:0:7%eth0)", "[fe80::7]:5001", 1h,
            u"1 connection from fe80::7 is open, none in a transaction"_s);
        row("IPv4 in IPv6", "app-1 (10.0.0.7)", "::ffff:10.0.0.7:5001", 1h,
            u"1 connection from 10.0.0.7 is open, none in a transaction"_s);
        row("IPv6 not there for long", "app-1 (2001:db8::7)", "2001:db8::8:5001", 1h,
            u"warning holder-disconnected"_s);
        row("loopback is of each machine", "app-1 (127.0.1.1)", "10.0.0.8:9", 1h, {});
        row("IPv6 loopback, too", "app-1 (0:0:0:0:0:0:0:1)", "10.0.0.8:9", 1h, {});
        row("a time is no address", "app-1 10:15:30", "10.0.0.8:9", 1h, {});
        row("our own connection does not count", "app-1 (10.0.0.7)", "own@10.0.0.7:5 10.0.0.8:9", 1min,
            u"no connection from 10.0.0.7 is open"_s);
        row("not there for long", "app-1 (10.0.0.7)", "10.0.0.8:9 localhost", 1h, u"warning holder-disconnected"_s);
        row("not there for a moment", "app-1 (10.0.0.7)", "10.0.0.8:9", 1min,
            u"no connection from 10.0.0.7 is open"_s);
        row("another address with the same beginning", "app-1 (10.0.0.7)", "10.0.0.70:9", 1h,
            u"warning holder-disconnected"_s);
        row("names of hosts cannot be compared", "app-1 (10.0.0.7)", "app-1:5001 10.0.0.8:9", 1h, {});
        row("no address in the row", "app-1", "10.0.0.8:9", 1h, {});
        row("a version is no address", "app 10.0.0.7.3", "10.0.0.8:9", 1h, {});
        row("connections of others are not told", "app-1 (10.0.0.7)", "", 1h, {});
    }
    void connectionsOfTheHolderAreCompared()
    {
        QFETCH(QByteArray, holder);
        QFETCH(QByteArray, connections);
        QFETCH(std::chrono::seconds, held);
        QFETCH(QString, says);
        auto row = lockRow(liquibase);
        row.lockedBy = holder;
        SqlPoll look{.now = *row.since + held};
        look.seesAllProcesses = !connections.isEmpty();
        for (const auto &host : connections.split(' ')) {
            const quint64 number = host.startsWith("own@") ? 3 : 1;
            look.processes.push_back({.connection = number, .host = host.mid(host.indexOf('@') + 1)});
        }
        look.ownConnection = 3;
        look.transactions.push_back({.connection = 2});
        if (look.processes.size() > 2)
            look.processes.back().connection = 2;
        look.lockRows.push_back(row);
        const auto lock = snapshotsOf(look, ConnectionName("db")).front();
        const auto *finding = lock.find(FindingCode::HolderDisconnected);
        const auto found = finding ? word(finding->severity) + u' ' + word(finding->code) : QString();
        if (says.contains(u" from "_s))
            QVERIFY2(lock.why.contains(u"; "_s + says) && !finding, qPrintable(lock.why));
        else
            QCOMPARE(found, says);
    }

    // A clock that is ahead, or another zone: no age below nothing.
    void aMomentToComeIsNoAge()
    {
        auto row = lockRow(liquibase);
        row.since = ServerTime(1'700'003'700s);
        QVERIFY(!snapshotOfRow(row).contenders[0].heldSince);
        row.since.reset(); // LOCKGRANTED is NULL
        QVERIFY(!snapshotOfRow(row).contenders[0].heldSince);
    }

    void tablesComeBackFromNames()
    {
        auto row = lockRow(liquibase);
        row.schema = "my.shop";
        const auto back = lockRowNamed(lockRowName(row));
        QVERIFY(back && back->layout == row.layout && back->schema == "my.shop" && back->table == row.table);
        row = lockRow(shedLock);
        row.schema = "my#shop";
        row.names = {"a.b#c"};
        const auto shed = lockRowNamed(lockRowName(row));
        QVERIFY(shed && shed->layout == row.layout && shed->schema == row.schema && shed->table == row.table);
        QCOMPARE(shed->names, row.names);
        QVERIFY(!lockRowNamed("SHEDLOCK#shop.shedlock") && !lockRowNamed("LIQUIBASE#shop"));
        QVERIFY(isLockRowName("SHEDLOCK#shop.shedlock#x") && !isLockRowName("shop.shedlock#name=x"));
    }

    // Which table is which client's; "": of none.
    void tablesAreToldByTheirColumns_data()
    {
        const Rows<QByteArray, QByteArray, QByteArray> row("table", "columns", "prefix");
        row("Liquibase", "DATABASECHANGELOGLOCK", "id locked lockgranted lockedby", "LIQUIBASE#");
        row("Liquibase, another name", "schema_lock", "id locked lockgranted lockedby tenant", "LIQUIBASE#");
        row("ShedLock", "ShedLock", "name lock_until locked_at locked_by", "SHEDLOCK#");
        row("Knex", "knex_migrations_lock", "index is_locked", "KNEX#");
        row("Knex, another name", "app_lock", "is_locked index", "KNEX#");
        row("Ghost", "migrations_lock", "lock_key locked acquired_at released_at", "KNEX-MIGRATOR#");
        row("Hangfire", "lock", "resource updatecount acquired", "HANGFIRE#");
        row("Laravel", "cache_locks", "key owner expiration", "LARAVEL#");
        row("Spring", "INT_LOCK", "lock_key region client_id created_date", "SPRING#");
        row("Spring 7", "INT_LOCK", "lock_key region client_id created_date expired_after", "SPRING#");
        row("Symfony", "lock_keys", "key_id key_token key_expiration", "SYMFONY#");
        row("Drupal", "d_semaphore", "name value expire", "DRUPAL#");
        row("a mark", "lock_marks", "name owner created_at", "MARK#");
        row("a flag", "app_LOCK_flags", "id version status", "FLAG#");
        row("a status of something else", "orders", "id version status", "");
        row("locks that are things", "door_locks", "id version status", "");
        row("flags of locks, with more", "lock_flags", "id version status description", "");
        row("marks of something else", "book_marks", "name owner created_at", "");
        row("owners of locks", "bike_locks", "name owner created_at", "");
        row("Quartz", "Q_LOCKS", "sched_name lock_name", "QUARTZ#");
        row("an account that is locked", "user_lock_settings", "id is_locked_out", "");
        row("settings of such columns", "user_lock_settings", "index is_locked", "");
        row("Knex's and others", "account_lock", "index is_locked user_id", "");
        row("one missing", "lock", "resource acquired", "");
        row("Laravel's cache", "cache", "key value expiration", "");
        row("values", "option_locks", "name value expire", "");
        row("no columns", "cache_locks", "", "");
    }
    void tablesAreToldByTheirColumns()
    {
        QFETCH(QByteArray, table);
        QFETCH(QByteArray, columns);
        QFETCH(QByteArray, prefix);
        const auto *layout = recipes::rowLayoutOf(table, columns.split(' '));
        QCOMPARE(layout ? layout->prefix : QByteArray(), prefix);
    }

    void layoutsNameTheirOwnColumns()
    {
        std::set<QByteArray> prefixes;
        for (const auto &one : recipes::rowLayouts()) {
            QVERIFY2(prefixes.insert(one.prefix).second && one.prefix.endsWith('#'), one.prefix);
            for (const auto &column : one.name + QByteArrayList{one.flag, one.owner, one.since, one.ends})
                QVERIFY2(column.isEmpty() || one.columns.contains(column) || one.optional.contains(column),
                         one.prefix);
            QVERIFY2(one.name.isEmpty() || !one.why.isEmpty(), one.prefix);
            const QByteArray ours = "sql-" + one.recipe;
            const auto &recipe = recipes::recipeOf(ours); // of a client, or of ours
            QVERIFY2(!one.client.isEmpty() || (recipe.acquirable && recipe.namePrefix == one.prefix), one.prefix);
            QVERIFY2(one.release != recipes::RowRelease::ResetFlag || !one.flag.isEmpty(), one.prefix);
        }
    }

    void namesComeBack_data()
    {
        const Rows<QByteArray, QByteArrayList, QByteArray> row("prefix", "names", "name");
        row("usual", "LIQUIBASE#", {"1"}, "LIQUIBASE#my.lock");
        row("Keycloak's", "LIQUIBASE#", {"1000"}, "LIQUIBASE#my.lock#1000");
        row("Knex", "KNEX#", {"1"}, "KNEX#my.lock#1");
        row("a name with all", "LARAVEL#", {"a#b.c`d,e=f"}, "LARAVEL#my.lock#a#b.c`d,e=f");
        row("two columns", "SPRING#", {"DEFAULT", "0f3c"}, "SPRING#my.lock#DEFAULT,0f3c");
        row("two columns, a comma", "SPRING#", {"a,b", "c"}, "SPRING#my.lock#`a,b`,c");
        row("two columns, another comma", "SPRING#", {"a", "b,c"}, "SPRING#my.lock#a,`b,c`");
        row("two columns, a backtick", "SPRING#", {"`a", "b`c"}, "SPRING#my.lock#```a`,b`c");
    }
    void namesComeBack()
    {
        QFETCH(QByteArray, prefix);
        QFETCH(QByteArrayList, names);
        QFETCH(QByteArray, name);
        auto row = lockRow(prefix);
        row.schema = "my";
        row.table = "lock";
        row.names = names;
        QCOMPARE(lockRowName(row), name);
        const auto back = lockRowNamed(name);
        QVERIFY(back && back->layout == row.layout && back->table == row.table);
        QCOMPARE(back->names, names);
    }

    void rowsThatNothingEnds()
    {
        auto row = lockRow("MARK#");
        row.table = "lock_marks";
        row.names = {"nightly"};
        row.lockedBy = "0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11";
        const auto mark = snapshotOfRow(row);
        QCOMPARE(mark.lock.name, QByteArray("MARK#shop.lock_marks#nightly"));
        QCOMPARE(mark.recipe, QByteArray("sql-insert-mark"));
        QCOMPARE(mark.contenders[0].id, row.lockedBy); // as acquire calls its hold
        QVERIFY(!mark.client && !mark.contenders[0].expiresAt && !mark.waitersKnown);
        QCOMPARE(*mark.contenders[0].heldSince, ServerTime(1'700'000'000s));
        const auto plan = operate::planForceRelease(mark, mark.contenders[0].id);
        QVERIFY(!plan
                && plan.error().message.contains(u"DELETE FROM `shop`.`lock_marks` WHERE `name` = 'nightly' AND"
                                                 " `owner` = '0f3c2a14"_s));

        // Its version tells holds apart, and names nobody.
        SqlLockRow set{.layout = recipes::rowLayoutNamed("FLAG#"),
                       .schema = "shop",
                       .table = "lock_flags",
                       .names = {"1"},
                       .lockedBy = "7"};
        const auto flag = snapshotOfRow(set);
        QCOMPARE(flag.recipe, QByteArray("sql-status-flag"));
        QCOMPARE(flag.contenders[0].id, QByteArray("7"));
        QVERIFY(flag.contenders[0].identity->startsWith("holder unknown") && !flag.client);
        const auto freed = operate::planForceRelease(flag, "7");
        QVERIFY(!freed);
        QVERIFY2(freed.error().message.endsWith(u"UPDATE `shop`.`lock_flags` SET `status` = '0' WHERE `id` = '1' AND "
                                                "`status` = '1' AND `version` = '7'"_s),
                 qPrintable(freed.error().message));
    }

    // What its client would send, with the row as it was seen; nothing is sent from here.
    void aClientsRowIsFreedByHand_data()
    {
        const Rows<QByteArray, QByteArrayList, QByteArray, QByteArray, BackendKind, QString> row(
            "prefix", "names", "owner", "stamp", "backend", "statement");
        row("Knex", "KNEX#", {"1"}, "", "", BackendKind::MariaDb,
            u"UPDATE `shop`.`t` SET `is_locked` = '0' WHERE `index` = '1' AND `is_locked` = '1'"_s);
        row("Ghost", "KNEX-MIGRATOR#", {"km01"}, "", "2026-11-22 10:00:00", BackendKind::PostgreSql,
            u"UPDATE \"shop\".\"t\" SET \"locked\" = '0' WHERE \"lock_key\" = 'km01' AND \"locked\" = '1' AND "
            u"\"acquired_at\" = '2026-11-22 10:00:00'"_s);
        row("Hangfire", "HANGFIRE#", {"it's"}, "", "2026-11-22 10:00:00+00", BackendKind::PostgreSql,
            u"DELETE FROM \"shop\".\"t\" WHERE \"resource\" = 'it''s' AND \"acquired\" = "
            u"'2026-11-22 10:00:00+00'"_s);
        row("Spring", "SPRING#", {"DEFAULT", "0f3c"}, "me", "2026-11-22 10:00:00", BackendKind::MariaDb,
            u"DELETE FROM `shop`.`t` WHERE `region` = 'DEFAULT' AND `lock_key` = '0f3c' AND `client_id` = 'me'"_s);
    }
    void aClientsRowIsFreedByHand()
    {
        QFETCH(QByteArray, prefix);
        QFETCH(QByteArrayList, names);
        QFETCH(QByteArray, owner);
        QFETCH(QByteArray, stamp);
        QFETCH(BackendKind, backend);
        QFETCH(QString, statement);
        auto row = lockRow(prefix);
        row.table = "t";
        row.names = names;
        row.lockedBy = owner;
        row.stamp = stamp;
        LockSnapshot empty;
        empty.backend = backend;
        empty.observed = ServerTime(1'700'000'100s);
        empty.lock = {ConnectionName("db"), lockRowName(row)};
        const auto lock = lockOfRow(row, empty);
        QCOMPARE(lock.recipe, QByteArray(backend == BackendKind::MariaDb ? "sql-row-lock" : "pg-row-lock"));
        const auto plan = operate::planForceRelease(lock, lock.contenders[0].id);
        QVERIFY(!plan);
        QVERIFY2(plan.error().message.endsWith(statement), qPrintable(plan.error().message));
    }

    // Who has not said who he is cannot be compared with.
    void rowWithoutHolderIsNotCleared_data()
    {
        const Rows<QByteArray, QByteArray> row("lockedBy", "granted");
        row("by nobody", {}, "2026-11-22 10:00:00");
        row("never", "app-1", {});
    }
    // LOCKED, and LOCKEDBY is NULL: somebody has it, and the row does not say who.
    void aRowWithoutAnOwnerHasAnUnknownHolder()
    {
        auto row = lockRow(liquibase);
        row.lockedBy.clear();
        row.stamp.clear();
        row.since.reset();
        const auto lock = snapshotOfRow(row);
        QCOMPARE(lock.state, LockState::Held);
        QCOMPARE(lock.contenders[0].id, QByteArray("unknown@0"));
        QVERIFY(lock.contenders[0].identity->startsWith("holder unknown"));
        const auto plan = operate::planForceRelease(lock, lock.contenders[0].id);
        QVERIFY(!plan);
        QVERIFY2(plan.error().message.contains(u"does not show its holder"_s)
                     && !plan.error().message.contains(u"permissions"_s),
                 qPrintable(plan.error().message));
    }
    void rowWithoutHolderIsNotCleared()
    {
        QFETCH(QByteArray, lockedBy);
        QFETCH(QByteArray, granted);
        auto row = lockRow(liquibase);
        row.lockedBy = lockedBy;
        row.stamp = granted;
        const auto lock = snapshotOfRow(row);
        const auto plan = operate::planForceRelease(lock, lock.contenders[0].id);
        QVERIFY(!plan);
        QCOMPARE(plan.error().code, ErrorCode::Refused);
    }

    void thePreviewSaysWhatIsSentAndWhatIsRisky()
    {
        const auto lock = snapshotOfRow(lockRow(liquibase));
        const auto plan = operate::planForceRelease(lock, lock.contenders[0].id);
        QVERIFY(plan);
        const auto sent = plan->commands.join(u' ');
        QVERIFY2(sent.contains("UPDATE `shop`.`DATABASECHANGELOGLOCK` SET LOCKED = 0"_L1), qPrintable(sent));
        QVERIFY2(sent.contains("[app-1 (10.0.0.7), 2026-11-22 10:00:00]"_L1), qPrintable(sent));
        QVERIFY(!plan->risk.isEmpty() && !plan->exact);
        QVERIFY(plan->wakes.startsWith("no client"_L1));
    }

    // Of ShedLock's the time is ended, and the row stays: its client keeps in memory which rows there are.
    void aRowWithATimeIsEnded()
    {
        const auto lock = snapshotOfRow(lockRow(shedLock));
        const auto plan = operate::planForceRelease(lock, lock.contenders[0].id);
        QVERIFY(plan);
        const auto sent = plan->commands.join(u' ');
        QVERIFY2(sent.contains("UPDATE `shop`.`shedlock` SET lock_until = locked_at"_L1), qPrintable(sent));
        QVERIFY2(sent.contains("[app-1 (10.0.0.7), 2026-11-22 10:00:00]"_L1), qPrintable(sent));
        QVERIFY(plan->alternatives.join(u' ').contains("lock_until"_L1));
    }
};

LOCKSCOPE_TEST(TestSqlLockRows)
#include "tst_sql_lockrows.moc"
