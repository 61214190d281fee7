// SPDX-License-Identifier: Apache-2.0
// What MariaDB and MySQL are asked for rows that are locks.
#include "core/inspect/mariadb/lockrows.h"
#include "core/inspect/mariadb/readerrows.h"
#include "core/mariadb/freshness.h"

namespace lockscope::inspect {

namespace {

// No views: to read one may run what its owner wrote, as us. No table is opened for this.
const QByteArray ownWhichTables =
    "SELECT TABLE_SCHEMA AS table_schema, TABLE_NAME AS name, 1 AS is_readable FROM information_schema.TABLES "
    "WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema') "
    "AND (LOWER(TABLE_NAME) LIKE '%lock%' OR LOWER(TABLE_NAME) LIKE '%mutex%' OR LOWER(TABLE_NAME) LIKE '%semaphore%') "
    "ORDER BY LOWER(TABLE_NAME) IN ('databasechangeloglock', 'shedlock') DESC, 1, 2 LIMIT 100";
const QByteArray ownWhichColumns = "SELECT LOWER(COLUMN_NAME) AS name FROM information_schema.COLUMNS "
                                   "WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?";

QByteArray quoted(QByteArray name)
{
    name.replace("`", "``");
    return '`' + name + '`';
}

// LOCKGRANTED is a time of the server's zone. ShedLock's are of UTC where it takes the database's time, of its own
// zone else: both are read, and count where they are one.
QByteArray ownRowsOf(const LockRowTable &one)
{
    const auto table = quoted(one.schema) + '.' + quoted(one.name);
    const auto limit = " LIMIT " + QByteArray::number(mostLockRows);
    if (one.kind == SqlLockRow::Kind::Liquibase)
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

const LockRowDialect &ownLockRows()
{
    static const LockRowDialect dialect{
        .whichTables = ownWhichTables,
        .whichColumns = ownWhichColumns,
        .rowsOf = ownRowsOf,
        // What was rolled back is not to be told: so not as uncommitted reads are.
        .beforeRows = mariadb::committedNext,
        .moment = moment,
        .isRefusal = isRefusal,
        .readErrorText = [](const Error &error) { return error.message; },
    };
    return dialect;
}

} // namespace lockscope::inspect
