// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/lockrows.h"

#include "core/base/text.h"
#include "core/inspect/mariadb/readerrows.h"
#include "core/mariadb/freshness.h"

#include <algorithm>
#include <set>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using mariadb::Rows;

namespace {

constexpr auto looksForTablesEvery = 30s;
constexpr auto readsRowsEvery = 1s;
constexpr std::size_t mostLockRows = 1000, mostLockTables = 100;

// No views: to read one may run what its owner wrote, as us. No table is opened for this. Names as their makers write
// them, and in the other case: on most systems they differ.
const QByteArray whichTables =
    "SELECT TABLE_SCHEMA AS table_schema, TABLE_NAME AS name FROM information_schema.TABLES "
    "WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_NAME IN ('DATABASECHANGELOGLOCK', 'databasechangeloglock', 'shedlock', "
    "'SHEDLOCK', 'ShedLock') LIMIT 100";
const QByteArray whichColumns = "SELECT UPPER(COLUMN_NAME) AS name FROM information_schema.COLUMNS "
                                "WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?";

QByteArray quoted(QByteArray name)
{
    name.replace("`", "``");
    return '`' + name + '`';
}

// LOCKGRANTED is a time of the server's zone. ShedLock's are of UTC where it takes the database's time, of its own
// zone else: both are read, and count where they are one.
QByteArray rowsOf(SqlLockRow::Kind kind, const QByteArray &table)
{
    const auto limit = " LIMIT " + QByteArray::number(mostLockRows);
    if (kind == SqlLockRow::Kind::Liquibase)
        return "SELECT ID AS name, LOCKEDBY AS locked_by, CAST(LOCKGRANTED AS CHAR) AS stamp, "
               "UNIX_TIMESTAMP(LOCKGRANTED) AS since, NULL AS ends, NULL AS ends_in_utc FROM "
               + table + " WHERE LOCKED <> 0 AND ID = 1" + limit;
    return "SELECT name, locked_by, CAST(locked_at AS CHAR) AS stamp, UNIX_TIMESTAMP(NOW(3)) "
           "- TIMESTAMPDIFF(MICROSECOND, locked_at, NOW(3)) / 1000000 AS since, UNIX_TIMESTAMP(NOW(3)) "
           "+ TIMESTAMPDIFF(MICROSECOND, NOW(3), lock_until) / 1000000 AS ends, UNIX_TIMESTAMP(NOW(3)) "
           "+ TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), lock_until) / 1000000 AS ends_in_utc FROM "
           + table + " WHERE lock_until > LEAST(NOW(3), UTC_TIMESTAMP(3))" + limit;
}

} // namespace

void SqlLockRows::forget()
{
    *this = SqlLockRows();
}

Task<Result<void>> SqlLockRows::read(SqlLook *look, Send send, Loop *loop, Deadline deadline)
{
    const bool isRead = m_read && loop->now() - *m_read < readsRowsEvery;
    if (!isRead) {
        m_rows.clear();
        m_gaps.clear();
        const bool isForced = !m_read;
        m_read = loop->now();
        if (isForced || !m_looked || loop->now() - *m_looked >= looksForTablesEvery) {
            m_looked = loop->now();
            const auto found = co_await findTables(send, deadline);
            if (!found)
                co_return found.error();
        }
    }
    const auto tables = isRead ? std::vector<Table>() : m_tables;
    for (const auto &table : tables) {
        // A question would wait, too.
        const bool isKept = std::ranges::any_of(look->tableLocks, [&](const SqlTableLock &one) {
            return one.schema == table.schema && one.table == table.name;
        });
        if (isKept) {
            m_gaps << u"what stands in %1 is not asked for while somebody keeps others out of that table"_s.arg(
                label(table.schema + '.' + table.name, 120));
            continue;
        }
        const auto done = co_await readTable(send, table, deadline);
        if (!done)
            co_return done.error();
    }
    look->lockRows = m_rows;
    co_return Result<void>();
}

