// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/mariadb/rowname.h"

#include "core/base/text.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

const QByteArray namedLockPrefix("GET_LOCK#");

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

Result<RowName> readRowName(const QByteArray &lock)
{
    RowName row;
    QByteArray rest = lock;
    row.schema = takeIdentifier(rest, '.');
    row.table = takeIdentifier(rest, '#');
    row.column = takeIdentifier(rest, '=');
    row.value = rest;
    const bool isComplete = !row.schema.isEmpty() && !row.table.isEmpty() && !row.column.isEmpty();
    if (!isComplete || lock.contains('\0'))
        return Error{
            ErrorCode::BadInput,
            u"\"%1\" names no row; write SCHEMA.TABLE#COLUMN=VALUE, for example shop.stock#id=1"_s.arg(label(lock))};
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
