// SPDX-License-Identifier: Apache-2.0
#include "core/world/mariadb/leasedrows.h"

namespace lockscope::world {

using Kind = SqlStatement::Kind;
using std::chrono::milliseconds;

namespace {

SqlAnswer changed(bool isOne)
{
    SqlAnswer answer;
    answer.rows.affected = isOne ? 1 : 0;
    return answer;
}

} // namespace

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

} // namespace lockscope::world