Task<Result<void>> SqlLockRows::findTables(Send send, Deadline deadline)
{
    auto asking = send(whichTables, deadline, {});
    const auto rows = co_await asking;
    if (!rows && !isRefusal(rows.error()))
        co_return rows.error();
    if (!rows) {
        m_gaps << u"whether there are locks of Liquibase and ShedLock cannot be seen: "_s + rows.error().message;
        co_return Result<void>();
    }
    if (rows->rows.size() >= mostLockTables)
        m_gaps << u"of tables like Liquibase's and ShedLock's only %1 are looked at"_s.arg(mostLockTables);
    std::vector<Table> found;
    for (std::size_t i = 0; i < rows->rows.size(); ++i) {
        Table table{text(*rows, i, "table_schema"), text(*rows, i, "name"), SqlLockRow::Kind::Liquibase};
        if (table.name.toLower() == "shedlock")
            table.kind = SqlLockRow::Kind::ShedLock;
        const bool isKnown = std::ranges::any_of(
            m_tables, [&](const Table &one) { return one.schema == table.schema && one.name == table.name; });
        if (!isKnown) {
            const auto fits = co_await hasColumns(send, table, deadline);
            if (!fits)
                co_return fits.error();
            if (!*fits)
                continue;
        }
        found.push_back(std::move(table));
    }
    m_tables = std::move(found);
    co_return Result<void>();
}

Task<Result<bool>> SqlLockRows::hasColumns(Send send, Table table, Deadline deadline)
{
    const QByteArrayList parameters{table.schema, table.name};
    auto asking = send(whichColumns, deadline, parameters);
    const auto rows = co_await asking;
    if (!rows && !isRefusal(rows.error()))
        co_return rows.error();
    const auto wanted = table.kind == SqlLockRow::Kind::Liquibase
                            ? QByteArrayList{"ID", "LOCKED", "LOCKGRANTED", "LOCKEDBY"}
                            : QByteArrayList{"NAME", "LOCK_UNTIL", "LOCKED_AT", "LOCKED_BY"};
    std::set<QByteArray> there;
    for (std::size_t i = 0; rows && i < rows->rows.size(); ++i)
        there.insert(text(*rows, i, "name"));
    const bool fits = std::ranges::all_of(wanted, [&](const QByteArray &one) { return there.contains(one); });
    co_return fits;
}

// What was rolled back is not to be told: so not as uncommitted reads are.
Task<Result<void>> SqlLockRows::readTable(Send send, Table table, Deadline deadline)
{
    auto committed = send(mariadb::committedNext, deadline, {});
    auto asking = send(rowsOf(table.kind, quoted(table.schema) + '.' + quoted(table.name)), deadline, {});
    const auto set = co_await committed;
    const auto rows = co_await asking;
    if (!set)
        co_return set.error();
    if (!rows && !isRefusal(rows.error()) && rows.error().code != ErrorCode::TimedOut)
        co_return rows.error();
    if (!rows) {
        m_gaps << u"what stands in %1 cannot be read: %2"_s.arg(label(table.schema + '.' + table.name, 120),
                                                                rows.error().message);
        co_return Result<void>();
    }
    if (rows->rows.size() >= mostLockRows)
        m_gaps << u"of %1 only %2 locks are read"_s.arg(label(table.schema + '.' + table.name, 120),
                                                        QString::number(mostLockRows));
    for (std::size_t i = 0; i < rows->rows.size(); ++i) {
        SqlLockRow row{table.kind,
                       table.schema,
                       table.name,
                       text(*rows, i, "name"),
                       text(*rows, i, "locked_by"),
                       text(*rows, i, "stamp"),
                       moment(*rows, i, "since"),
                       moment(*rows, i, "ends")};
        const auto inUtc = moment(*rows, i, "ends_in_utc");
        if (row.ends && inUtc && std::chrono::abs(*row.ends - *inUtc) > 1s) {
            row.since.reset();
            row.ends.reset();
            row.isZoneUnclear = true;
        }
        m_rows.push_back(std::move(row));
    }
    co_return Result<void>();
}

} // namespace lockscope::inspect
