// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/postgresql/pglockrows.h"

#include "core/base/text.h"
#include "core/inspect/postgresql/readerrows.h"
#include "core/postgresql/dialect.h"
#include "core/postgresql/literals.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using mariadb::Rows;
using postgresql::microseconds;

namespace {

constexpr auto pgLooksForTablesEvery = 30s;
constexpr auto pgReadsRowsEvery = 1s;
constexpr std::size_t pgMostLockRows = 1000, pgMostLockTables = 100;

// No views, no policies and no types of others: to read them may run what their owner wrote, as us. Names of columns
// as their makers write them, without quotes; of tables in either case.
const QByteArray pgWhichTables =
    "SELECT n.nspname AS table_schema, c.relname AS name, string_agg(a.attname, ',') AS columns, "
    "bool_or(a.attname = 'lock_until' AND a.atttypid = 'timestamptz'::regtype)::int::text AS is_zoned "
    "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
    "AND a.atttypid < 16384 WHERE c.relkind = 'r' AND NOT c.relrowsecurity "
    "AND lower(c.relname) IN ('databasechangeloglock', 'shedlock') GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100";

// A time without a zone is of the zone of whoever wrote it. Liquibase's is taken for the server's. ShedLock's are of
// UTC where it takes the database's time, of its own zone else: both are read, and count where they are one.
QByteArray pgRowsOf(SqlLockRow::Kind kind, const QByteArray &table, bool isZoned)
{
    const auto limit = " LIMIT " + QByteArray::number(pgMostLockRows);
    if (kind == SqlLockRow::Kind::Liquibase)
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

QString pgTableLabel(const QByteArray &schema, const QByteArray &name)
{
    return label(schema + '.' + name, 120);
}

} // namespace

Task<Result<void>> PgLockRows::read(PgLook *look, Send send, Loop *loop, Deadline deadline)
{
    const bool isRead = m_read && loop->now() - *m_read < pgReadsRowsEvery;
    if (!isRead) {
        m_rows.clear();
        m_gaps.clear();
        const bool isForced = !m_read;
        m_read = loop->now();
        if (isForced || !m_looked || loop->now() - *m_looked >= pgLooksForTablesEvery) {
            m_looked = loop->now();
            const auto found = co_await findTables(send, deadline);
            if (!found)
                co_return found.error();
        }
    }
    const auto tables = isRead ? std::vector<Table>() : m_tables;
    for (const auto &table : tables) {
        const auto done = co_await readTable(send, table, deadline);
        if (!done)
            co_return done.error();
    }
    look->lockRows = m_rows;
    co_return Result<void>();
}

Task<Result<void>> PgLockRows::findTables(Send send, Deadline deadline)
{
    auto asking = send(pgWhichTables, deadline);
    const auto rows = co_await asking;
    if (!rows && !isPgRefusal(rows.error()))
        co_return rows.error();
    if (!rows) {
        m_gaps << u"whether there are locks of Liquibase and ShedLock cannot be seen: "_s + rows.error().message;
        co_return Result<void>();
    }
    if (rows->rows.size() >= pgMostLockTables)
        m_gaps << u"of tables like Liquibase's and ShedLock's only %1 are looked at"_s.arg(pgMostLockTables);
    m_tables.clear();
    for (std::size_t i = 0; i < rows->rows.size(); ++i) {
        Table table{pgText(*rows, i, "table_schema"), pgText(*rows, i, "name"), SqlLockRow::Kind::Liquibase,
                    pgText(*rows, i, "is_zoned") == "1"};
        if (table.name.toLower() == "shedlock")
            table.kind = SqlLockRow::Kind::ShedLock;
        const auto there = pgText(*rows, i, "columns").split(',');
        const auto wanted = table.kind == SqlLockRow::Kind::Liquibase
                                ? QByteArrayList{"id", "locked", "lockgranted", "lockedby"}
                                : QByteArrayList{"name", "lock_until", "locked_at", "locked_by"};
        if (std::ranges::all_of(wanted, [&there](const QByteArray &one) { return there.contains(one); }))
            m_tables.push_back(std::move(table));
    }
    co_return Result<void>();
}

Task<Result<void>> PgLockRows::readTable(Send send, Table table, Deadline deadline)
{
    const auto quoted = postgresql::quotedName(table.schema) + '.' + postgresql::quotedName(table.name);
    auto asking = send(pgRowsOf(table.kind, quoted, table.isZoned), deadline);
    const auto rows = co_await asking;
    if (!rows && !isPgRefusal(rows.error()))
        co_return rows.error();
    if (!rows) {
        m_gaps << u"what stands in %1 cannot be read: %2"_s.arg(pgTableLabel(table.schema, table.name),
                                                                whyUnread(rows.error()));
        co_return Result<void>();
    }
    if (rows->rows.size() >= pgMostLockRows)
        m_gaps << u"of %1 only %2 locks are read"_s.arg(pgTableLabel(table.schema, table.name),
                                                        QString::number(pgMostLockRows));
    take(table, *rows);
    co_return Result<void>();
}

void PgLockRows::take(const Table &table, const Rows &rows)
{
    const auto moment = [&rows](std::size_t i, const char *column) {
        const auto at = pgMoment(rows, i, column);
        return at ? std::optional(timeOf(*at)) : std::nullopt;
    };
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        SqlLockRow row{table.kind,
                       table.schema,
                       table.name,
                       pgText(rows, i, "name"),
                       pgText(rows, i, "locked_by"),
                       pgText(rows, i, "stamp"),
                       moment(i, "since"),
                       moment(i, "ends")};
        const auto inUtc = moment(i, "ends_in_utc");
        if (row.ends && inUtc && std::chrono::abs(*row.ends - *inUtc) > 1s) {
            row.since.reset();
            row.ends.reset();
            row.isZoneUnclear = true;
        }
        m_rows.push_back(std::move(row));
    }
}

} // namespace lockscope::inspect
