// SPDX-License-Identifier: Apache-2.0
// What one look at a MariaDB or MySQL server said, as plain values, and the pure functions that make snapshots of it.
#pragma once

#include "core/base/text.h"
#include "core/inspect/snapshot.h"
#include "core/mariadb/session.h"
#include "core/rules/rowlayouts.h"

#include <tuple>

namespace lockscope::inspect {

// A transaction of INNODB_TRX.
struct SqlTransaction {
    QByteArray id;          // MariaDB gives a number only to who locks for writing: all others are "0"
    quint64 connection = 0; // 0: it has no session, as a prepared XA transaction whose client has gone
    std::optional<ServerTime> started;
    std::optional<ServerTime> waitStarted;
    qint64 rowsLocked = 0;
    qint64 rowsModified = 0;
    QByteArray state{};         // "RUNNING", "LOCK WAIT", "ROLLING BACK"
    QByteArray requestedLock{}; // that it waits for, as SqlLockWait::id
};

// One pair of INNODB_LOCK_WAITS (data_lock_waits): who asks for which record, and who is in the way. Earlier
// waiters are in the way of later ones, too.
struct SqlLockWait {
    QByteArray requesting, blocking;        // transactions
    QByteArray table;                       // "`shop`.`stock`"
    QByteArray index;                       // "PRIMARY"; empty for a lock on the table
    QByteArray data;                        // "1", "'abc', 7", "supremum pseudo-record"; empty when not known
    QByteArray requestedMode, blockingMode; // "X", "S", "X,GAP", "X,REC_NOT_GAP", "X,GAP,INSERT_INTENTION"
    QByteArray id{};             // of the lock that is waited for: "254:17:3:2", transaction:space:page:heap
    QByteArray blockingStatus{}; // "GRANTED" or "WAITING"; empty on MariaDB, which does not tell
};

// Whether the request is for the gap before a record. That is a lock of its own: the record may be another's.
[[nodiscard]] bool isForGap(const SqlLockWait &wait);

// A server tells what row a lock is of only where it has the row's page at once. It does not change while the lock is
// waited for, and is the same for all who wait for that place.
class RowDataCache {
public:
    // Fills in what is not told this time.
    void keep(std::vector<SqlLockWait> &waits);

private:
    std::map<QByteArray, QByteArray> m_data; // by the lock's id
};

struct SqlNamedLock {
    QByteArray name;
    quint64 connection = 0;
    bool isGranted = false;
    QByteArray hold{}; // of METADATA_LOCKS: each that is granted has another
};

// Of METADATA_LOCKS or METADATA_LOCK_INFO: one lock of a connection on the name of a table. What the server calls it
// is what it was asked for at first: LOCK TABLES and ALTER make more of it, which is not told.
// In the guard of who has a table outside of a transaction: the modes it had, separated by commas, come behind this.
inline const QByteArray tableModesPrefix = ", has it "; // prose: ok (read back from a guard)

struct SqlTableLock {
    QByteArray schema{}, table{};
    quint64 connection = 0;
    QByteArray mode{}; // "SHARED_READ", without a prefix; empty where only the waiter's state is known
    bool isGranted = false;
    bool isByStatement = false; // only its statement names the table
    QByteArray type = "TABLE";  // or "GLOBAL", "BACKUP", "COMMIT", "SCHEMA" … (OBJECT_TYPE)
};

// What such a lock is on: its type, and of what has a name also that.
struct SqlObject {
    QByteArray type, schema, name;
    friend bool operator==(const SqlObject &, const SqlObject &) = default;
    friend bool operator<(const SqlObject &a, const SqlObject &b)
    {
        return std::tie(a.type, a.schema, a.name) < std::tie(b.type, b.schema, b.name);
    }
};

// A row that is a lock by what stands in it.
struct SqlLockRow {
    const recipes::RowLayout *layout = nullptr;
    QByteArray schema{}, table{};
    QByteArrayList names{}; // what the columns of its name say, in their order
    QByteArray lockedBy{};  // what its holder wrote
    QByteArray flag{};
    QByteArray stamp{}; // since when, as it stands there: each hold has another one, or each renewal
    std::optional<ServerTime> since{}, ends{};
    bool isZoneUnclear = false; // its times are of UTC or of another zone, and nothing says of which
};

// How long a connection waits at most: for a row, for a table.
struct SqlWaitLimits {
    std::optional<std::chrono::seconds> row{}, table{};
};

// A row of PROCESSLIST.
struct SqlProcess {
    quint64 connection = 0;
    QByteArray user, host, state;
    QByteArray statement; // that it runs; of one that is idle its last, where that is known and others wait
    bool isIdle = false;  // COMMAND is Sleep
    std::chrono::milliseconds inState{0}; // how long it has run or slept
    QByteArray program{};                 // program_name of its connection, where no other process has that
    std::optional<qint64> pid{};
    QByteArray database{};       // that names without one mean
    QByteArray calledByClient{}; // its program_name, whoever else has that, too
};

// "connection 7 (billing, process 4711; root from 10.0.3.7:5531)": whose it is as it says, then as the server says.
[[nodiscard]] QString connectionInWords(const SqlProcess &process);

// What a connection said of itself when it was made (session_connect_attrs).
struct SqlAttributes {
    QByteArray program;
    std::optional<qint64> pid;
};
// To each process its own. A name that several processes have is nobody's: by their hosts and pids they are several.
void addAttributes(std::vector<SqlProcess> &processes, const std::map<quint64, SqlAttributes> &attributes);

// The columns of an index, by table as in SqlLockWait and index.
using IndexColumns = std::map<std::pair<QByteArray, QByteArray>, QByteArrayList>;

// Whether performance_schema tells of metadata locks: "enabled" is 1.
inline const QByteArray metadataInstrument =
    QByteArrayLiteral("SELECT COUNT(*) AS enabled FROM performance_schema.setup_instruments "
                      "WHERE NAME = 'wait/lock/metadata/sql/mdl' AND ENABLED = 'YES' AND @@performance_schema = 1");

// Of a lock in metadata_locks m: where the server keeps it, and at which of its connection's statements it was taken.
// MariaDB counts those only where it keeps them (events_statements_current), and gives no place twice (10.11); MySQL
// counts them, and gives places again.
inline const QByteArray metadataHold = QByteArrayLiteral("CONCAT(m.OBJECT_INSTANCE_BEGIN, ':', m.OWNER_EVENT_ID)");

// Connections from one host.
struct SqlHostConnections {
    int count = 0;
    std::optional<int> inTransaction{}; // none: not told
    std::optional<ServerTime> oldest{}; // since when the oldest of them is open; none: not told
};
// By the host as plainHost() writes it; empty or "localhost" for the server's own machine.
using SqlConnections = std::map<QString, SqlHostConnections>;

struct SqlPoll {
    ServerTime now{};
    std::chrono::milliseconds ahead{}; // the server's clock minus ours
    // Names of prepared XA transactions, only where a transaction without a session is in the way. None: not told.
    std::optional<QByteArrayList> preparedXa{};
    std::vector<SqlTransaction> transactions;
    // Those that may only read and have locked no row: other observers' looks, too. In the way of ALTER, of no row.
    std::vector<SqlTransaction> readers;
    std::vector<SqlLockWait> waits;
    std::vector<SqlNamedLock> namedLocks;
    std::vector<SqlTableLock> tableLocks;
    std::vector<SqlLockRow> lockRows;
    bool tellsTableWaiters = false; // for which table somebody waits; else by statements only
    std::vector<SqlProcess> processes;
    quint64 ownConnection = 0; // which is among them
    IndexColumns columns;
    std::optional<ServerTime> serverStarted;
    // Rows are told from a copy of the server's, see core/mariadb/session.h. Not: it is from before this look,
    // and from after `rowsAsOf` where that is known.
    bool rowsAreFresh = true;
    std::optional<ServerTime> rowsAsOf;
    // Without PROCESS a server tells only of the asker's own connections.
    bool seesAllProcesses = true;
    // How many deadlocks the server has ended since its start. None: not told.
    std::optional<qint64> deadlocks{};
    // Only while somebody waits: what a connection begins with, and by connection what it has now, which MySQL tells.
    SqlWaitLimits usualLimits{};
    std::map<quint64, SqlWaitLimits> ownLimits{};
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
// "`shop`.`stock`" of what MariaDB writes as "`shop`.`stock` /* Partition `p0` */".
[[nodiscard]] QByteArray withoutPartition(const QByteArray &table);
// "before shop.stock#id=10" for a gap, which acquire does not take; else as above.
[[nodiscard]] QByteArray innoDbLockName(const SqlLockWait &wait, const IndexColumns &columns);
// "TABLE#shop.stock", "SCHEMA#shop", "SERVER#BACKUP" for what is of the whole server; and back.
[[nodiscard]] QByteArray tableLockName(const QByteArray &schema, const QByteArray &table);
[[nodiscard]] QByteArray objectLockName(const SqlObject &object);
[[nodiscard]] std::optional<SqlObject> objectOfLock(const QByteArray &name);
// "LIQUIBASE#shop.DATABASECHANGELOGLOCK", "SHEDLOCK#shop.shedlock#reports", "SPRING#shop.INT_LOCK#DEFAULT,0f3c…".
[[nodiscard]] QByteArray lockRowName(const SqlLockRow &row);
// Back: which row that is; nothing of what stands in it.
[[nodiscard]] std::optional<SqlLockRow> lockRowNamed(const QByteArray &name);
[[nodiscard]] bool isLockRowName(const QByteArray &name);
// The lock with its holder and what is known of its client; its recipe, place and moment are given.
[[nodiscard]] LockSnapshot lockOfRow(const SqlLockRow &row, LockSnapshot lock);
// Adds what the server's connections say of a holder that names an address.
void addHolderConnections(LockSnapshot &lock, const SqlConnections &connections);
// Every row lock somebody waits for, every named lock, and tables that are locked or waited for.
[[nodiscard]] std::vector<LockSnapshot> snapshotsOf(const SqlPoll &look, const ConnectionName &connection);
// Waits that the server reports and no snapshot shows: "2 connections wait in the state …", one for each state.
[[nodiscard]] std::vector<Unexplained> unexplainedWaits(const SqlPoll &look,
                                                        const std::vector<LockSnapshot> &snapshots);
// Those that are `open`, and those in one of the snapshots, in the order of their numbers. `describe` adds the rest.
[[nodiscard]] std::vector<SessionSnapshot> sqlSessions(
    const std::vector<quint64> &open, const std::vector<LockSnapshot> &snapshots, const ConnectionName &connection,
    const std::function<void(quint64, SessionSnapshot &)> &describe);
// Who has a transaction, or is in one of the snapshots.
[[nodiscard]] std::vector<SessionSnapshot> sessionsOf(const SqlPoll &look, const std::vector<LockSnapshot> &snapshots,
                                                      const ConnectionName &connection);
// The name in a waiting GET_LOCK('name', …), for servers that tell only who waits, not for what.
[[nodiscard]] std::optional<QByteArray> namedLockIn(const QByteArray &statement);
constexpr qsizetype longestStatement = 1000;
// A statement as it may be shown and copied: without comments, and '?' in place of each text, which may be a secret.
[[nodiscard]] QByteArray withoutTexts(const QByteArray &statement, BackendKind backend);
// Of a lock whose holder does nothing: adds to that finding if a waiter may be of the same client.
void noteOneClient(LockSnapshot &lock);
// Schema and table of a statement that needs the table for itself and names no other: ALTER, DROP, TRUNCATE, RENAME.
[[nodiscard]] std::optional<std::pair<QByteArray, QByteArray>> tableIn(const QByteArray &statement,
                                                                       const QByteArray &database);

// What the files of the reader share: cells as text, moments, and what a server may refuse.

// Of a reader: sends a question with its parameters, and counts it.
using SqlSend = std::function<Reply<mariadb::Rows>(const QByteArray &, Deadline, const QByteArrayList &)>;

inline QByteArray text(const mariadb::Rows &rows, std::size_t row, const QByteArray &column)
{
    return rows.cell(row, column).value_or(QByteArray());
}

// Seconds with or without a fraction.
inline std::optional<ServerTime> moment(const mariadb::Rows &rows, std::size_t row, const QByteArray &column)
{
    const auto cell = rows.cell(row, column);
    if (!cell)
        return std::nullopt;
    return ServerTime(millisecondsOf(cell->toDouble() * 1000));
}

// Of connections that may be in the way of others and run nothing. Nothing of it is a gap: a statement is not needed
// to know who holds what. Whether the server may be asked again.
[[nodiscard]] Task<Result<bool>> readLastStatements(SqlSend send, SqlPoll *look, Deadline deadline);

// What a person has to do is in the message; what the connection is suffering from is nobody's gap.
inline bool isRefusal(const Error &error)
{
    return error.code == ErrorCode::NoPermission || error.code == ErrorCode::Unsupported
           || error.code == ErrorCode::Server || error.code == ErrorCode::BadInput;
}

// In the places of the question marks, as text of the connection's character set, whatever it holds.
[[nodiscard]] QByteArray withValues(const QByteArray &query, const QByteArrayList &values);
[[nodiscard]] QByteArray processesQuestion(const mariadb::Features &features);

} // namespace lockscope::inspect
