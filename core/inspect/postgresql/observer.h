// SPDX-License-Identifier: Apache-2.0
// One PostgreSQL's observer.
#pragma once

#include "core/inspect/mariadb/observer.h"

#include <set>

namespace lockscope::inspect {

// What one look at a PostgreSQL said, as plain values, and the pure functions that make snapshots of it.

// Microseconds since 1970 by the server's clock, as it keeps them.
using PgMoment = qint64;

// A row of pg_stat_activity.
struct PgSession {
    quint64 pid = 0;
    QByteArray user, database, application, kind, state, statement;
    QByteArray endpoint;                      // "10.0.3.7:56332"; empty for one of the server's own machine
    std::optional<PgMoment> backendStart;     // not told of others' without pg_read_all_stats
    std::optional<PgMoment> transactionStart; // none: it is in no transaction
    std::optional<PgMoment> stateSince;
    QByteArray waitsFor{}; // wait_event_type: "Lock", "Client" …; empty: it runs, or the server does not report it
    friend bool operator==(const PgSession &, const PgSession &) = default;
};

// A row of pg_locks. What is no field of its type is empty.
struct PgLock {
    QByteArray type; // "advisory", "transactionid", "tuple", "relation" …
    QByteArray database, databaseName;
    QByteArray relation, relationName; // its number; "`public`.`stock`", where the connection's database has it
    QByteArray page, tuple, virtualTransaction, transaction, classId, objectId, objectSubId;
    QByteArray owner; // the virtual transaction that has it or asks; of a prepared one that of its session
    quint64 pid = 0;  // 0: a prepared transaction
    QByteArray mode;  // "ExclusiveLock"
    bool isGranted = false;
    std::optional<PgMoment> waitStart; // since PostgreSQL 14
    std::vector<quint64> blockedBy{};  // pg_blocking_pids; 0 stands for a prepared transaction
    friend bool operator==(const PgLock &, const PgLock &) = default;
};

// A row of pg_prepared_xacts: who holds without a session.
struct PgPrepared {
    QByteArray transaction, name, user;
    PgMoment prepared = 0;
    QByteArray database{}; // where it is to be ended
};

// By relation, page and tuple: the row's key, as column names and values.
struct PgRowKey {
    QByteArrayList columns, values;
};
using PgRowKeys = std::map<std::tuple<QByteArray, QByteArray, QByteArray>, PgRowKey>;
// By the same: the transactions that share the row, where it is not one that has it alone.
using PgSharers = std::map<std::tuple<QByteArray, QByteArray, QByteArray>, QByteArrayList>;

// Left by a CREATE INDEX, REINDEX or DROP INDEX CONCURRENTLY that was ended.
struct PgInvalidIndex {
    QByteArray relationName; // as PgLock has it
    QByteArray table;        // "public.stock"
};

struct PgPoll {
    ServerTime now{};
    std::chrono::milliseconds ahead{}; // the server's clock minus ours
    QByteArray database;               // the number of the connection's own
    std::vector<PgSession> sessions;
    std::vector<PgLock> locks;
    std::vector<PgPrepared> prepared;
    PgRowKeys rowKeys;
    PgSharers sharers;
    std::vector<PgInvalidIndex> invalidIndexes; // of this database, that no backend builds
    std::vector<SqlLockRow> lockRows;
    // From where clients are connected, asked only while such a row is locked. None: not told of all.
    std::optional<SqlConnections> clientConnections{};
    // Why keys of rows that somebody waits for, or who shares them, could not be read; empty: they were.
    QString keysUnread, sharersUnread;
    std::optional<qint64> deadlocks{}; // of this database that the server has ended, as far as it has counted
    bool seesOthers = true;            // what others do is told, too
    // Only while somebody waits: what a session begins with. What it has set since is not told.
    std::vector<WaitLimit> usualLimits;
};

[[nodiscard]] constexpr ServerTime timeOf(PgMoment moment)
{
    return ServerTime(std::chrono::milliseconds(moment / 1000));
}

[[nodiscard]] SqlWork workOf(const PgSession &who);
// A contender's id: the backend's number, which comes again, and the start of its transaction (rows, tables) or of
// the backend (advisory locks, which may outlive a transaction), in microseconds, which do not.
[[nodiscard]] QByteArray backendContenderId(quint64 pid, PgMoment started);
// Whether who has `held` is in the way of who asks for `asked`: the table of PostgreSQL's lock modes.
[[nodiscard]] bool conflicts(const QByteArray &held, const QByteArray &asked);
// Every advisory lock, every other that somebody waits for, and rows that say that they are locks.
[[nodiscard]] std::vector<LockSnapshot> snapshotsOf(const PgPoll &look, const ConnectionName &connection);
// Sessions that wait for a lock which no snapshot shows: how many, in one line; empty: none.
[[nodiscard]] std::vector<Unexplained> unexplainedPgWaits(const PgPoll &look,
                                                          const std::vector<LockSnapshot> &snapshots);
// Who is in a transaction, or in one of the snapshots.
[[nodiscard]] std::vector<SessionSnapshot> sessionsOf(const PgPoll &look, const std::vector<LockSnapshot> &snapshots,
                                                      const ConnectionName &connection);

// Advisory locks by their names: "ADVISORY#42" for one key of 64 bits, "ADVISORY#7,42" for two of 32; of another
// database than the connection's "ADVISORY@other#42".

// As pg_locks has it: classid, objid, and in objsubid which of the two kinds it is (1 or 2).
struct AdvisoryKey {
    quint32 classId = 0;
    quint32 objectId = 0;
    int kind = 1;
    friend bool operator==(const AdvisoryKey &, const AdvisoryKey &) = default;
};
// `database`: empty for the connection's own.
[[nodiscard]] QByteArray advisoryName(const AdvisoryKey &key, const QByteArray &database);
// Whose lock a key is, where an application is known to make it so: Rails' migrations, Flyway.
[[nodiscard]] std::optional<QString> knownAdvisory(const AdvisoryKey &key, const QByteArray &database);

// Asks one PostgreSQL for a look: one statement for locks and sessions, so that they are of one moment. What nobody
// waits for, and is no advisory lock, is not asked for. Loop thread only.

// What a PostgreSQL is asked for rows that are locks (core/inspect/mariadb/reader.h), those of the connection's
// database. What waits for a table is ended by the session's lock_timeout.
[[nodiscard]] const LockRowDialect &pgLockRows();

class PgReader {
public:
    // `session` outlives the reader and its tasks.
    explicit PgReader(mariadb::Session &session) : m_session(session) {}

