// SPDX-License-Identifier: Apache-2.0
// Whose locks these are, where the name alone says it beyond doubt. From the sources named in docs/layouts.md.
#include "core/base/identifiers.h"
#include "core/inspect/knownclients.h"
#include "core/inspect/mariadb/pollindex.h"

namespace lockscope::inspect {

namespace {

// "Flyway-" and Java's hash code of the table's name: an int.
bool isFlyways(const QByteArray &name)
{
    if (!name.startsWith("Flyway-"))
        return false;
    bool isNumber = false;
    const auto number = name.mid(7);
    const auto value = number.toInt(&isNumber);
    return isNumber && QByteArray::number(value) == number;
}

// Rails' salt times the CRC-32 of the database's name, in decimal. By chance one number in two thousand million is.
bool isRails(const QByteArray &name)
{
    constexpr quint64 salt = 2'053'462'845;
    bool isNumber = false;
    const auto value = name.toULongLong(&isNumber);
    return isNumber && value > 0 && QByteArray::number(value) == name && value % salt == 0
           && value / salt <= 0xffff'ffffULL;
}

} // namespace

void attributeNamedLock(LockSnapshot &lock, const QByteArray &name)
{
    if (isFlyways(name))
        attribute(lock, clients::flyway);
    else if (isRails(name))
        attribute(lock, clients::railsMigrations);
}

void attributeRow(LockSnapshot &lock, const SqlLockWait &wait, const IndexColumns &columns)
{
    static const QByteArrayList quartzKey{"SCHED_NAME", "LOCK_NAME"};
    const auto at = columns.find({wait.table, wait.index});
    if (at == columns.end() || !wait.table.toUpper().endsWith("LOCKS`"))
        return;
    QByteArrayList key;
    for (const auto &column : at->second)
        key << column.toUpper();
    if (key == quartzKey)
        attribute(lock, clients::quartz);
}

} // namespace lockscope::inspect
