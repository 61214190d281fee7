// SPDX-License-Identifier: Apache-2.0
// What one look at a MariaDB or MySQL server said, as plain values, and the pure functions that make snapshots
// of it.
#pragma once

#include "core/inspect/snapshot.h"

#include <map>

namespace lockscope::inspect {

// A transaction of INNODB_TRX.
struct SqlTransaction {
    QByteArray id; // MariaDB gives a number only to who locks for writing: all others are "0"
    quint64 connection = 0;
    std::optional<ServerTime> started;
    std::optional<ServerTime> waitStarted;
    qint64 rowsLocked = 0;
    qint64 rowsModified = 0;
};

// One pair of INNODB_LOCK_WAITS (data_lock_waits): who asks for which record, and who is in the way. Earlier
// waiters are in the way of later ones, too.
struct SqlLockWait {
    QByteArray requesting, blocking;        // transactions
    QByteArray table;                       // "`shop`.`stock`"
    QByteArray index;                       // "PRIMARY"; empty for a lock on the table
    QByteArray data;                        // "1", "'abc', 7", "supremum pseudo-record"; empty when not known
    QByteArray requestedMode, blockingMode; // "X", "S", "X,REC_NOT_GAP"
};

struct SqlNamedLock {
    QByteArray name;
    quint64 connection = 0;
    bool isGranted = false;
};

// A row of PROCESSLIST.
struct SqlProcess {
    quint64 connection = 0;
    QByteArray user, host, state, statement;
    bool isIdle = false;                  // COMMAND is Sleep
    std::chrono::milliseconds inState{0}; // how long it has run or slept
    QByteArray program{};                 // program_name of its connection, where no other process has that
    std::optional<qint64> pid{};
};

// What a connection said of itself when it was made (session_connect_attrs).
struct SqlAttributes {
    QByteArray program;
    std::optional<qint64> pid;
};
// To each process its own. A name that several processes have is nobody's: by their hosts and pids they are several.
void addAttributes(std::vector<SqlProcess> &processes, const std::map<quint64, SqlAttributes> &attributes);

// The columns of an index, by table as in SqlLockWait and index.
using IndexColumns = std::map<std::pair<QByteArray, QByteArray>, QByteArrayList>;

struct SqlLook {
    ServerTime now{};
    std::chrono::milliseconds ahead{}; // the server's clock minus ours
    std::vector<SqlTransaction> transactions;
    std::vector<SqlLockWait> waits;
    std::vector<SqlNamedLock> namedLocks;
    std::vector<SqlProcess> processes;
    IndexColumns columns;
    std::optional<ServerTime> serverStarted;
    // Rows are told from a copy of the server's, see core/mariadb/freshness.h. Not: it is from before this look,
    // and from after `rowsAsOf` where that is known.
    bool rowsAreFresh = true;
    std::optional<ServerTime> rowsAsOf;
    // Without PROCESS a server tells only of the asker's own connections.
    bool seesAllProcesses = true;
};

// A contender's id: the connection's number, which a server that was started anew uses again, and a moment that makes
// it one of its kind, in ms since 1970. For a row lock that is the start of the transaction. The server tells it in
// whole seconds, so the last three digits are those of the transaction's number: two of one connection and one second
// are two ids. (A thousand transactions apart they would be one; that second has to be still running, then.)
[[nodiscard]] QByteArray rowContenderId(quint64 connection, const QByteArray &transaction, ServerTime started);
// For a named lock it is the start of the server, which is all that a server tells of since when a connection is
// there: while it runs it uses no number twice.
[[nodiscard]] QByteArray namedContenderId(quint64 connection, ServerTime serverStarted);

// "shop.stock#id=1", as acquire takes it. What cannot be named by columns is named by the index.
[[nodiscard]] QByteArray rowLockName(const SqlLockWait &wait, const IndexColumns &columns);
// Every row lock somebody waits for, and every named lock.
[[nodiscard]] std::vector<LockSnapshot> snapshotsOf(const SqlLook &look, const ConnectionName &connection);
// Who has a transaction, or is in one of the snapshots.
[[nodiscard]] std::vector<SessionSnapshot> sessionsOf(const SqlLook &look, const std::vector<LockSnapshot> &snapshots,
                                                      const ConnectionName &connection);
// The name in a waiting GET_LOCK('name', …), for servers that tell only who waits, not for what.
[[nodiscard]] std::optional<QByteArray> namedLockIn(const QByteArray &statement);

} // namespace lockscope::inspect