    Task<Result<PgPoll>> look(Deadline deadline); // one after the other
    // The next look reads the rows that are locks by what stands in them as they are then.
    void readLockRowsAnew() { m_lockRows.readAnew(); }
    [[nodiscard]] std::vector<Unexplained> lockTablesNotRead() const { return m_lockRows.unexplained(); }
    [[nodiscard]] const QStringList &lockRowsNotRead() const { return m_lockRows.rowsNotRead(); }
    [[nodiscard]] const std::vector<EndedDeadlock> &endedDeadlocks() const { return m_deadlocks.all(); }
    // What the last look could not see.
    [[nodiscard]] const QStringList &gaps() const { return m_gaps; }
    [[nodiscard]] bool hasLooked() const { return m_hasLooked; }
    [[nodiscard]] qint64 requests() const { return m_requests; }

private:
    Task<Result<PgPoll>> ask(Deadline deadline);
    Task<Result<void>> readLockRows(PgPoll *look, Deadline deadline);
    Task<Result<void>> readPrepared(PgPoll *look, Deadline deadline);
    Task<Result<void>> readLimits(PgPoll *look, Deadline deadline);
    Task<Result<void>> readRowKeys(PgPoll *look, Deadline deadline);
    Task<Result<PgRowKey>> readRowKey(PgLock tuple, Deadline deadline);
    Task<Result<void>> readSharers(PgPoll *look, Deadline deadline);
    Task<Result<QByteArrayList>> sharersOf(PgLock tuple, QByteArray waitedFor, Deadline deadline);
    Task<Result<QByteArray>> tableName(QByteArray relation, Deadline deadline);
    Task<Result<QByteArrayList>> readKeyColumns(QByteArray relation, Deadline deadline);
    [[nodiscard]] Reply<mariadb::Rows> send(const QByteArray &text, Deadline deadline,
                                            const QByteArrayList &parameters = {});
    void sendAhead(const QByteArray &text, Deadline deadline, const QByteArrayList &parameters = {});
    void sendDetails(const PgPoll &look, Deadline deadline);

