// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/postgresql/reader.h"

#include "core/postgresql/dialect.h"

namespace lockscope::inspect {

using postgresql::microseconds;

namespace {

// No views, no policies and no types of others: to read them may run what their owner wrote, as us. Names of columns
// as their makers write them, without quotes; of tables in either case.
const QByteArray pgWhichTables =
    "SELECT n.nspname AS table_schema, c.relname AS name, string_agg(a.attname, ',') AS columns, "
    "bool_or(a.attname = 'lock_until' AND a.atttypid = 'timestamptz'::regtype)::int::text AS is_zoned, "
    "bool_and(c.relkind = 'r' AND NOT c.relrowsecurity)::int::text AS is_readable "
    "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
    "AND a.atttypid < 16384 WHERE c.relkind IN ('r', 'p') "
    "AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') "
    "AND (lower(c.relname) LIKE '%lock%' OR lower(c.relname) LIKE '%mutex%' OR lower(c.relname) LIKE '%semaphore%') "
    "GROUP BY 1, 2 ORDER BY lower(c.relname) IN ('databasechangeloglock', 'shedlock') DESC, 1, 2 LIMIT 100";

// A time without a zone is of the zone of whoever wrote it. Liquibase's is taken for the server's. ShedLock's are of
// UTC where it takes the database's time, of its own zone else: both are read, and count where they are one.
QByteArray pgRowsOf(const LockRowTable &one)
{
    const auto table = postgresql::quotedName(one.schema) + '.' + postgresql::quotedName(one.name);
    const bool isZoned = one.isZoned;
    const auto limit = " LIMIT " + QByteArray::number(mostLockRows);
    if (one.kind == SqlLockRow::Kind::Liquibase)
        return "SELECT id::text AS name, lockedby AS locked_by, lockgranted::text AS stamp, "
               + microseconds("lockgranted::timestamptz")
               + "::text AS since, NULL AS ends, NULL AS ends_in_utc FROM ONLY " + table + " WHERE locked AND id = 1"
               + limit;
    // From the zone's own wall clock to the moment.
    const auto here = [](const QByteArray &column) { return microseconds(column + "::timestamptz") + "::text"; };
    const auto inUtc = [isZoned](const QByteArray &column) {
        return microseconds(isZoned ? column : '(' + column + " AT TIME ZONE 'UTC')") + "::text";
    };
    const QByteArray after =
        isZoned ? "clock_timestamp()" : "LEAST(clock_timestamp()::timestamp, timezone('UTC', clock_timestamp()))";
    return "SELECT name, locked_by, locked_at::text AS stamp, " + here("locked_at") + " AS since, "
           + here("lock_until") + " AS ends, " + inUtc("lock_until") + " AS ends_in_utc FROM ONLY " + table
           + " WHERE lock_until > " + after + limit;
}

std::optional<ServerTime> pgTime(const mariadb::Rows &rows, std::size_t row, const QByteArray &column)
{
    const auto at = pgMoment(rows, row, column.constData());
    return at ? std::optional(timeOf(*at)) : std::nullopt;
}

} // namespace

const LockRowDialect &pgLockRows()
{
    static const LockRowDialect dialect{
        .whichTables = pgWhichTables,
        .whichColumns = {},
        .rowsOf = pgRowsOf,
        .beforeRows = {},
        .moment = pgTime,
        .isRefusal = isPgRefusal,
        .readErrorText = readErrorText,
    };
    return dialect;
}

} // namespace lockscope::inspect
