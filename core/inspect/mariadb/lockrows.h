// SPDX-License-Identifier: Apache-2.0
// Rows that are locks by what stands in them: Liquibase's DATABASECHANGELOGLOCK and ShedLock's table. Found by the
// names of their tables in the schemas that the credentials may see, and by their columns.
#pragma once

#include "core/async/task.h"
#include "core/inspect/mariadb/look.h"
#include "core/mariadb/session.h"

#include <functional>

namespace lockscope::inspect {

// Tables are looked for seldom, their rows are read each second; else what was read last is told again.
class SqlLockRows {
public:
    using Send = std::function<Reply<mariadb::Rows>(const QByteArray &text, Deadline, const QByteArrayList &)>;

    void forget();
    // The next read is of now.
    void readAnew() { m_read.reset(); }
    // What cannot be read is said in gaps().
    Task<Result<void>> read(SqlLook *look, Send send, Loop *loop, Deadline deadline);
    [[nodiscard]] const QStringList &gaps() const { return m_gaps; }

private:
    struct Table {
        QByteArray schema, name;
        SqlLockRow::Kind kind{};
    };

    Task<Result<void>> findTables(Send send, Deadline deadline);
    Task<Result<bool>> hasColumns(Send send, Table table, Deadline deadline);
    Task<Result<void>> readTable(Send send, Table table, Deadline deadline);

    std::vector<Table> m_tables;
    std::vector<SqlLockRow> m_rows;
    QStringList m_gaps;
    std::optional<Instant> m_looked, m_read;
};

} // namespace lockscope::inspect
