// SPDX-License-Identifier: Apache-2.0
// A row that is a lock by what stands in it is freed as its own client frees it, if it still is as it was seen.
#include "core/operate/rowrelease.h"

#include "core/base/identifiers.h"
#include "core/base/text.h"
#include "core/postgresql/dialect.h"
#include "core/rules/catalogue.h"

namespace lockscope::operate {

using inspect::SqlLockRow;

namespace {

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
        << u"check whether Liquibase still runs on the host in LOCKEDBY. A killed Liquibase leaves the row locked "
           u"permanently; in that case, release it here"_s;
    plan.risk = u"if Liquibase still runs there, another may start the same changes in parallel. When the old one "
                u"finishes, it clears the row without checking its owner"_s;
}

void planOfShedLock(ForceReleasePlan &plan, const inspect::Contender &holder)
{
    plan.act = u"End the lock as ShedLock's own unlock does: set lock_until to the time when it was acquired"_s;
    plan.alternatives
        << u"check whether the job still runs at the client in locked_by. A killed job keeps the row until "
           u"lock_until; after that it is free without a release"_s;
    // Who writes a token compares it.
    if (!isUuid36(holder.guard.row().lockedBy))
        plan.risk =
            u"if the job still runs there, a second run may start in parallel. A client that writes its host name "
            u"may later end the lock of a newer run on the same host"_s;
}

} // namespace

// Compared byte by byte: collations take A for a. ShedLock's time is set back to when the row was taken: whatever
// zone its client writes, that has passed there.
QByteArray freeingText(const SqlLockRow &row)
{
    const auto table = mariadb::quotedName(row.schema) + '.' + mariadb::quotedName(row.table);
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
    plan.guardText = u"%1 must still have these values:%2; compared in the same statement"_s.arg(
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
               ? u"no client: Liquibase retries every 10 s and gives up after 5 min (unless configured otherwise)"_s
               : u"no client: ShedLock retries when the job is next due; Lockscope's own waiters retry within 75 ms"_s;
}

QString ownFreeing(const inspect::LockSnapshot &snapshot, const inspect::Contender &holder)
{
    const auto row = inspect::lockRowNamed(snapshot.lock.name);
    if (!row)
        return {};
    const auto &layout = *row->layout;
    const bool isPostgreSql = snapshot.backend == BackendKind::PostgreSql;
    const auto quoted = [isPostgreSql](const QByteArray &name) {
        return isPostgreSql ? postgresql::quotedName(name) : mariadb::quotedName(name);
    };
    // Numbers and flags, too: a server reads them as what they are compared with.
    const auto literal = [isPostgreSql](QByteArray value) {
        if (!isPostgreSql)
            value.replace("\\", "\\\\");
        return '\'' + value.replace("'", "''") + '\'';
    };
    const auto is = [&](const QByteArray &column, const QByteArray &value) {
        return quoted(column) + " = " + literal(value);
    };
    QByteArrayList conditions;
    for (qsizetype i = 0; i < layout.name.size(); ++i)
        conditions << is(layout.name[i], row->names.value(i));
    if (!layout.held.isEmpty())
        conditions << quoted(layout.flag) + " IN (" + mapped<QByteArrayList>(layout.held, literal).join(", ") + ')';
    else if (!layout.flag.isEmpty())
        conditions << is(layout.flag, "1");
    if (!layout.owner.isEmpty() && !holder.guard.row().lockedBy.isEmpty())
        conditions << is(layout.owner, holder.guard.row().lockedBy);
    if (!layout.isSinceRenewed && !holder.guard.row().stamp.isEmpty())
        conditions << is(layout.since, holder.guard.row().stamp);
    const auto table = quoted(row->schema) + '.' + quoted(row->table);
    const auto verb = layout.flag.isEmpty()
                          ? "DELETE FROM " + table
                          : "UPDATE " + table + " SET " + is(layout.flag, layout.free.value(0, "0"));
    const auto whose = layout.client.isEmpty() ? u"its holder no longer works"_s
                                               : u"no client of %1 works on it"_s.arg(layout.client);
    return u"make sure that %1, then run: %2"_s.arg(whose, label(verb + " WHERE " + conditions.join(" AND "), 600));
}

Task<Result<Sent>> clearRow(ForceReleasePlan plan, mariadb::Session *session, FreeingText text, Deadline deadline)
{
    const auto row = inspect::lockRowNamed(plan.before.lock.name);
    if (!row)
        co_return changedMeanwhile(plan, u"its table is not known"_s);
    CO_TRY(const auto &done, co_await session->execute(freeing(*row, plan, text), deadline));
    if (done.affected == 0)
        co_return goneAlready(plan);
    co_return Sent();
}

} // namespace lockscope::operate
