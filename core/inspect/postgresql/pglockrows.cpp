// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/postgresql/reader.h"

#include "core/postgresql/dialect.h"

namespace lockscope::inspect {

using postgresql::microseconds;

namespace {

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
        .whichTables = mariadb::sqlText("postgresql-lock-tables"),
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
