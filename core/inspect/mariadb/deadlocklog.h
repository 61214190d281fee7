// SPDX-License-Identifier: Apache-2.0
// InnoDB's log of the last deadlock that the server ended.
#pragma once

#include "core/inspect/mariadb/poll.h"

namespace lockscope::inspect {

// A transaction of the log, as it is printed there.
struct LoggedParty {
    QByteArray transaction;
    quint64 connection = 0;
    QByteArray client;
    QByteArray statement;
    SqlLockWait wait;   // table, index, mode and place of the lock that it waited for
    QByteArrayList key; // fields of that record, as it keeps them
    bool isRolledBack = false;
};
struct DeadlockLog {
    std::chrono::seconds age{}; // when the log was printed
    std::vector<LoggedParty> parties;
};

// The section LATEST DETECTED DEADLOCK of SHOW ENGINE INNODB STATUS; empty: none, or more than one.
[[nodiscard]] QByteArray deadlockSectionOf(const QByteArray &status);
// Parses it in the layout of MariaDB (10.6 and newer) and MySQL 8. Statements of clients are in it as they are, and
// may imitate it. So each part has its place: whatever fits in two ways is not understood.
[[nodiscard]] std::optional<DeadlockLog> parseDeadlockLog(const QByteArray &status);

// The value of an index column as the server prints it; none: its type does not tell. `type`: COLUMN_TYPE.
[[nodiscard]] std::optional<QByteArray> valueOfField(const QByteArray &field, const QByteArray &type);

} // namespace lockscope::inspect
