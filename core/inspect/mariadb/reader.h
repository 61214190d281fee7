// SPDX-License-Identifier: Apache-2.0
// Asks one server for a look: which statements it understands, which privileges and instruments it lacks,
// and how often it may be asked. Loop thread only.
//
// Readers of one process take turns on one server, whatever they call it. Those of other programs cannot be asked to:
// a look that met an old copy (SqlPoll::rowsAreFresh) says so, and whoever follows should rest for restAfterLook().
#pragma once

#include "core/base/random.h"
#include "core/inspect/mariadb/deadlocks.h"
#include "core/inspect/mariadb/lockrows.h"

namespace lockscope::inspect {

class SqlReader : public SqlAsker {
public:
    // `session` outlives the reader and its tasks.
    explicit SqlReader(mariadb::Session &session)
        : SqlAsker(session), m_state(session.onState([this](mariadb::SessionState state) { forgetServer(state); }))
    {
    }

    // One look at a time, and never sooner than the server's copy of its locks is made anew: that happens
    // only when nobody has read it for 100 ms. What the server refuses is left out and said in gaps().
    // `also` is a named lock to ask for in any case.
    Task<Result<SqlPoll>> look(Deadline deadline, QByteArray also = {});
    // Until a look meets a new copy, or that time has passed: then the last look, with an old one.
    Task<Result<SqlPoll>> freshLook(Deadline deadline, QByteArray also = {});
    // The next look reads what stands in rows that are locks, however lately that was read.
    void readLockRowsAnew() { m_lockRows.readAnew(); }
    [[nodiscard]] std::vector<Unexplained> lockTablesNotRead() const { return m_lockRows.unexplained(); }
    [[nodiscard]] const QStringList &lockRowsNotRead() const { return m_lockRows.rowsNotRead(); }
    [[nodiscard]] const std::vector<EndedDeadlock> &endedDeadlocks() const { return m_deadlocks.all(); }
    [[nodiscard]] const QStringList &gaps() const { return m_gaps; }
    // Why the last look saw no row locks; empty: it did.
    [[nodiscard]] const QString &rowLocksGap() const { return m_rowLocksGap; }
    // Of the last look. How old at most, where that is known.
    [[nodiscard]] bool rowsAreFresh() const { return m_rowsAreFresh; }
    [[nodiscard]] QString ageOfRows() const;
    // At least `usual`; longer and at random after old copies in a row, so that others who do the same, and we, leave
    // the server the 100 ms that it wants.
    [[nodiscard]] Duration restAfterLook(Duration usual);
    [[nodiscard]] bool hasLooked() const { return m_hasLooked; }

private:
    struct Pace; // of all readers on one server
    enum class NamedLocks { NotAsked, PerformanceSchema, Plugin, WaitersOnly };

    struct NoRows {
        QString why;
        bool seesAllProcesses = false;
    };

    // A server that was started anew may give us the same number again.
    void forgetServer(mariadb::SessionState state)
    {
        m_knownFor = state == mariadb::SessionState::Connected ? m_knownFor : 0;
    }
    Task<Result<void>> meetServer(Deadline deadline);
    Task<Result<SqlPoll>> ask(Deadline deadline, QByteArray also);
    Task<Result<mariadb::Rows>> askForRows(QByteArray mark, Deadline deadline);
    Task<NoRows> missingRowsReason(Error error, Deadline deadline);
    Task<Result<NamedLocks>> findNamedLocks(Deadline deadline);
    Task<Result<void>> readRowLocks(SqlPoll *look, Deadline deadline);
    Task<Result<void>> readPreparedXa(SqlPoll *look, Deadline deadline);
    Task<Result<void>> readProcesses(SqlPoll *look, Deadline deadline);
    Task<Result<void>> readNamedLocks(SqlPoll *look, Deadline deadline, QByteArray also);
    Task<Result<void>> readTableLocks(SqlPoll *look, const mariadb::Rows *rows, Deadline deadline);
    void addTableWaiters(SqlPoll *look);
    Task<Result<void>> findBySpelling(SqlPoll *look, QByteArray also, Deadline deadline);
    Task<Result<void>> addHolders(SqlPoll *look, Deadline deadline, QByteArray also);
    Task<Result<void>> readLockRows(SqlPoll *look, Deadline deadline);
    Task<Result<void>> readAttributes(SqlPoll *look, Deadline deadline);
    Task<Result<void>> readLimits(SqlPoll *look, Deadline deadline);
    Task<Result<void>> readColumns(SqlPoll *look, Deadline deadline);
    void sendFirst(Deadline deadline);
    void sendNamedAhead(Deadline deadline);
    void sendLimitsAhead(Deadline deadline);
    void sendDetails(const SqlPoll &look, Deadline deadline);
    void note(const QString &gap)
    {
        if (!gap.isEmpty() && !m_newGaps.contains(gap))
            m_newGaps << gap;
    }

    Subscription m_state;
    RowDataCache m_rowData;
    mariadb::ConnectionId m_knownFor = 0; // the connection all this was found out on
    NamedLocks m_namedLocks = NamedLocks::NotAsked;
    bool m_tellsAttributes = true; // performance_schema is on and may be read
    bool m_tellsStatements = true; // and what connections ran last, too
    bool m_tellsOwnLimits = true;  // variables_by_thread is there and may be read: MySQL's, not MariaDB's
    IndexColumns m_columns;
    SqlLockRows m_lockRows{ownLockRows()};
    SqlDeadlocks m_deadlocks;
    QStringList m_gaps;    // of the last look
    QStringList m_newGaps; // of the one under way
    QString m_rowLocksGap, m_newRowLocksGap;
    std::shared_ptr<Pace> m_pace;
    std::optional<ServerTime> m_serverStarted;
    QString m_otherNodesGap;
    bool m_hasLooked = false;
    bool m_rowsAreFresh = true;
    int m_oldInARow = 0;
    std::optional<Instant> m_lastFresh;         // by our clock
    std::optional<ServerTime> m_lastFreshThere; // by the server's
    Random m_random = Random::fromSystem();
};

// NoNode if there is no such connection. `session`, behind the gate, must outlive the task.
[[nodiscard]] Task<Result<SessionActivity>> readSqlDoing(mariadb::Session *session, quint64 connection,
                                                         Deadline deadline);

} // namespace lockscope::inspect
