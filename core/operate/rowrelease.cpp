// SPDX-License-Identifier: Apache-2.0
// A row that is a lock by what stands in it is freed as its own client frees it, if it still is as it was seen.
#include "core/operate/sql.h"

#include "core/base/identifiers.h"
#include "core/base/text.h"
#include "core/operate/texts.h"
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

} // namespace

QByteArray freeingText(const SqlLockRow &row)
{
    const auto table = mariadb::quotedName(row.schema) + '.' + mariadb::quotedName(row.table);
    return mariadb::sqlText(isLiquibase(row) ? "mariadb-clear-liquibase" : "mariadb-clear-shedlock", {table});
}

QByteArray freeingPgText(const SqlLockRow &row)
{
    const auto table = postgresql::quotedName(row.schema) + '.' + postgresql::quotedName(row.table);
    return mariadb::sqlText(isLiquibase(row) ? "postgresql-clear-liquibase" : "postgresql-clear-shedlock", {table});
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
    addTexts(plan, isOfLiquibase ? "clear-liquibase" : "clear-shedlock", {values});
    // Who writes a token compares it.
    if (!isOfLiquibase && !isUuid36(holder.guard.row().lockedBy))
        addTexts(plan, "clear-shedlock-by-host");
    plan.exact = plan.risk.isEmpty();
    if (!plan.exact)
        plan.warnings << plan.risk;
}

QString askedAgain(const inspect::LockSnapshot &snapshot, const inspect::Contender &)
{
    const auto row = inspect::lockRowNamed(snapshot.lock.name);
    return sentence(row && isLiquibase(*row) ? "liquibase-retries" : "shedlock-retries");
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
