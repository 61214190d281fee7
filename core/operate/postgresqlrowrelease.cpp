// SPDX-License-Identifier: Apache-2.0
#include "core/operate/postgresqlrowrelease.h"

#include "core/postgresql/literals.h"

namespace lockscope::operate {

using inspect::SqlLockRow;

// Its usual collations compare bytes; a column's own may not.
QByteArray freeingPgText(const SqlLockRow &row)
{
    const auto table = postgresql::quotedName(row.schema) + '.' + postgresql::quotedName(row.table);
    if (row.kind == SqlLockRow::Kind::Liquibase)
        return "UPDATE ONLY " + table
               + " SET locked = FALSE, lockgranted = NULL, lockedby = NULL WHERE id = 1 AND locked AND "
                 "lockedby COLLATE \"C\" = ? AND lockgranted::text = ?";
    return "UPDATE ONLY " + table
           + " SET lock_until = locked_at WHERE name COLLATE \"C\" = ? AND lock_until > locked_at AND "
             "locked_by COLLATE \"C\" = ? AND locked_at::text = ?";
}

} // namespace lockscope::operate
