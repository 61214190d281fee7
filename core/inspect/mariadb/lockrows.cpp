// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/lockrows.h"

#include "core/base/text.h"
#include "core/inspect/mariadb/readerrows.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using mariadb::Rows;

namespace {

constexpr auto looksForTablesEvery = 30s;
constexpr auto readsRowsEvery = 1s;

QString tableLabel(const LockRowTable &table)
{
    return label(table.schema + '.' + table.name, 120);
}

// A whole word of the name, so that stock_blocks is none. Quartz locks rows of its own table FOR UPDATE, and these
// are seen as row locks.
bool isNamedLikeLocks(const QByteArray &table)
{
    static const QByteArrayList words{"lock", "locks", "mutex", "mutexes", "semaphore", "semaphores"};
    if (table.toLower().endsWith("qrtz_locks"))
        return false;
    QByteArray word;
    for (qsizetype i = 0; i <= table.size(); ++i) {
        const char c = i < table.size() ? table[i] : '_';
        const bool isUpper = c >= 'A' && c <= 'Z';
        const bool isLetter = isUpper || (c >= 'a' && c <= 'z');
        const bool wasUpper = i > 0 && table[i - 1] >= 'A' && table[i - 1] <= 'Z';
        if (!isLetter || (isUpper && !wasUpper)) {
            if (words.contains(word.toLower()))
                return true;
            word.clear();
        }
        if (isLetter)
            word += c;
    }
    return false;
}

} // namespace

Task<Result<void>> SqlLockRows::read(Send send, Loop *loop, std::vector<SqlTableLock> kept, Deadline deadline)
{
    const bool isRead = m_read && loop->now() - *m_read < readsRowsEvery;
    if (!isRead) {
        m_rows.clear();
        m_gaps.clear();
        const bool isForced = !m_read;
        m_read = loop->now();
        if (isForced || !m_looked || loop->now() - *m_looked >= looksForTablesEvery) {
            m_looked = loop->now();
            CO_TRY_VOID(co_await findTables(send, deadline));
        }
    }
    const auto tables = isRead ? std::vector<LockRowTable>() : m_tables;
    for (const auto &table : tables) {
        const bool isKept = std::ranges::any_of(
            kept, [&](const SqlTableLock &one) { return one.schema == table.schema && one.table == table.name; });
        if (isKept) {
            m_gaps << u"what stands in %1 is not asked for while somebody keeps others out of that table"_s.arg(
                tableLabel(table));
            continue;
        }
        CO_TRY_VOID(co_await readTable(send, table, deadline));
    }
    co_return Result<void>();
}

Task<Result<void>> SqlLockRows::findTables(Send send, Deadline deadline)
{
    m_tableGaps.clear();
    auto asking = send(m_dialect->whichTables, deadline, {});
    const auto rows = co_await asking;
    if (!rows && !m_dialect->isRefusal(rows.error()))
        co_return rows.error();
    if (!rows) {
        m_tableGaps << u"whether there are locks of Liquibase and ShedLock cannot be seen: "_s + rows.error().message;
        co_return Result<void>();
    }
    if (rows->rows.size() >= mostLockTables)
        m_tableGaps << u"of tables that are named like tables of locks only %1 are looked at"_s.arg(mostLockTables);
    std::vector<LockRowTable> found;
    m_otherTables.clear();
    for (std::size_t i = 0; i < rows->rows.size(); ++i) {
        LockRowTable table{text(*rows, i, "table_schema"), text(*rows, i, "name"), SqlLockRow::Kind::Liquibase,
                           text(*rows, i, "is_zoned") == "1"};
        const auto lower = table.name.toLower();
        if (lower == "shedlock")
            table.kind = SqlLockRow::Kind::ShedLock;
        const bool isKnownName = lower == "shedlock" || lower == "databasechangeloglock";
        if (isKnownName && text(*rows, i, "is_readable") == "1") {
            const auto told = text(*rows, i, "columns").split(',');
            CO_TRY(const auto &fits, co_await hasColumns(send, table, told, deadline));
            if (fits) {
                found.push_back(std::move(table));
                continue;
            }
        }
        if (isKnownName || isNamedLikeLocks(table.name))
            m_otherTables << table.schema + '.' + table.name;
    }
    m_tables = std::move(found);
    co_return Result<void>();
}

std::vector<Unexplained> SqlLockRows::unexplained() const
{
    if (m_otherTables.isEmpty())
        return {};
    const auto count = m_otherTables.size();
    const auto text = count == 1
                          ? u"1 table is named as if its rows were locks, and they are not read"_s
                          : u"%1 tables are named as if their rows were locks, and they are not read"_s.arg(count);
    return {{count, text, m_otherTables.front()}};
}

Task<Result<bool>> SqlLockRows::hasColumns(Send send, LockRowTable table, QByteArrayList told, Deadline deadline)
{
    const auto isIt = [&table](const LockRowTable &one) {
        return one.schema == table.schema && one.name == table.name;
    };
    if (!m_dialect->whichColumns.isEmpty()) {
        if (std::ranges::any_of(m_tables, isIt))
            co_return true;
        const QByteArrayList parameters{table.schema, table.name};
        auto asking = send(m_dialect->whichColumns, deadline, parameters);
        const auto rows = co_await asking;
        if (!rows && !m_dialect->isRefusal(rows.error()))
            co_return rows.error();
        told.clear();
        for (std::size_t i = 0; rows && i < rows->rows.size(); ++i)
            told << text(*rows, i, "name");
    }
    const auto wanted = table.kind == SqlLockRow::Kind::Liquibase
                            ? QByteArrayList{"id", "locked", "lockgranted", "lockedby"}
                            : QByteArrayList{"name", "lock_until", "locked_at", "locked_by"};
    co_return std::ranges::all_of(wanted, [&told](const QByteArray &one) { return told.contains(one); });
}

Task<Result<void>> SqlLockRows::readTable(Send send, LockRowTable table, Deadline deadline)
{
    std::optional<Reply<Rows>> before;
    if (!m_dialect->beforeRows.isEmpty())
        before = send(m_dialect->beforeRows, deadline, {});
    auto asking = send(m_dialect->rowsOf(table), deadline, {});
    const auto rows = co_await asking;
    if (before) {
        CO_TRY_VOID(co_await *before);
    }
    if (!rows && !m_dialect->isRefusal(rows.error()) && rows.error().code != ErrorCode::TimedOut)
        co_return rows.error();
    if (!rows) {
        m_gaps << u"what stands in %1 cannot be read: %2"_s.arg(tableLabel(table),
                                                                m_dialect->readErrorText(rows.error()));
        co_return Result<void>();
    }
    if (rows->rows.size() >= mostLockRows)
        m_gaps << u"of %1 only %2 locks are read"_s.arg(tableLabel(table), QString::number(mostLockRows));
    take(table, *rows);
    co_return Result<void>();
}

void SqlLockRows::take(const LockRowTable &table, const Rows &rows)
{
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        SqlLockRow row{table.kind,
                       table.schema,
                       table.name,
                       text(rows, i, "name"),
                       text(rows, i, "locked_by"),
                       text(rows, i, "stamp"),
                       m_dialect->moment(rows, i, "since"),
                       m_dialect->moment(rows, i, "ends")};
        const auto inUtc = m_dialect->moment(rows, i, "ends_in_utc");
        if (row.ends && inUtc && std::chrono::abs(*row.ends - *inUtc) > 1s) {
            row.since.reset();
            row.ends.reset();
            row.isZoneUnclear = true;
        }
        m_rows.push_back(std::move(row));
    }
}

} // namespace lockscope::inspect
