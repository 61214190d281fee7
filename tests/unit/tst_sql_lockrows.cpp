// SPDX-License-Identifier: Apache-2.0
// Rows that are locks by what stands in them: their snapshots, and what a force-release of one will say.
#include "core/inspect/mariadb/poll.h"
#include "core/operate/forcerelease.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;

namespace {

SqlLockRow lockRow(SqlLockRow::Kind kind)
{
    SqlLockRow row{kind, "shop", "DATABASECHANGELOGLOCK", "1", "app-1 (10.0.0.7)", "2026-11-22 10:00:00", {},
                   {},   false};
    row.since = ServerTime(1'700'000'000s);
    if (kind == SqlLockRow::Kind::ShedLock) {
        row.table = "shedlock";
        row.name = "nightly #1";
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
        const auto lock = snapshotOfRow(lockRow(SqlLockRow::Kind::Liquibase));
        QCOMPARE(lock.lock.name, QByteArray("LIQUIBASE#shop.DATABASECHANGELOGLOCK"));
        QCOMPARE(lock.recipe, QByteArray("sql-liquibase"));
        QCOMPARE(lock.client, std::optional(u"Liquibase"_s));
        QCOMPARE(lock.contenders.size(), std::size_t(1));
        QCOMPARE(lock.contenders[0].id, QByteArray("app-1 (10.0.0.7)@1700000000000"));
        QCOMPARE(*lock.contenders[0].heldSince, ServerTime(1'700'000'000s));
        QVERIFY(!lock.contenders[0].expiresAt && !lock.waitersKnown);

        const auto shed = snapshotOfRow(lockRow(SqlLockRow::Kind::ShedLock));
        QCOMPARE(shed.lock.name, QByteArray("SHEDLOCK#shop.shedlock#nightly #1"));
        QCOMPARE(*shed.contenders[0].expiresAt, ServerTime(1'700'000'160s));
        QCOMPARE(shed.contenders[0].id, QByteArray("app-1 (10.0.0.7)@1700000000000"));
        QCOMPARE(shed.client, std::optional(u"ShedLock"_s));

        // A token is nobody's host name, and names one hold.
        auto ours = lockRow(SqlLockRow::Kind::ShedLock);
        ours.lockedBy = "0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11";
        QCOMPARE(snapshotOfRow(ours).contenders[0].id, ours.lockedBy);
        QVERIFY(!snapshotOfRow(ours).client);
    }

    // A clock that is ahead, or another zone: no age below nothing.
    void aMomentToComeIsNoAge()
    {
        auto row = lockRow(SqlLockRow::Kind::Liquibase);
        row.since = ServerTime(1'700'003'700s);
        QVERIFY(!snapshotOfRow(row).contenders[0].heldSince);
        row.since.reset(); // LOCKGRANTED is NULL
        QVERIFY(!snapshotOfRow(row).contenders[0].heldSince);
    }

    void tablesComeBackFromNames()
    {
        auto row = lockRow(SqlLockRow::Kind::Liquibase);
        row.schema = "my.shop";
        const auto back = lockRowNamed(lockRowName(row));
        QVERIFY(back && back->kind == row.kind && back->schema == "my.shop" && back->table == row.table);
        row = lockRow(SqlLockRow::Kind::ShedLock);
        row.schema = "my#shop";
        row.name = "a.b#c";
        const auto shed = lockRowNamed(lockRowName(row));
        QVERIFY(shed && shed->kind == row.kind && shed->schema == row.schema && shed->table == row.table);
        QCOMPARE(shed->name, row.name);
        QVERIFY(!lockRowNamed("SHEDLOCK#shop.shedlock") && !lockRowNamed("LIQUIBASE#shop"));
        QVERIFY(isLockRowName("SHEDLOCK#shop.shedlock#x") && !isLockRowName("shop.shedlock#name=x"));
    }

    // Who has not said who he is cannot be compared with.
    void whatHasNoHolderIsNotCleared_data()
    {
        const Rows<QByteArray, QByteArray> row("lockedBy", "granted");
        row("by nobody", {}, "2026-11-22 10:00:00");
        row("never", "app-1", {});
    }
    // LOCKED, and LOCKEDBY is NULL: somebody has it, and the row does not say who.
    void aRowWithoutAnOwnerHasAnUnknownHolder()
    {
        auto row = lockRow(SqlLockRow::Kind::Liquibase);
        row.lockedBy.clear();
        row.stamp.clear();
        row.since.reset();
        const auto lock = snapshotOfRow(row);
        QCOMPARE(lock.state, LockState::Held);
        QCOMPARE(lock.contenders[0].id, QByteArray("unknown@0"));
        QVERIFY(lock.contenders[0].identity->startsWith("holder unknown"));
        const auto plan = operate::planForceRelease(lock, lock.contenders[0].id);
        QVERIFY(!plan);
        QVERIFY2(plan.error().message.contains(u"does not say who holds it"_s)
                     && !plan.error().message.contains(u"permissions"_s),
                 qPrintable(plan.error().message));
    }
    void whatHasNoHolderIsNotCleared()
    {
        QFETCH(QByteArray, lockedBy);
        QFETCH(QByteArray, granted);
        auto row = lockRow(SqlLockRow::Kind::Liquibase);
        row.lockedBy = lockedBy;
        row.stamp = granted;
        const auto lock = snapshotOfRow(row);
        const auto plan = operate::planForceRelease(lock, lock.contenders[0].id);
        QVERIFY(!plan);
        QCOMPARE(plan.error().code, ErrorCode::Refused);
    }

    void thePreviewSaysWhatIsSentAndWhatIsRisky()
    {
        const auto lock = snapshotOfRow(lockRow(SqlLockRow::Kind::Liquibase));
        const auto plan = operate::planForceRelease(lock, lock.contenders[0].id);
        QVERIFY(plan);
        const auto sent = plan->commands.join(u' ');
        QVERIFY2(sent.contains("UPDATE `shop`.`DATABASECHANGELOGLOCK` SET LOCKED = 0"_L1), qPrintable(sent));
        QVERIFY2(sent.contains("[app-1 (10.0.0.7), 2026-11-22 10:00:00]"_L1), qPrintable(sent));
        QVERIFY(!plan->risk.isEmpty() && !plan->exact);
        QVERIFY(plan->wakes.startsWith("nobody"_L1));
    }

    // Of ShedLock's the time is ended, and the row stays: its client keeps in memory which rows there are.
    void aRowWithATimeIsEnded()
    {
        const auto lock = snapshotOfRow(lockRow(SqlLockRow::Kind::ShedLock));
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
