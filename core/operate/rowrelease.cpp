// SPDX-License-Identifier: Apache-2.0
// A row that is a lock by what stands in it is freed as its own client frees it, if it still is as it was seen.
#include "core/operate/rowrelease.h"

#include "core/base/identifiers.h"
#include "core/base/text.h"
#include "core/postgresql/dialect.h"
#include "core/rules/catalogue.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;
using inspect::SqlLockRow;

namespace {

QByteArray inBackticks(QByteArray name)
{
    name.replace("`", "``");
    return '`' + name + '`';
}

bool isLiquibase(const SqlLockRow &row)
{
    return row.layout && row.layout->release == recipes::RowRelease::Clear;
}

mariadb::Statement freeing(const SqlLockRow &row, const ForceReleasePlan &plan, FreeingText text)
{
    const QByteArrayList values = row.names + QByteArrayList{plan.guard.row().lockedBy, plan.guard.row().stamp};
    return {.text = text(row), .parameters = values, .connection = {}, .isLasting = true};
}

void planOfLiquibase(ForceReleasePlan &plan)
{
    plan.act = u"Clear the row as Liquibase does (releaseLocks)"_s;
    plan.alternatives
        << u"see whether Liquibase still runs on the host that LOCKEDBY names: one that was killed leaves the row "
           u"locked for good, and then this is what helps"_s;
    plan.risk =
        u"should Liquibase still run there, another may begin the same changes beside it; and when the old one "
        u"is done, it clears the row without comparing who has set it"_s;
}

void planOfShedLock(ForceReleasePlan &plan, const inspect::Contender &holder)
{
    plan.act = u"End the row's time as ShedLock's own unlock does: lock_until is set to when it was taken"_s;
    plan.alternatives
        << u"see whether the job still runs where locked_by says: one that was killed keeps the row until "
           u"lock_until, and then it is free by itself"_s;
    // Who writes a token compares it.
    if (!isUuid36(holder.guard.row().lockedBy))
        plan.risk =
            u"should the job still run there, another may begin it beside; and a client that writes its host's name "
            u"may, when the old job is done, end the time of a later one on the same host"_s;
}

} // namespace

// Compared byte by byte: collations take A for a. ShedLock's time is set back to when the row was taken: whatever
// zone its client writes, that has passed there.
QByteArray freeingText(const SqlLockRow &row)
{
    const auto table = inBackticks(row.schema) + '.' + inBackticks(row.table);
    if (isLiquibase(row))
        return "UPDATE " + table
               + " SET LOCKED = 0, LOCKGRANTED = NULL, LOCKEDBY = NULL WHERE ID = ? AND LOCKED <> 0 AND "
                 "LOCKEDBY = BINARY ? AND CAST(LOCKGRANTED AS CHAR) = ?";
    return "UPDATE " + table
           + " SET lock_until = locked_at WHERE name = BINARY ? AND lock_until > locked_at AND locked_by = BINARY ? "
             "AND CAST(locked_at AS CHAR) = ?";
}

bool hasRow(const inspect::Contender &one)
{
    return !one.guard.row().lockedBy.isEmpty() && !one.guard.row().stamp.isEmpty();
}

void planClearRow(ForceReleasePlan &plan, const inspect::Contender &holder, FreeingText text)
{
    const auto row = inspect::lockRowNamed(plan.before.lock.name).value_or(SqlLockRow());
    const bool isOfLiquibase = isLiquibase(row);
    const auto values =
        u" [%1, %2]"_s.arg(label(holder.guard.row().lockedBy, 120), label(holder.guard.row().stamp, 60));
    plan.commands << label(text(row), 400) + values;
    plan.guardText = u"%1 as they were seen%2, compared in the same statement"_s.arg(
        isOfLiquibase ? u"LOCKEDBY and LOCKGRANTED"_s : u"locked_by and locked_at"_s, values);
    if (isOfLiquibase)
        planOfLiquibase(plan);
    else
        planOfShedLock(plan, holder);
    plan.exact = plan.risk.isEmpty();
    if (!plan.exact)
        plan.warnings << plan.risk;
}

QString askedAgain(const inspect::LockSnapshot &snapshot, const inspect::Contender &)
{
    const auto row = inspect::lockRowNamed(snapshot.lock.name);
    return row && isLiquibase(*row)
               ? u"nobody: Liquibase asks again every 10 s, and gives up after 5 min (unless set otherwise)"_s
               : u"nobody: ShedLock asks when the job is next due, and who waits by our recipe within 75 ms"_s;
}

QString ownFreeing(const inspect::LockSnapshot &snapshot, const inspect::Contender &holder)
{
    const auto row = inspect::lockRowNamed(snapshot.lock.name);
    if (!row)
        return {};
    const auto &layout = *row->layout;
    const bool isPostgreSql = snapshot.backend == BackendKind::PostgreSql;
    const auto quoted = [isPostgreSql](const QByteArray &name) {
        return isPostgreSql ? postgresql::quotedName(name) : inBackticks(name);
    };
    // Numbers and flags, too: a server reads them as what they are compared with.
    const auto is = [&](const QByteArray &column, QByteArray value) {
        if (!isPostgreSql)
            value.replace("\\", "\\\\");
        return quoted(column) + " = '" + value.replace("'", "''") + '\'';
    };
    QByteArrayList conditions;
    for (qsizetype i = 0; i < layout.name.size(); ++i)
        conditions << is(layout.name[i], row->names.value(i));
    if (!layout.flag.isEmpty())
        conditions << is(layout.flag, "1");
    if (!layout.owner.isEmpty() && !holder.guard.row().lockedBy.isEmpty())
        conditions << is(layout.owner, holder.guard.row().lockedBy);
    if (!layout.isSinceRenewed && !holder.guard.row().stamp.isEmpty())
        conditions << is(layout.since, holder.guard.row().stamp);
    const auto table = quoted(row->schema) + '.' + quoted(row->table);
    const auto verb =
        layout.flag.isEmpty() ? "DELETE FROM " + table : "UPDATE " + table + " SET " + is(layout.flag, "0");
    const auto whose =
        layout.client.isEmpty() ? u"its holder works no more"_s : u"no client of %1 works on it"_s.arg(layout.client);
    return u"see that %1, and run: %2"_s.arg(whose, label(verb + " WHERE " + conditions.join(" AND "), 600));
}

Task<Result<Sent>> clearRow(ForceReleasePlan plan, mariadb::Session *session, FreeingText text, Deadline deadline)
{
    const auto row = inspect::lockRowNamed(plan.before.lock.name);
    if (!row)
        co_return changedMeanwhile(plan, u"its table is not known"_s);
    auto acting = session->execute(freeing(*row, plan, text), deadline);
    CO_TRY(const auto &done, co_await acting);
    if (done.affected == 0)
        co_return goneAlready(plan);
    co_return Sent();
}

} // namespace lockscope::operate
