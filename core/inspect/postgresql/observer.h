// SPDX-License-Identifier: Apache-2.0
// One PostgreSQL's observer.
#pragma once

#include "core/async/task.h"
#include "core/async/completion.h"
#include "core/async/turns.h"
#include "core/inspect/mariadb/deadlocks.h"
#include "core/inspect/mariadb/lockrows.h"
#include "core/inspect/mariadb/sqlobserver.h"
#include "core/inspect/postgresql/pgpoll.h"

#include <set>

namespace lockscope::inspect {

// Asks one PostgreSQL for a look: one statement for locks and sessions, so that they are of one moment. What nobody
// waits for, and is no advisory lock, is not asked for. Loop thread only.

// What a PostgreSQL is asked for rows that are locks (core/inspect/mariadb/lockrows.h), those of the connection's
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
