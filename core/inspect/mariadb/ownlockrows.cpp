// SPDX-License-Identifier: Apache-2.0
// What MariaDB and MySQL are asked for rows that are locks.
#include "core/inspect/mariadb/lockrows.h"
#include "core/inspect/mariadb/readerrows.h"
#include "core/mariadb/freshness.h"

namespace lockscope::inspect {

namespace {

QByteArray ownText(const QByteArray &column)
{
    return "CAST(" + column + " AS CHAR)";
}

const QByteArray ownNumber = " REGEXP '^[0-9]{1,12}([.][0-9]{1,9}|)$'";

// By the server's wall clock, or by UTC's, to the moment.
QByteArray ownTime(const QByteArray &column, recipes::RowTime time, bool, bool isInUtc)
{
    using recipes::RowTime;
    if (time == RowTime::Epoch)
        return "CASE WHEN " + ownText(column) + ownNumber + " THEN " + column + " + 0 END";
    const bool isUtc = time == RowTime::Utc || (isInUtc && time == RowTime::Unclear);
    return "UNIX_TIMESTAMP(NOW(3)) + TIMESTAMPDIFF(MICROSECOND, "
           + QByteArray(isUtc ? "UTC_TIMESTAMP(3), " : "NOW(3), ") + column + ") / 1000000";
}

// What is no date has no difference to one.
QByteArray ownIsAhead(const QByteArray &column, recipes::RowTime time, bool)
{
    if (time == recipes::RowTime::Epoch)
        return "CASE WHEN " + ownText(column) + ownNumber + " THEN " + column
               + " > UNIX_TIMESTAMP(NOW(3)) ELSE 1 END";
    return "(TIMESTAMPDIFF(SECOND, " + column + ", NOW()) IS NULL OR " + column
           + " > LEAST(NOW(3), UTC_TIMESTAMP(3)))";
}

} // namespace

const LockRowDialect &ownLockRows()
{
    static const LockRowDialect dialect{
        .whichTables = mariadb::sqlText("mariadb-lock-tables"),
        .whichColumns = mariadb::sqlText("mariadb-columns"),
        .from = "FROM ",
        .quoted = mariadb::quotedName,
        .asText = ownText,
        .isTrue = [](const QByteArray &column) { return column + " = 1"; },
        .timeOf = ownTime,
        .isAhead = ownIsAhead,
        // What was rolled back is not to be told: so not as uncommitted reads are.
        .beforeRows = mariadb::committedNext,
        .moment = moment,
        .isRefusal = isRefusal,
        .readErrorText = [](const Error &error) { return error.message; },
    };
    return dialect;
}

} // namespace lockscope::inspect
