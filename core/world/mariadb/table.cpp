// SPDX-License-Identifier: Apache-2.0
#include "core/world/mariadb/table.h"

#include "core/world/mariadb/optimiser.h"

namespace lockscope::world {

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

} // namespace lockscope::world
