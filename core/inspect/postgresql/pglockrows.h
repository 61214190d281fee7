// SPDX-License-Identifier: Apache-2.0
// Rows that are locks by what stands in them: Liquibase's databasechangeloglock and ShedLock's table. Found in the
// connection's database by the names of their tables and by their columns.
#pragma once

#include "core/async/task.h"
#include "core/inspect/postgresql/look.h"
#include "core/mariadb/session.h"

#include <functional>

namespace lockscope::inspect {

// Tables are looked for seldom, their rows are read each second; else what was read last is told again. What waits
// for a table is ended by the session's lock_timeout.
class PgLockRows {
public:
    using Send = std::function<Reply<mariadb::Rows>(const QByteArray &text, Deadline)>;

    void forget() { *this = PgLockRows(); }
    // The next read is of now.
    void readAnew() { m_read.reset(); }
    // What cannot be read is said in gaps().
    Task<Result<void>> read(PgLook *look, Send send, Loop *loop, Deadline deadline);
    [[nodiscard]] const QStringList &gaps() const { return m_gaps; }

private:
    struct Table {
        QByteArray schema, name;
        SqlLockRow::Kind kind{};
        bool isZoned = false; // its times say their zone
    };

    Task<Result<void>> findTables(Send send, Deadline deadline);
    Task<Result<void>> readTable(Send send, Table table, Deadline deadline);
    void take(const Table &table, const mariadb::Rows &rows);

    std::vector<Table> m_tables;
    std::vector<SqlLockRow> m_rows;
    QStringList m_gaps;
    std::optional<Instant> m_looked, m_read;
};

} // namespace lockscope::inspect
