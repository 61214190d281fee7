// SPDX-License-Identifier: Apache-2.0
// From rows of a MariaDB server to snapshots: names, who holds and who waits, what is odd.
#include "core/inspect/findings.h"
#include "core/inspect/mariadb/poll.h"
#include "core/inspect/waits/waitgraph.h"
#include "core/mariadb/session.h"
#include "core/operate/forcerelease.h"
#include "core/operate/gate.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;

namespace {

const ConnectionName db("db");

ServerTime at(int seconds)
{
    return ServerTime(std::chrono::seconds(1'700'000'000 + seconds));
}

SqlLockWait wait(const QByteArray &requesting, const QByteArray &blocking, const QByteArray &data = "1",
                 const QByteArray &index = "PRIMARY")
{
    return {requesting, blocking, "`shop`.`stock`", index, data, "X", "X"};
}

SqlTransaction transaction(const QByteArray &id, quint64 connection, int started,
                           std::optional<ServerTime> waitStarted = std::nullopt)
{
    return {id, connection, at(started), waitStarted, 2, 1};
}

SqlPoll lookOf(std::vector<SqlTransaction> transactions, std::vector<SqlLockWait> waits)
{
    SqlPoll look{.now = at(100), .transactions = std::move(transactions), .waits = std::move(waits)};
    look.columns[{"`shop`.`stock`", "PRIMARY"}] = {"id"};
    for (const auto &transaction : look.transactions) {
        look.processes.push_back({.connection = transaction.connection,
                                  .user = "app",
                                  .host = "10.0.0." + QByteArray::number(transaction.connection) + ":4000",
                                  .isIdle = !transaction.waitStarted,
                                  .inState = 45s});
    }
    return look;
}

// As transaction() makes them: the last digits of the start are the transaction's number.
QByteArray rowId(quint64 connection, int started, const QByteArray &transaction)
{
    return rowContenderId(connection, transaction, at(started));
}

SqlLockWait gapWait(const QByteArray &requesting, const QByteArray &blocking, const QByteArray &data = "10")
{
    auto one = wait(requesting, blocking, data);
    one.requestedMode = one.blockingMode = "X,GAP";
    return one;
}

// "shop.stock#id=1: 1 holds, 2 waits for 1"; by connection.
QStringList arrows(const std::vector<LockSnapshot> &snapshots)
{
    QStringList all;
    for (const auto &lock : snapshots) {
        QStringList parts;
        const auto named = [](const QByteArray &id) { return QString::fromUtf8(id.left(id.indexOf('@'))); };
        for (const auto &contender : lock.contenders) {
            QStringList targets;
            for (const auto &edge : contender.watches)
                targets << named(edge.target) + (edge.evidence == Evidence::Server ? u""_s : u" (inferred)"_s);
            parts << named(contender.id)
                         + (contender.role == Role::Holder ? u" holds"_s
                            : targets.isEmpty()            ? u" waits"_s
                                                           : u" waits for "_s + targets.join(u" and "_s));
        }
        all << QString::fromUtf8(lock.lock.name) + u": "_s + parts.join(u", "_s);
    }
    return all;
}

WaitGraph graphOf(const SqlPoll &look)
{
    return waitGraphOf(snapshotsOf(look, db), {}, std::chrono::system_clock::time_point(look.now));
}

QByteArrayList ids(const LockSnapshot &lock, Role role)
{
    QByteArrayList all;
    for (const auto &contender : lock.contenders) {
        if (contender.role == role)
            all << contender.id;
    }
    return all;
}

} // namespace

class TestMariaDbSnapshots : public QObject {
    Q_OBJECT
private slots:
    // Two connections of one process share its name; what two processes are called is nobody's name.
    void aNameIsOneProcesssAlone()
    {
        auto look = lookOf({transaction("1", 1, 10), transaction("2", 2, 10), transaction("3", 3, 10)}, {});
        for (auto &process : look.processes)
            process.host = "10.0.0.1:" + QByteArray::number(4000 + process.connection);
        addAttributes(look.processes, {{1, {"billing", 7}}, {2, {"billing", 7}}, {3, {"stock", 8}}});
        QCOMPARE(look.processes[1].program, QByteArray("billing"));
        QCOMPARE(look.processes[2].program, QByteArray("stock"));
        QCOMPARE(look.processes[2].pid, std::optional<qint64>(8));
        look = lookOf({transaction("1", 1, 10), transaction("2", 2, 10)}, {});
        addAttributes(look.processes, {{1, {"worker", 7}}, {2, {"worker", 7}}}); // of two hosts
        QCOMPARE(look.processes[0].program, QByteArray());
        look.processes[1].host = "10.0.0.1:9";
        addAttributes(look.processes, {{1, {"worker", {}}}, {2, {"worker", {}}}}); // without a process
        QCOMPARE(look.processes[0].program, QByteArray());
    }

    void rowsAreNamedAsAcquireTakesThem_data()
    {
        const Rows<QByteArray, QByteArray, QByteArrayList, QByteArray, QByteArray> row("table", "index", "columns",
                                                                                       "data", "name");
        const QByteArray stock("`shop`.`stock`");
        row("a number", stock, "PRIMARY", {"id"}, "1", "shop.stock#id=1");
        row("a text", stock, "PRIMARY", {"sku"}, "'a, ''b'''", "shop.stock#sku=a, 'b'");
        row("a key of two", stock, "PRIMARY", {"a", "b"}, "7, 'x'", "shop.stock#a=7,b=x");
        row("Quartz", "`q`.`QRTZ_LOCKS`", "PRIMARY", {"SCHED_NAME", "LOCK_NAME"}, "'sched', 'TRIGGER_ACCESS'",
            "q.QRTZ_LOCKS#SCHED_NAME=sched,LOCK_NAME=TRIGGER_ACCESS");
        row("what could be misread", stock, "PRIMARY", {"a", "b c"}, "'x,b=1', '`'",
            "shop.stock#a=`x,b=1`,`b c`=````");
        row("another index", stock, "by_name", {"name"}, "'kettle', 1", "shop.stock#name=kettle");
        row("beyond the last", stock, "PRIMARY", {"id"}, "supremum pseudo-record",
            "shop.stock#PRIMARY:supremum pseudo-record");
        row("of a partition", "`shop`.`stock` /* Partition `p1` */", "PRIMARY", {"id"}, "supremum pseudo-record",
            "shop.stock#PRIMARY:supremum pseudo-record of partition `p1`");
        row("of a partition whose name was cut", "`shop`.`stock` /* Partition `", "PRIMARY", {"id"},
            "supremum pseudo-record", "shop.stock#PRIMARY:supremum pseudo-record of partition ");
        row("no key", stock, "GEN_CLUST_INDEX", {}, "0x000000000200", "shop.stock#GEN_CLUST_INDEX:0x000000000200");
        row("not in memory", stock, "PRIMARY", {"id"}, {}, "shop.stock#PRIMARY:?");
        row("the table", stock, {}, {}, {}, "shop.stock");
        row("odd names", "`s.s`.`a``b` /* Partition `p0` */", "PRIMARY", {"c=d"}, "1", "`s.s`.`a``b`#`c=d`=1");
    }
    void rowsAreNamedAsAcquireTakesThem()
    {
        QFETCH(QByteArray, table);
        QFETCH(QByteArray, index);
        QFETCH(QByteArrayList, columns);
        QFETCH(QByteArray, data);
        QFETCH(QByteArray, name);
        IndexColumns known;
        known[{table, index}] = columns;
        QCOMPARE(rowLockName({"1", "2", table, index, data, "X", "X"}, known), name);
    }

    // A server tells a row only where it has its page at once: two that are not told stay two, and one that was told
    // once, or to another, keeps its name.
    void aRowThatIsNotToldIsNoOther()
    {
        const QByteArray stock("`shop`.`stock`");
        const auto waitAt = [&](const QByteArray &id, const QByteArray &data) {
            return SqlLockWait{"1", "2", stock, "PRIMARY", data, "X", "X", id};
        };
        IndexColumns columns;
        columns[{stock, "PRIMARY"}] = QByteArrayList{"id"};
        RowDataCache told;
        const auto namesOf = [&](std::vector<SqlLockWait> waits) {
            told.keep(waits);
            QByteArrayList names;
            for (const auto &one : waits)
                names << rowLockName(one, columns);
            return names;
        };
        QCOMPARE(namesOf({waitAt("254:17:3:2", ""), waitAt("255:17:3:4", "")}),
                 (QByteArrayList{"shop.stock#PRIMARY:?17:3:2", "shop.stock#PRIMARY:?17:3:4"}));
        QCOMPARE(namesOf({waitAt("254:17:3:2", ""), waitAt("256:17:3:2", "7"), waitAt("255:17:3:4", "")}),
                 (QByteArrayList{"shop.stock#id=7", "shop.stock#id=7", "shop.stock#PRIMARY:?17:3:4"}));
        QCOMPARE(namesOf({waitAt("254:17:3:2", "")}), QByteArrayList{"shop.stock#id=7"});
        QCOMPARE(namesOf({waitAt("257:17:3:2", "")}), QByteArrayList{"shop.stock#PRIMARY:?17:3:2"}); // later, another
        QCOMPARE(namesOf({waitAt("140:1062:4:2:149", "")}),
                 QByteArrayList{"shop.stock#PRIMARY:?1062:4:2"}); // MySQL's
    }

    void blockerThatDoesNotWaitHolds()
    {
        // A later waiter lists the earlier one among those in its way.
        const auto look =
            lookOf({transaction("10", 1, 0), transaction("12", 3, 5, at(20)), transaction("11", 2, 6, at(10))},
                   {wait("11", "10"), wait("12", "10"), wait("12", "11")});
        const auto snapshots = snapshotsOf(look, db);
        QCOMPARE(snapshots.size(), size_t(1));
        const auto &lock = snapshots.front();
        QCOMPARE(lock.lock.text(), QByteArray("db:shop.stock#id=1"));
        QCOMPARE(lock.backend, BackendKind::MariaDb);
        QCOMPARE(lock.recipe, QByteArray("sql-for-update"));
        QCOMPARE(lock.state, LockState::Contended);
        QCOMPARE(ids(lock, Role::Holder), QByteArrayList{"1@1700000000010"});
        QCOMPARE(*lock.contenders[0].session, QStringLiteral("1"));
        QCOMPARE(ids(lock, Role::Waiter),
                 (QByteArrayList{"2@1700000006011", "3@1700000005012"})); // by how long they wait
        const auto &holder = lock.contenders[0];
        QCOMPARE(holder.heldSince, at(0));
        QVERIFY(holder.heldAtMost);
        QCOMPARE(*holder.endpoint, QStringLiteral("10.0.0.1:4000"));
        QCOMPARE(*lock.contenders[1].waitingSince, at(10));
        QCOMPARE(*lock.contenders[2].position, 2);
        QCOMPARE(lock.contenders[2].watches.front().target, rowId(2, 6, "11"));
    }

    // The gap before a row is another lock than the row: its holders do not have the row.
    void gapAndRecordAreTwoLocks()
    {
        const auto look = lookOf({transaction("10", 1, 0), transaction("11", 2, 1), transaction("12", 3, 2, at(9)),
                                  transaction("13", 4, 3, at(10))},
                                 {gapWait("12", "10"), wait("13", "11", "10")});
        const auto snapshots = snapshotsOf(look, db);
        QCOMPARE(arrows(snapshots), (QStringList{u"before shop.stock#id=10: 1 holds, 3 waits for 1"_s,
                                                 u"shop.stock#id=10: 2 holds, 4 waits for 2"_s}));
        QCOMPARE(snapshots[0].recipe, QByteArray("sql-innodb-lock"));
        QCOMPARE(snapshots[0].contenders[0].mode, Mode::Read); // others may have the same gap
        QCOMPARE(snapshots[1].recipe, QByteArray("sql-for-update"));
        QCOMPARE(snapshots[1].contenders[0].mode, Mode::Exclusive);
        const auto plan = operate::planForceRelease(snapshots[1], snapshots[1].contenders[0].id);
        QVERIFY(plan && plan->nextHolder == rowId(4, 3, "13"));
    }
    void gapsAreNamedByTheRequest_data()
    {
        const Rows<QByteArray, QByteArray, QByteArray, QByteArray> row("requested", "data", "id", "name");
        row("gap", "X,GAP"_ba, "10"_ba, ""_ba, "before shop.stock#id=10"_ba);
        row("MySQL", "X,GAP,INSERT_INTENTION"_ba, "10"_ba, ""_ba, "before shop.stock#id=10"_ba);
        row("record and gap", "X"_ba, "10"_ba, ""_ba, "shop.stock#id=10"_ba);
        row("record only", "X,REC_NOT_GAP"_ba, "10"_ba, ""_ba, "shop.stock#id=10"_ba);
        row("behind the last", "X"_ba, "supremum pseudo-record"_ba, ""_ba,
            "before shop.stock#PRIMARY:supremum pseudo-record"_ba);
        row("behind the last, not in memory", "X"_ba, ""_ba, "254:17:3:1"_ba, "before shop.stock#PRIMARY:?17:3:1"_ba);
    }
    void gapsAreNamedByTheRequest()
    {
        QFETCH(QByteArray, requested);
        QFETCH(QByteArray, data);
        QFETCH(QByteArray, id);
        auto one = wait("1", "2", data);
        one.requestedMode = requested;
        one.id = id;
        QTEST(innoDbLockName(one, {{{one.table, one.index}, {"id"}}}), "name");
    }
    // A schema of such a name is written in backticks.
    void aSchemaIsNoGap()
    {
        auto one = wait("1", "2", "10");
        one.table = "`before shop`.`stock`";
        QCOMPARE(innoDbLockName(one, {}), QByteArray("`before shop`.stock#PRIMARY:10"));
    }
    // Two requests to insert do not wait for each other, whoever asked first.
    void insertersWaitForGapHoldersOnly()
    {
        const auto look =
            lookOf({transaction("10", 1, 0), transaction("12", 3, 2, at(9)), transaction("13", 4, 3, at(10))},
                   {gapWait("12", "10"), gapWait("13", "10")});
        QCOMPARE(arrows(snapshotsOf(look, db)),
                 QStringList{u"before shop.stock#id=10: 1 holds, 3 waits for 1, 4 waits for 1"_s});
        const auto graph = graphOf(look);
        QCOMPARE(graph.roots.size(), std::size_t(1));
        QCOMPARE(graph.roots[0].direct, 2);
    }
    // Whoever waits for the record keeps others out of the gap before it, and has neither.
    void aWaiterForTheRecordHasNoGap()
    {
        auto behindWaiter = gapWait("13", "12");
        behindWaiter.blockingMode = "X";
        auto look = lookOf({transaction("10", 1, 0), transaction("12", 3, 2, at(9)), transaction("13", 4, 3, at(10))},
                           {wait("12", "10", "10"), gapWait("13", "10"), behindWaiter});
        QCOMPARE(arrows(snapshotsOf(look, db)),
                 (QStringList{u"before shop.stock#id=10: 1 holds, 3 waits for 1, 4 waits for 3"_s,
                              u"shop.stock#id=10: 1 holds, 3 waits for 1"_s}));
        look.waits[2].blockingStatus = "GRANTED"; // MySQL says that it has that gap
        QCOMPARE(arrows(snapshotsOf(look, db))[0],
                 u"before shop.stock#id=10: 1 holds, 3 holds, 4 waits for 1 and 3"_s);
        QVERIFY(graphOf(look).cycles.empty());
    }
    // 3 waits for 1's gap, 4 for 2's row, 2 for 3: nothing in that goes round, although one queue of both locks does.
    void aGapMakesNoDeadlock()
    {
        const auto look = lookOf({transaction("10", 1, 0), transaction("11", 2, 1, at(11)),
                                  transaction("12", 3, 2, at(9)), transaction("13", 4, 3, at(10))},
                                 {gapWait("12", "10"), wait("13", "11", "10"), wait("11", "12", "1")});
        const auto graph = graphOf(look);
        QVERIFY(graph.cycles.empty());
        QCOMPARE(graph.roots.size(), std::size_t(1));
        QCOMPARE(graph.clients[size_t(graph.roots[0].client)].id, QByteArray("db:1"));
        QCOMPARE(graph.roots[0].total, 3);
    }
    // Both have the gap, and each inserts into it.
    void aDeadlockInOneGapIsOne()
    {
        const auto look = lookOf({transaction("10", 1, 0, at(8)), transaction("11", 2, 1, at(9))},
                                 {gapWait("10", "11"), gapWait("11", "10")});
        const auto graph = graphOf(look);
        QCOMPARE(graph.cycles.size(), std::size_t(1));
        QCOMPARE(graph.cycles[0].clients.size(), std::size_t(2));
    }

    // A prepared XA transaction has no session; its name is known where there is one only.
    void aPreparedXaTransactionHasNoConnection()
    {
        auto look = lookOf({transaction("10", 0, 0), transaction("11", 2, 5, at(20))}, {wait("11", "10")});
        look.preparedXa = QByteArrayList{"order-7"};
        const auto lock = snapshotsOf(look, db).front();
        const auto &holder = lock.contenders[0];
        QCOMPARE(holder.id, QByteArray("xa:10@1700000000010"));
        QVERIFY(!holder.session);
        QCOMPARE(*holder.identity, QByteArray("prepared XA transaction order-7"));
        QVERIFY(lock.find(FindingCode::IdleInTransaction)->message.contains(u"XA ROLLBACK"_s));
        const auto plan = operate::planForceRelease(lock, holder.id);
        QVERIFY(plan && plan->commands.join(u' ').startsWith(u"nothing"_s));
        QVERIFY2(!plan->commands.join(u' ').contains(u"KILL CONNECTION"_s), qPrintable(plan->commands.join(u' ')));
        const auto sessions = sessionsOf(look, {lock}, db);
        QVERIFY(std::ranges::none_of(sessions, [](const auto &one) { return one.session == u"0"_s; }));
    }
    void whichXaTransactionIsNotGuessed()
    {
        auto look = lookOf({transaction("10", 0, 0), transaction("11", 2, 5, at(20))}, {wait("11", "10")});
        const auto identity = [&look] { return *snapshotsOf(look, db).front().contenders[0].identity; };
        QVERIFY2(identity().startsWith("a prepared XA transaction whose session has ended"), identity());
        look.preparedXa = QByteArrayList{"pay-1", "pay-2"};
        QCOMPARE(
            identity(),
            QByteArray("one of several prepared XA transactions; the server does not report which of pay-1, pay-2"));
        look.preparedXa = QByteArrayList();
        QVERIFY2(identity().contains("the server lists no prepared XA transaction"), identity());
        look.transactions[0].state = "ROLLING BACK";
        QVERIFY2(identity().contains("rolls back"), identity());
    }
    void anInnoDbTableLockIsATables()
    {
        auto one = wait("11", "10", {}, {});
        one.requestedMode = "S";
        one.blockingMode = "IX";
        const auto lock =
            snapshotsOf(lookOf({transaction("10", 0, 0), transaction("11", 2, 5, at(20))}, {one}), db).front();
        QCOMPARE(lock.lock.name, QByteArray("shop.stock"));
        QCOMPARE(lock.recipe, QByteArray("sql-innodb-lock"));
        QVERIFY2(lock.why.contains(u"lock of this table"_s) && !lock.why.contains(u"record"_s), qPrintable(lock.why));
    }

    // What a server says to wait, and no snapshot explains, is counted by its state.
    void waitsWithoutALockAreCounted()
    {
        auto look = lookOf({transaction("11", 2, 5), transaction("12", 3, 5), transaction("13", 4, 5)}, {});
        QVERIFY(unexplainedWaits(look, {}).empty());
        look.processes[0].state = look.processes[1].state = "Waiting for table level lock";
        const auto said = unexplainedWaits(look, snapshotsOf(look, db));
        const std::vector<Unexplained> expected{
            {2,
             u"2 connections wait in the state \"Waiting for table level lock\", and it is not known who holds that "
             u"lock"_s,
             "connection 2", true}};
        QCOMPARE(said, expected);
        look.processes[0].inState = 20ms; // it may have it by now
        QVERIFY(unexplainedWaits(look, {}).front().text.startsWith(u"1 connection waits"_s));
        look.processes[1].state.clear();
        look.transactions[2].waitStarted = at(20); // and no pair says for whom
        QVERIFY(unexplainedWaits(look, {}).front().text.startsWith(u"1 transaction waits for an InnoDB lock"_s));
    }

    void anIdleHolderIsShownAsSuch()
    {
        const auto look = lookOf({transaction("10", 1, 0), transaction("11", 2, 5, at(20))}, {wait("11", "10")});
        const auto lock = snapshotsOf(look, db).front();
        QCOMPARE(lock.findings.size(), size_t(1));
        QCOMPARE(lock.findings.front().code, FindingCode::IdleInTransaction);
        QCOMPARE(lock.findings.front().severity, Severity::Warning);
        QCOMPARE(lock.findings.front().contenders, std::vector<QByteArray>{rowId(1, 0, "10")});
        QVERIFY(lock.findings.front().message.startsWith(
            u"connection 1 (app from 10.0.0.1:4000) has been idle inside its transaction for "_s));
        auto named = look; // what two processes are called is no client's name, and helps to find them all the same
        addAttributes(named.processes, {{1, {"billing\x1b", 4711}}, {2, {"billing\x1b", 8}}});
        const auto message = snapshotsOf(named, db).front().findings.front().message;
        QVERIFY2(
            message.startsWith(u"connection 1 (billing\\x1B, process 4711; app from 10.0.0.1:4000) has been idle"_s),
            qPrintable(message));
        auto brief = look; // between two statements: known, and nothing to report
        brief.processes[0].inState = std::chrono::milliseconds(361);
        const auto between = snapshotsOf(brief, db).front();
        QVERIFY(between.findings.empty() && between.contenders[0].runsNothing);
        auto busy = look;
        busy.processes[0].isIdle = false;
        QVERIFY(snapshotsOf(busy, db).front().findings.empty());
    }

    // A session's own limit before that of those who set none; what nobody told is not said.
    void howLongAWaiterWaitsAtMost()
    {
        auto look = lookOf({transaction("10", 1, 0), transaction("11", 2, 5, at(20))}, {wait("11", "10")});
        const auto limits = [&look] {
            const auto lock = snapshotsOf(look, db).front();
            return lock.contenders[0].limits.empty() ? lock.contenders[1].limits : std::vector<WaitLimit>();
        };
        QCOMPARE(limits(), std::vector<WaitLimit>());
        look.usualLimits = {50s, 24h};
        QCOMPARE(limits(), (std::vector<WaitLimit>{{"innodb_lock_wait_timeout", 50s, false}}));
        look.ownLimits[2] = {5s, 6s};
        QCOMPARE(limits(), (std::vector<WaitLimit>{{"innodb_lock_wait_timeout", 5s, true}}));
    }

    void aCycleIsTwoLocksEachHeldByTheOthersWaiter()
    {
        const auto look = lookOf({transaction("10", 1, 0, at(20)), transaction("11", 2, 5, at(21))},
                                 {wait("10", "11", "1"), wait("11", "10", "2")});
        const auto snapshots = snapshotsOf(look, db);
        QCOMPARE(snapshots.size(), size_t(2));
        QCOMPARE(ids(snapshots[0], Role::Holder), QByteArrayList{rowId(2, 5, "11")});
        QCOMPARE(ids(snapshots[1], Role::Holder), QByteArrayList{rowId(1, 0, "10")});
    }

    void readersShare()
    {
        auto readers = wait("12", "10");
        readers.blockingMode = "S";
        auto other = wait("12", "11");
        other.blockingMode = "S,REC_NOT_GAP";
        const auto look = lookOf({transaction("10", 1, 0), transaction("11", 2, 1), transaction("12", 3, 2, at(9))},
                                 {readers, other});
        const auto lock = snapshotsOf(look, db).front();
        QCOMPARE(ids(lock, Role::Holder), (QByteArrayList{rowId(1, 0, "10"), rowId(2, 1, "11")}));
        QCOMPARE(lock.contenders[0].mode, Mode::Read);
        QCOMPARE(lock.contenders[2].mode, Mode::Exclusive);
    }

    void transactionsOfOneSecondHaveTheirOwnIds()
    {
        QVERIFY(rowContenderId(7, "4711", at(0)) != rowContenderId(7, "4712", at(0)));
        QCOMPARE(rowContenderId(7, "4711", at(0)), QByteArray("7@1700000000711"));
    }

    // MariaDB numbers only who locks for writing; all others are 0.
    void onlyUnnumberedReaderIsTheHolder()
    {
        auto reader = wait("12", "0");
        reader.blockingMode = "S";
        auto look =
            lookOf({transaction("0", 1, 0), transaction("0", 4, 0), transaction("12", 3, 2, at(9))}, {reader});
        look.transactions[1].rowsLocked = 0; // it has locked nothing, so it is in nobody's way
        const auto lock = snapshotsOf(look, db).front();
        QCOMPARE(ids(lock, Role::Holder), QByteArrayList{"1@1700000000000"});
        QCOMPARE(ids(lock, Role::Waiter), QByteArrayList{rowId(3, 2, "12")});
    }
    void ambiguousUnnumberedReaderIsNotGuessed()
    {
        auto reader = wait("12", "0");
        reader.blockingMode = "S";
        const auto look =
            lookOf({transaction("0", 1, 0), transaction("0", 4, 0), transaction("12", 3, 2, at(9))}, {reader});
        const auto lock = snapshotsOf(look, db).front();
        QCOMPARE(lock.holderCount(), 1);
        QVERIFY(!lock.contenders[0].session);
        const auto plan = operate::planForceRelease(lock, lock.contenders[0].id);
        QVERIFY(!plan);
        QCOMPARE(plan.error().code, ErrorCode::Refused);
    }

    // All of them are "0": one that waits for 12 and one that 12 waits for are no deadlock.
    void unnumberedReadersAndWritersAreNoDeadlock()
    {
        const auto holders = lookOf({transaction("0", 1, 0), transaction("0", 2, 0), transaction("12", 3, 2, at(9)),
                                     transaction("0", 4, 3, at(9))},
                                    {wait("12", "0"), wait("12", "0"), wait("0", "12")});
        QCOMPARE(arrows(snapshotsOf(holders, db)),
                 QStringList{u"shop.stock#id=1: 1 holds, 2 holds, 3 waits for 1 and 2, 4 waits for 3"_s});
    }
    void unnumberedReadersBesideAWriterAreInOrder()
    {
        const auto waits = [](int second) {
            const std::vector<SqlLockWait> pairs{wait("0", "11"), wait("0", "11"), wait("0", "12"),  wait("0", "11"),
                                                 wait("0", "11"), wait("0", "12"), wait("12", "11"), wait("12", "0")};
            return lookOf({transaction("11", 1, 0), transaction("0", 2, 1, at(8)), transaction("12", 3, 2, at(8)),
                           transaction("0", 4, 3, at(second)), transaction("0", 5, 0)},
                          pairs);
        };
        QCOMPARE(arrows(snapshotsOf(waits(9), db)),
                 QStringList{u"shop.stock#id=1: 1 holds, 2 waits for 1, 3 waits for 2, 4 waits for 3"_s});
        // Which of the two is before 3 is not known where they began to wait in one second.
        QCOMPARE(arrows(snapshotsOf(waits(8), db)),
                 QStringList{u"shop.stock#id=1: 1 holds, 2 waits for 1, 3 waits for 1, 4 waits for 1"_s});
    }

    void rowsOfAnOldCopyAreAsOldAsThat()
    {
        auto look = lookOf({transaction("10", 1, 0), transaction("11", 2, 5, at(20))}, {wait("11", "10")});
        look.namedLocks = {{"Nightly", 1, true}};
        QVERIFY(!snapshotsOf(look, db)[0].mayBeOld);
        look.rowsAreFresh = false;
        look.rowsAsOf = at(80);
        const auto snapshots = snapshotsOf(look, db);
        QVERIFY(snapshots[0].mayBeOld);
        QCOMPARE(snapshots[0].observed, at(80));
        QVERIFY(!snapshots[1].mayBeOld); // named locks are told as they are
        QCOMPARE(snapshots[1].observed, at(100));
    }

    void namedLockWaiters_withoutPrivilege_areUnknown()
    {
        auto look = lookOf({transaction("10", 1, 0)}, {});
        look.namedLocks = {{"Nightly", 1, true}};
        QVERIFY(snapshotsOf(look, db).front().waitersKnown);
        look.seesAllProcesses = false;
        const auto lock = snapshotsOf(look, db).front();
        QVERIFY(!lock.waitersKnown);
        const auto plan = operate::planForceRelease(lock, lock.contenders.front().id);
        QVERIFY(plan);
        QVERIFY2(plan->wakes.contains(QStringLiteral("not visible")), qPrintable(plan->wakes));
        const auto said = (plan->warnings + plan->alternatives).join(u'\n');
        QVERIFY2(said.contains(QStringLiteral("PROCESS")) && !said.contains(QStringLiteral("the lock is free")),
                 qPrintable(said));
    }

    void namedLocksHaveHoldersAndWaiters()
    {
        auto look = lookOf({transaction("10", 1, 0), transaction("11", 2, 5)}, {});
        look.serverStarted = at(-1000);
        look.namedLocks = {{"Nightly", 2, false}, {"Nightly", 1, true}, {"other", 1, true}};
        const auto snapshots = snapshotsOf(look, db);
        QCOMPARE(snapshots.size(), size_t(2));
        QCOMPARE(snapshots[0].lock.name, QByteArray("GET_LOCK#Nightly"));
        QCOMPARE(snapshots[0].recipe, QByteArray("sql-get-lock"));
        QCOMPARE(snapshots[0].state, LockState::Contended);
        QCOMPARE(ids(snapshots[0], Role::Holder), QByteArrayList{"1@1699999000000"});
        QCOMPARE(*snapshots[0].contenders[0].session, QStringLiteral("1"));
        QCOMPARE(*snapshots[0].contenders[1].waitingSince, at(55));
        QCOMPARE(snapshots[1].state, LockState::Held);
        const auto sessions = sessionsOf(look, snapshots, db);
        QCOMPARE(sessions.size(), size_t(2));
        QCOMPARE(sessions[0].holds, (std::vector<QByteArray>{"GET_LOCK#Nightly", "GET_LOCK#other"}));
        QCOMPARE(sessions[1].waits, std::vector<QByteArray>{"GET_LOCK#Nightly"});
        QCOMPARE(*sessions[1].client, QStringLiteral("app"));
    }

    void namesAreReadFromStatements_data()
    {
        const Rows<QByteArray, QByteArray> row("statement", "name");
        row("plain", "SELECT GET_LOCK('a',10)", "a");
        row("spaces, case, double quotes", "do get_lock ( \"b c\" , 1)", "b c");
        row("doubled and escaped", "SELECT GET_LOCK('it''s \\'x\\'', 1)", "it's 'x'");
        row("line ends and other bytes", QByteArray("SELECT GET_LOCK('a\\r\\nb\\t\\\\\\0', 1)"),
            QByteArray("a\r\nb\t\\\0", 7));
        row("an expression", "SELECT GET_LOCK(CONCAT('a', 'b'), 1)", {});
        row("another", "SELECT 1", {});
        row("cut off", "SELECT GET_LOCK(", {});
    }
    void namesAreReadFromStatements()
    {
        QFETCH(QByteArray, statement);
        QFETCH(QByteArray, name);
        QCOMPARE(namedLockIn(statement).value_or(QByteArray()), name);
    }

    void aHolderIsKilledByItsConnection()
    {
        const auto look = lookOf({transaction("10", 1, 0), transaction("11", 2, 5, at(20))}, {wait("11", "10")});
        const auto lock = snapshotsOf(look, db).front();
        const auto plan = operate::planForceRelease(lock, rowId(1, 0, "10"));
        QVERIFY2(plan, plan ? "" : qPrintable(plan.error().message));
        QCOMPARE(plan->commands.back(), QStringLiteral("KILL CONNECTION 1"));
        QVERIFY(!plan->exact && !plan->otherLocksKnown); // nobody has asked the server yet
        QCOMPARE(*plan->nextHolder, rowId(2, 5, "11"));
        QCOMPARE(plan->guard.sql().text, QByteArray("trx 10 started 1700000000000"));
        const auto waiter = operate::planForceRelease(lock, rowId(2, 5, "11"));
        QVERIFY(!waiter);
        QCOMPARE(waiter.error().code, ErrorCode::Refused);
    }

    void statusIsReadWithCare_data()
    {
        using enum mariadb::InStatus;
        addColumns<QByteArray, mariadb::InStatus>("status", "found");
        const QByteArray ours = "---TRANSACTION (0x7f0d5e7f2780), ACTIVE 0 sec\n0 lock struct(s)\n"
                                "MariaDB thread id 6, OS thread handle 1, query id 2 127.0.0.1 root starting\n"
                                "SHOW ENGINE INNODB STATUS\n";
        const QByteArray theirs = "---TRANSACTION 21, ACTIVE 3 sec\n2 lock struct(s)\n"
                                  "MariaDB thread id 4, OS thread handle 3, query id 4 127.0.0.1 root \n";
        const auto with = [&](const QByteArray &from, const QByteArray &to) {
            auto other = theirs;
            return ours + other.replace(from, to);
        };
        QTest::newRow("it is there") << ours + theirs << Active;
        QTest::newRow("prepared") << with("ACTIVE 3", "ACTIVE (PREPARED) 3") << Active;
        QTest::newRow("MySQL") << with("MariaDB", "MySQL") << Active;
        QTest::newRow("another transaction") << with("TRANSACTION 21", "TRANSACTION 22") << NotThere;
        QTest::newRow("another connection") << with("thread id 4", "thread id 5") << NotThere;
        QTest::newRow("over") << with("ACTIVE 3 sec", "not started") << NotThere;
        QTest::newRow("committed") << with("ACTIVE 3 sec", "COMMITTED IN MEMORY") << NotThere;
        QTest::newRow("another server") << theirs << NotKnown;
        QTest::newRow("cut off") << ours + "... truncated...\n" << NotKnown;
        QTest::newRow("cut off behind it") << ours + theirs + "... truncated...\n" << Active;
        QTest::newRow("twice, as a client may write it") << ours + theirs + theirs << NotKnown;
        QTest::newRow("nothing") << QByteArray() << NotKnown;
    }
    void statusIsReadWithCare()
    {
        QFETCH(QByteArray, status);
        QFETCH(mariadb::InStatus, found);
        QCOMPARE(mariadb::findInStatus(status, "21", 4, 6), found);
    }

    void questionsAreNoWritesAndLocksAre_data()
    {
        const Rows<QByteArray, bool> row("statement", "write");
        for (const auto *read :
             {"SELECT 1", "  select id from t", "SELECT IS_USED_LOCK('a')", "ROLLBACK", "DO 0", "SHOW PROCESSLIST",
              "START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT",
              "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "SET SESSION lock_wait_timeout = 1",
              "SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY"})
            row(read, QByteArray(read), false);
        for (const auto *write :
             {"UPDATE t SET a = 1", "SELECT id FROM t FOR UPDATE", "SELECT id FROM t for  update",
              "select GET_LOCK('a', 1)", "SELECT RELEASE_LOCK('a')", "SELECT 1 INTO OUTFILE 'x'", "KILL CONNECTION 1",
              "START TRANSACTION", "COMMIT", "CALL p()", "SET GLOBAL x = 1", "", "SET SESSION lock_wait_timeout = 2",
              "DO SLEEP(1)", "START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT; DELETE FROM t",
              "BEGIN NOT ATOMIC KILL 1; END", "WITH a AS (SELECT 1) SELECT * FROM a", "SELECT\n1\nFOR\nUPDATE"})
            row(write, QByteArray(write), true);
    }
    void questionsAreNoWritesAndLocksAre()
    {
        QFETCH(QByteArray, statement);
        QFETCH(bool, write);
        QCOMPARE(operate::isSqlWrite(mariadb::Statement{statement, {}, {}, false}, {}), write);
    }
};

LOCKSCOPE_TEST(TestMariaDbSnapshots)
#include "tst_mariadb_snapshots.moc"
