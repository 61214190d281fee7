// SPDX-License-Identifier: Apache-2.0
// Asks one server for a look: which statements it understands, which privileges and instruments it lacks,
// and how often it may be asked. Loop thread only.
//
// Readers of one process take turns on one server, whatever they call it. Those of other programs cannot be asked to:
// a look that met an old copy (SqlPoll::rowsAreFresh) says so, and whoever follows should rest for restAfterLook().
#pragma once

#include "core/base/random.h"
#include "core/inspect/mariadb/poll.h"

namespace lockscope::inspect {

// Rows that are locks by what stands in them (core/rules/rowlayouts.h). Found by the names of their tables where the
// credentials may look, and by their columns. Of any SQL server: what it is asked differs, and how it answers.
struct LockRowTable {
    QByteArray schema, name;
    const recipes::RowLayout *layout = nullptr;
    QByteArrayList columns{}; // in lower case
    QByteArrayList zoned{};   // those of them whose times say their zone
    bool isReadable = false;
};

constexpr std::size_t mostLockRows = 1000, mostLockTables = 100; // of one table, and of those

struct LockRowDialect {
    // Every table whose name contains a word for a lock or is among the parameter's (in lower case, with commas; the
    // parameter is there twice): those, then Liquibase's and ShedLock's first. Columns table_schema, name and
    // is_readable; and, without whichColumns, columns and zoned (each in one, with commas).
    QByteArray whichTables;
    // Of a table, by schema and name: column name, in lower case. Not asked again of a table that is known.
    QByteArray whichColumns;
    // How its questions for rows are written; `column` is quoted.
    QByteArray from; // "FROM "
    QByteArray (*quoted)(const QByteArray &name);
    QByteArray (*asText)(const QByteArray &column);
    QByteArray (*isTrue)(const QByteArray &column);
    QByteArray exactly; // before a text that is compared byte by byte
    // As `moment` reads it; NULL where it is no time.
    QByteArray (*timeOf)(const QByteArray &column, recipes::RowTime time, bool isZoned, bool isInUtc);
    // Of what may be NULL or no time, too: that has not passed.
    QByteArray (*isAhead)(const QByteArray &column, recipes::RowTime time, bool isZoned);
    QByteArray beforeRows; // sent before that, if anything
    std::optional<ServerTime> (*moment)(const mariadb::Rows &rows, std::size_t row, const QByteArray &column);
    // The server has an opinion: what the connection is suffering from is nobody's gap.
    bool (*isRefusal)(const Error &error);
    QString (*readErrorText)(const Error &error); // of a table's rows
};

// Columns name0, name1 …, locked_by, flag, stamp, since, since_in_utc, ends and ends_in_utc of those that are locked.
// Its parameters are the layout's values of `free`.
[[nodiscard]] QByteArray lockRowsQuestion(const LockRowDialect &dialect, const LockRowTable &table);

// MariaDB's and MySQL's.
[[nodiscard]] const LockRowDialect &ownLockRows();

// Tables are looked for seldom, their rows are read each second; else what was read last is told again.
// Sends questions to one session. Loop thread only.
class SqlAsker {
public:
    explicit SqlAsker(mariadb::Session &session) : m_session(session) {}
    [[nodiscard]] qint64 requests() const { return m_requests; }

protected:
    [[nodiscard]] Reply<mariadb::Rows> send(const QByteArray &query, Deadline deadline,
                                            const QByteArrayList &parameters = {});
    // What is asked for anyway goes with what has to be asked before: send() has its answer then.
    void sendAhead(const QByteArray &query, Deadline deadline, const QByteArrayList &parameters = {});

    mariadb::Session &m_session;
    std::map<QByteArray, Reply<mariadb::Rows>> m_ahead; // by text
    qint64 m_requests = 0;
};

class SqlLockRows {
public:
    // The dialect lives for ever.
    explicit SqlLockRows(const LockRowDialect &dialect) : m_dialect(&dialect) {}

    void forget() { *this = SqlLockRows(*m_dialect); }
    // Where the next read looks for tables: those of the user's rules, that their question names.
    [[nodiscard]] std::optional<QByteArray> namesToFind(Instant now) const;
    // The next read is of now.
    void readAnew()
    {
        m_read.reset();
        m_isStale = true;
    }
    // What cannot be read is said in gaps(). Tables that somebody keeps others out of are not asked for: a question
    // would wait, too.
    Task<Result<void>> read(SqlSend send, Loop *loop, std::vector<SqlTableLock> kept, Deadline deadline);
    [[nodiscard]] const std::vector<SqlLockRow> &rows() const { return m_rows; }
    [[nodiscard]] QStringList gaps() const { return m_tableGaps + m_gaps; }
    // Of these: tables of locks whose rows the last read could not see.
    [[nodiscard]] const QStringList &rowsNotRead() const { return m_gaps; }
    // Tables whose rows may be locks by their names, and which are not read.
    [[nodiscard]] std::vector<Unexplained> unexplained() const;

private:
    Task<Result<void>> findTables(SqlSend send, Deadline deadline);
    // Each of several questions is sent before the first answer is waited for.
    using Asking = std::optional<Reply<mariadb::Rows>>;
    struct AskedTable {
        LockRowTable table;
        Asking before, rows;
    };
    [[nodiscard]] const LockRowTable *knownTable(const LockRowTable &table) const;
    [[nodiscard]] Asking askForColumns(const SqlSend &send, const LockRowTable &table, Deadline deadline) const;
    // Its columns, and their layout if one fits; known ones are not asked for again.
    Task<Result<LockRowTable>> withLayout(LockRowTable table, Asking columns);
    [[nodiscard]] AskedTable askForRows(const SqlSend &send, const LockRowTable &table, Deadline deadline) const;
    Task<Result<void>> readTable(AskedTable asked);
    void take(const LockRowTable &table, const mariadb::Rows &rows);
    void takeRuled(const LockRowTable &table, std::vector<SqlLockRow> rows);

    const LockRowDialect *m_dialect;
    std::vector<LockRowTable> m_tables;
    std::vector<SqlLockRow> m_rows;
    QByteArrayList m_otherTables;
    QStringList m_tableGaps, m_gaps; // of the last search for tables, and of the last read
    std::optional<Instant> m_looked, m_read;
    bool m_isStale = false; // was to be read anew while it was read
    int m_rules = 0;        // recipes::userRulesGeneration() of the last search for tables
};

// Deadlocks that an SQL server ended itself: its counter says that there was one, and InnoDB's log has the last.

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
