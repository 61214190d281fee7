// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/mariadb/rowname.h"

#include "core/base/identifiers.h"
#include "core/base/text.h"

#include <algorithm>
#include <utility>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

const QByteArray namedLockPrefix("GET_LOCK#"), leasedRowPrefix("SHEDLOCK#");

// Takes an identifier off the front, with or without backticks, and the `end` that follows it. Empty if
// there is none.
QByteArray takeIdentifier(QByteArray &rest, char end)
{
    QByteArray name;
    qsizetype at = 0;
    if (rest.startsWith('`')) {
        for (at = 1; at < rest.size(); ++at) {
            if (rest[at] == '`' && (at + 1 >= rest.size() || rest[at + 1] != '`'))
                break;
            if (rest[at] == '`')
                ++at; // doubled: one that belongs to the name
            name += rest[at];
        }
        ++at;
    } else {
        at = rest.indexOf(end);
        name = rest.left(at < 0 ? 0 : at);
    }
    if (at < 0 || at >= rest.size() || rest[at] != end)
        return {};
    rest.remove(0, at + 1);
    return name;
}

// Takes a value off the front, and the next column that follows it, if one does.
bool takeValue(QByteArray &rest, QByteArrayList &values, QByteArray &column)
{
    if (rest.startsWith('`')) {
        rest += ','; // what it ends with where nothing follows
        const auto before = rest;
        values << takeIdentifier(rest, ',');
        if (rest.isEmpty())
            return before != rest;
        rest.chop(1);
        column = takeIdentifier(rest, '=');
        return !column.isEmpty();
    }
    for (auto comma = rest.indexOf(','); comma >= 0; comma = rest.indexOf(',', comma + 1)) {
        auto after = rest.mid(comma + 1);
        const bool isQuoted = after.startsWith('`');
        column = takeIdentifier(after, '=');
        if (isQuoted ? column.isEmpty() : !isSqlWord(column))
            continue;
        values << rest.left(comma);
        rest = after;
        return true;
    }
    column.clear();
    values << std::exchange(rest, QByteArray());
    return true;
}

} // namespace

QByteArray quotedIdentifier(const QByteArray &name)
{
    QByteArray quoted = name;
    quoted.replace("`", "``");
    return '`' + quoted + '`';
}

QByteArray RowName::quotedTable() const
{
    return quotedIdentifier(schema) + '.' + quotedIdentifier(table);
}

QByteArray LeasedRowName::quotedTable() const
{
    return quotedIdentifier(schema) + '.' + quotedIdentifier(table);
}

QByteArray RowName::condition() const
{
    QByteArrayList parts;
    for (const auto &column : columns)
        parts << quotedIdentifier(column) + " = ?";
    return parts.join(" AND ");
}

Result<RowName> readRowName(const QByteArray &lock)
{
    if (lock.startsWith("before "))
        return Error{ErrorCode::BadInput, u"\"%1\" is a gap between rows, and cannot be acquired: there is no row to "
                                          u"lock"_s.arg(label(lock))};
    RowName row;
    QByteArray rest = lock;
    row.schema = takeIdentifier(rest, '.');
    row.table = takeIdentifier(rest, '#');
    auto column = takeIdentifier(rest, '=');
    bool isComplete = !row.schema.isEmpty() && !row.table.isEmpty() && !column.isEmpty();
    while (isComplete && !column.isEmpty()) {
        row.columns << std::exchange(column, QByteArray());
        isComplete = takeValue(rest, row.values, column);
    }
    if (!isComplete || lock.contains('\0'))
        return Error{
            ErrorCode::BadInput,
            u"\"%1\" names no row; write SCHEMA.TABLE#COLUMN=VALUE[,COLUMN=VALUE…], for example shop.stock#id=1"_s
                .arg(label(lock))};
    return row;
}

Result<LeasedRowName> readLeasedRowName(const QByteArray &lock)
{
    LeasedRowName row;
    QByteArray rest = lock.mid(leasedRowPrefix.size());
    row.schema = takeIdentifier(rest, '.');
    row.table = takeIdentifier(rest, '#');
    row.name = rest;
    if (!lock.startsWith(leasedRowPrefix) || row.schema.isEmpty() || row.table.isEmpty() || row.name.isEmpty()
        || lock.contains('\0'))
        return Error{ErrorCode::BadInput, u"\"%1\" names no such row; write SHEDLOCK#SCHEMA.TABLE#NAME, for example "
                                          u"SHEDLOCK#shop.shedlock#nightly"_s.arg(label(lock))};
    return row;
}

Result<QByteArray> readNamedLock(const QByteArray &lock)
{
    const auto name = lock.mid(namedLockPrefix.size());
    if (!lock.startsWith(namedLockPrefix) || name.isEmpty())
        return Error{
            ErrorCode::BadInput,
            u"\"%1\" is no named lock; write GET_LOCK#NAME, for example GET_LOCK#nightly-report"_s.arg(label(lock))};
    return name;
}

} // namespace lockscope::recipes