    mariadb::Session &m_session;
    std::map<QByteArray, Reply<mariadb::Rows>> m_ahead; // by text
    std::map<QByteArray, QByteArray> m_tableNames;      // by relation, in this look
    const std::shared_ptr<Turns> m_turns = std::make_shared<Turns>();
    mariadb::ConnectionId m_knownFor = 0;
    // Of a row that somebody waits for, and by whom it was known that it is still that row (see readRowKeys).
    struct KnownKey {
        PgRowKey key;
        std::set<QByteArray> waiters;
    };
    std::map<PgRowKeys::key_type, KnownKey> m_rowKeys;
    bool m_isReconnected = false;
    SqlLockRows m_lockRows{pgLockRows()};
    EndedDeadlocks m_deadlocks;
    QStringList m_gaps;
    qint64 m_requests = 0;
    bool m_hasLooked = false;
};

// What the files of the reader share: moments, and what a server may refuse.
inline std::optional<PgMoment> pgMoment(const mariadb::Rows &rows, std::size_t row, const char *column)
{
    const auto cell = rows.cell(row, column);
    return cell ? std::optional<PgMoment>(cell->toLongLong()) : std::nullopt;
}

// The server has an opinion: what the connection is suffering from is nobody's gap.
inline bool isPgRefusal(const Error &error)
{
    return isRefusal(error) || error.code == ErrorCode::TimedOut;
}

inline QString readErrorText(const Error &error)
{
    return error.code == ErrorCode::TimedOut ? QStringLiteral(
               "another session has all of the table, or waits to have it (ALTER TABLE, LOCK TABLE …)")
                                             : error.message;
}

class PostgreSqlObserver final : public SqlObserver {
public:
    PostgreSqlObserver(mariadb::Session &session, ConnectionName name, ObserverOptions options, ObserverSink &sink)
        : SqlObserver(session, std::move(name), std::move(options), sink), m_reader(session)
    {
    }
    ~PostgreSqlObserver() override { stop(); }

    // The task must not outlive the observer.
    Task<Result<LockSnapshot>> readNow(QByteArray lock, Deadline deadline) override;

private:
    Task<Result<Seen>> look(Deadline deadline) override;
    [[nodiscard]] Looks looks() const override
    {
        return {m_reader.hasLooked(), m_reader.requests(), m_reader.gaps(), m_reader.lockTablesNotRead(),
                m_reader.endedDeadlocks()};
    }
    [[nodiscard]] QString coverageDescription() const override;

    PgReader m_reader;
};

// What the user of a connection may do on its PostgreSQL.

// A sentence each, by its memberships. `session` outlives the task.
[[nodiscard]] Task<QStringList> postgreSqlRights(mariadb::Session *session, Deadline deadline);

// The id under which snapshots show what one of our own connections holds.

// The session holds it now. Everybody is told of his own.
[[nodiscard]] Task<std::optional<QByteArray>> ownBackendId(mariadb::Session *session, QByteArray recipe,
                                                           Deadline deadline);

} // namespace lockscope::inspect
