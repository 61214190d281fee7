// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/mariadb/server.h"

namespace lockscope::sim {

using Kind = SqlStatement::Kind;

namespace {

const QByteArray codeColumn("code");

} // namespace

bool SqlTable::hasColumn(const SqlStatement &what) const
{
    const bool mayBeCode = what.kind == Kind::LockByText || what.kind == Kind::LockByNumber;
    return what.key == key || (mayBeCode && what.key == codeColumn);
}

bool SqlTable::isWanted(const SqlStatement &what, const QByteArrayList &parameters, const QByteArray &row)
{
    switch (what.kind) {
    case Kind::LockFrom: return row.toLongLong() >= what.number;
    case Kind::LockByText:
    case Kind::LockByNumber:
    case Kind::WriteRow: return row.toLongLong() == what.number;
    default: return row == parameters.front();
    }
}

std::vector<QByteArray> SqlTable::wanted(const SqlStatement &what, const QByteArrayList &parameters) const
{
    std::vector<QByteArray> rows;
    if (!what.isOfManyRows()) {
        if (versions.contains(parameters.front()))
            rows.push_back(parameters.front());
        return rows;
    }
    for (const auto &[row, version] : versions) {
        if (isWanted(what, parameters, row))
            rows.push_back(row);
    }
    return rows;
}

std::vector<QByteArray> SqlTable::lookedAt(const SqlStatement &what, const QByteArrayList &parameters) const
{
    auto rows = wanted(what, parameters);
    // An index of texts is of no use to find a number in: "2", "02" and "2.0" all are 2.
    const bool isNumberForText = what.kind == Kind::LockByNumber && what.key == codeColumn;
    if (isIndexed && !isNumberForText && (what.kind != Kind::LockFrom || readsByIndex(rows.size(), versions.size())))
        return rows;
    rows.clear();
    for (const auto &[row, version] : versions)
        rows.push_back(row);
    return rows;
}

using Kind = SqlStatement::Kind;
using std::chrono::milliseconds;

bool LeasedRows::isAbout(Kind kind)
{
    return kind == Kind::TakeLeasedRow || kind == Kind::MakeLeasedRow || kind == Kind::ExtendLeasedRow
           || kind == Kind::FreeLeasedRow || kind == Kind::IsLeasedRowMine;
}

milliseconds LeasedRows::now() const
{
    return std::chrono::floor<milliseconds>(m_world.now().time_since_epoch() + m_ahead);
}

// Null: it says somebody else, or its time is over.
LeasedRows::Row *LeasedRows::ownedBy(const RowId &row, const QByteArray &owner)
{
    const auto at = m_rows.find(row);
    return at != m_rows.end() && at->second.by == owner && at->second.until > now() ? &at->second : nullptr;
}

SqlAnswer LeasedRows::run(const SqlStatement &what, const QByteArrayList &parameters)
{
    if (!m_tables.contains(what.table))
        return error(1146, "Unknown table '" + what.table + '\'');
    const auto at = now();
    const auto later = [&](const QByteArray &microseconds) {
        return std::chrono::floor<milliseconds>(at + std::chrono::microseconds(microseconds.toLongLong()));
    };
    switch (what.kind) {
    case Kind::TakeLeasedRow: {
        const auto row = m_rows.find({what.table, parameters[2]});
        if (row == m_rows.end() || row->second.until > at)
            return changed(false);
        row->second = {later(parameters[0]), parameters[1]};
        return changed(true);
    }
    case Kind::MakeLeasedRow: return changed(m_rows.try_emplace({what.table, parameters[0]}, Row{at, {}}).second);
    case Kind::ExtendLeasedRow: {
        auto *row = ownedBy({what.table, parameters[1]}, parameters[2]);
        const bool isLater = row && row->until != later(parameters[0]);
        if (isLater)
            row->until = later(parameters[0]);
        return changed(isLater);
    }
    case Kind::FreeLeasedRow: {
        auto *row = ownedBy({what.table, parameters[0]}, parameters[1]);
        if (row)
            row->until = at;
        return changed(row);
    }
    default: {
        const bool isMine = ownedBy({what.table, parameters[0]}, parameters[1]);
        return cells({what.output}, {isMine ? "1" : "0"});
    }
    }
}

std::vector<LeasedRows::Seen> LeasedRows::rows() const
{
    std::vector<Seen> seen;
    const auto at = now();
    for (const auto &[id, row] : m_rows)
        seen.push_back({id, row.by, row.until > at ? std::optional<Duration>(row.until - at) : std::nullopt});
    return seen;
}

QByteArrayList LeasedRows::leftBehind() const
{
    QByteArrayList left;
    for (const auto &row : rows()) {
        if (row.left)
            left << "time left of " + row.id.table + '#' + row.id.value;
    }
    return left;
}

bool LeasedRows::end(const RowId &row)
{
    const auto at = m_rows.find(row);
    if (at == m_rows.end() || at->second.until <= now())
        return false;
    at->second.until = now();
    return true;
}

} // namespace lockscope::sim
