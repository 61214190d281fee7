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
    "string_agg(a.attname, ',') FILTER (WHERE a.atttypid = 'timestamptz'::regtype) AS zoned, "
    "bool_and(c.relkind = 'r' AND NOT c.relrowsecurity)::int::text AS is_readable "
    "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
    "AND a.atttypid < 16384 WHERE c.relkind IN ('r', 'p') "
    "AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') "
    "AND (lower(c.relname) LIKE '%lock%' OR lower(c.relname) LIKE '%mutex%' OR lower(c.relname) LIKE '%semaphore%') "
    "GROUP BY 1, 2 ORDER BY lower(c.relname) IN ('databasechangeloglock', 'shedlock') DESC, 1, 2 LIMIT 100";

QByteArray pgColumnText(const QByteArray &column)
{
    return column + "::text";
}

const QByteArray pgNumber = "::text ~ '^[0-9]{1,12}([.][0-9]{1,9}|)$'";

// From the zone's own wall clock to the moment. A time without a zone is in the zone of the client that wrote it.
QByteArray pgTimeOf(const QByteArray &column, recipes::RowTime time, bool isZoned, bool isInUtc)
{
    using recipes::RowTime;
    if (time == RowTime::Epoch)
        return "CASE WHEN " + column + pgNumber + " THEN (" + column + "::text::numeric * 1000000)::bigint::text END";
    const bool isUtc = time == RowTime::Utc || (isInUtc && time == RowTime::Unclear);
    return microseconds(isZoned ? column
                        : isUtc ? '(' + column + " AT TIME ZONE 'UTC')"
                                : column + "::timestamptz")
           + "::text";
}

QByteArray pgIsAhead(const QByteArray &column, recipes::RowTime time, bool isZoned)
{
    if (time == recipes::RowTime::Epoch)
        return "CASE WHEN " + column + pgNumber + " THEN " + column
               + "::text::numeric > extract(epoch FROM clock_timestamp())::numeric ELSE TRUE END";
    const QByteArray now =
        isZoned ? "clock_timestamp()" : "LEAST(clock_timestamp()::timestamp, timezone('UTC', clock_timestamp()))";
    return '(' + column + " IS NULL OR " + column + " > " + now + ')';
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
        .from = "FROM ONLY ",
        .quoted = postgresql::quotedName,
        .asText = pgColumnText,
        .isTrue = [](const QByteArray &column) { return column + "::text IN ('1', 't', 'true')"; },
        .timeOf = pgTimeOf,
        .isAhead = pgIsAhead,
        .beforeRows = {},
        .moment = pgTime,
        .isRefusal = isPgRefusal,
        .readErrorText = readErrorText,
    };
    return dialect;
}

} // namespace lockscope::inspect
