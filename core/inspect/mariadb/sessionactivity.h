// SPDX-License-Identifier: Apache-2.0
// What one connection of a server is doing: the statement it runs or ran last, its transaction. Read on demand.
#pragma once

#include "core/async/task.h"
#include "core/mariadb/session.h"

namespace lockscope::inspect {

struct SessionActivity {
    QByteArray statement; // that it runs, or ran last; empty where that is not known
    bool isRunning = false;
    QByteArray state;
    std::optional<std::chrono::milliseconds> inState;
    std::optional<std::chrono::milliseconds> transactionAge;
    qint64 rowsLocked = 0;
    qint64 rowsModified = 0;
    QStringList gaps; // what cannot be read, and why
};

// NoNode if there is no such connection. `session`, behind the gate, must outlive the task.
[[nodiscard]] Task<Result<SessionActivity>> readSqlDoing(mariadb::Session *session, quint64 connection,
                                                         Deadline deadline);

} // namespace lockscope::inspect
