// SPDX-License-Identifier: Apache-2.0
// Deadlocks that an SQL server ended itself: its counter says that there was one, and InnoDB's log has the last.
#pragma once

#include "core/inspect/mariadb/poll.h"

namespace lockscope::inspect {

// A transaction of InnoDB's log of the last deadlock that the server ended, as it is printed there.
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

// The deadlocks of the last 10 minutes, and how many the server has counted.
class EndedDeadlocks {
public:
    // The counter may be of another server.
    void forgetCount() { m_counted.reset(); }
    // How many more than at the last call. None: nothing to compare with, because it is the first or has fallen.
    [[nodiscard]] std::optional<qint64> risen(const std::optional<qint64> &counted);
    void add(EndedDeadlock deadlock);
    void expire(ServerTime now);
    [[nodiscard]] const std::vector<EndedDeadlock> &all() const { return m_all; }

private:
    std::optional<qint64> m_counted;
    std::vector<EndedDeadlock> m_all;
};

// Reads those of MariaDB and MySQL. Loop thread only.
class SqlDeadlocks {
public:
    // After each look, by its counter. What `sending` needs outlives the task.
    Task<Result<void>> read(SqlSend sending, const SqlPoll *look, Deadline deadline);
    // The next look may be at another server.
    void forgetCount() { m_ended.forgetCount(); }
    [[nodiscard]] const std::vector<EndedDeadlock> &all() const { return m_ended.all(); }

private:
    Task<std::vector<EndedDeadlock::Party>> namedParties(const SqlSend *sending, const DeadlockLog *log,
                                                         Deadline deadline);

    EndedDeadlocks m_ended;
    QByteArray m_section;        // the server's log of the last one, as it was read
    qint64 m_unlogged = 0;       // counted, and not yet in m_ended
    bool m_isLogAwaited = false; // the counter has risen, and the log was still the one before
};

} // namespace lockscope::inspect
