// SPDX-License-Identifier: Apache-2.0
// A MariaDB of the simulated world: tables of rows with a version, tables of rows that are locks by what stands in
// them (SqlTable), transactions, row locks, named locks, and connections that run one statement at a time. On
// virtual time; belongs to the world's thread.
//
// As the real server it does not look whether a client is still there while a statement of it waits for a row: who
// died in the queue gets the row in its turn, and gives it up then. A wait for a named lock looks once a second. The
// differential test (tests/live/tst_simulated_mariadb.cpp) holds it against the real one; that of PostgreSQL, whose
// rules it takes as well (core/simservers/postgresql/session.h), is tests/live/tst_simulated_postgresql.cpp.
#pragma once

#include "core/simservers/mariadb/statements.h"
#include "core/simservers/network.h"

#include <tuple>

namespace lockscope::sim {

// The locks of the simulated MariaDB: rows, and names.

using TransactionId = quint64;

struct RowId {
    QByteArray table;
    QByteArray value;
    friend bool operator<(const RowId &one, const RowId &other)
    {
        return std::tie(one.table, one.value) < std::tie(other.table, other.value);
    }
};

// The row locks of the simulated MariaDB, as InnoDB keeps them: exclusive record locks, a queue per row in the
// order of arrival, and a deadlock found by who closes the circle.
//
// Knows nothing of time and connections: a transaction is a number. Whoever calls tells the transactions
// whose wait ended.
class RowLocks {
public:
    enum class Outcome {
        Granted, // or its already
        Waits,
        Conflicts, // only without waiting: nothing was asked for
    };
    [[nodiscard]] Outcome lock(TransactionId transaction, const RowId &row, bool mayWait);
    // A row that does not exist: only the gap is locked, which keeps nobody from locking it, too.
    void lockGap(TransactionId transaction, const QByteArray &table);
    // It changed one more row, which makes it more expensive to roll back.
    void wrote(TransactionId transaction) { ++m_transactions[transaction].weight; }

    // After it began to wait: whom to roll back, if it waits in a circle. The one that weighs least by what it
    // wrote and by its lock objects; of equal ones the one that closed the circle.
    [[nodiscard]] std::optional<TransactionId> victimOf(TransactionId transaction) const;

    // One that it looked at and does not want. Returns who has it now, if anybody waited.
    [[nodiscard]] std::vector<TransactionId> unlock(TransactionId transaction, const RowId &row);
    // Its statement ends without the lock; what it has it keeps. Returns who got a lock by that, in order.
    [[nodiscard]] std::vector<TransactionId> stopWaiting(TransactionId transaction);
    // Everything it has and waits for.
    [[nodiscard]] std::vector<TransactionId> release(TransactionId transaction);

    [[nodiscard]] std::optional<TransactionId> holderOf(const RowId &row) const;
    // Who has what it waits for; empty: it waits for nothing.
    [[nodiscard]] std::optional<TransactionId> blockerOf(TransactionId transaction) const;
    [[nodiscard]] std::optional<TransactionId> firstWaiterFor(const RowId &row) const;
    [[nodiscard]] std::vector<RowId> lockedRows() const;
    // Who has it, and who waits for it, in their order.
    [[nodiscard]] std::deque<TransactionId> queueOf(const RowId &row) const;

private:
    struct Transaction {
        std::set<RowId> rows; // locked, in no wait
        std::optional<RowId> waitsFor;
        std::map<QByteArray, int> objects; // on each table's records
        std::set<QByteArray> tables, gaps;
        qint64 weight = 0;
    };
    void addTable(Transaction &transaction, const QByteArray &table);
    void leave(TransactionId transaction, const RowId &row, std::vector<TransactionId> &granted);

    std::map<TransactionId, Transaction> m_transactions;
    std::map<RowId, std::deque<TransactionId>> m_queues; // the first has it
};

using ConnectionNumber = quint64;

// The named locks of the simulated MariaDB (GET_LOCK): as many as a connection likes, each counted, a queue per
// name in the order of arrival, and a deadlock found by who closes the circle - of named locks only: the
// server keeps them apart from the row locks, and sees no circle that goes through both.
//
// Knows nothing of time, as RowLocks.
class NamedLocks {
public:
    enum class Outcome { Granted, Waits, Conflicts };
    [[nodiscard]] Outcome lock(ConnectionNumber connection, const QByteArray &name, bool mayWait);
    // After it began to wait: whose wait has to end, if it waits in a circle. The one that was chosen least often
    // since it connected; of equal ones the one that closed the circle. It counts as chosen from then on.
    [[nodiscard]] std::optional<ConnectionNumber> chooseVictim(ConnectionNumber connection);
    // Its wait ends without the lock.
    void stopWaiting(ConnectionNumber connection);
    // Empty: nobody has it. False: another has it. True: given back, once.
    [[nodiscard]] std::optional<bool> release(ConnectionNumber connection, const QByteArray &name,
                                              std::vector<ConnectionNumber> &granted);
    // Its connection is over: everything it has and waits for. Returns who got a lock by that.
    [[nodiscard]] std::vector<ConnectionNumber> releaseAll(ConnectionNumber connection);

    [[nodiscard]] std::optional<ConnectionNumber> holderOf(const QByteArray &name) const;
    // Who has what it waits for; empty: it waits for nothing.
    [[nodiscard]] std::optional<ConnectionNumber> blockerOf(ConnectionNumber connection) const;
    [[nodiscard]] std::optional<ConnectionNumber> firstWaiterFor(const QByteArray &name) const;
    [[nodiscard]] std::vector<QByteArray> names() const;
    // Who has it, and who waits for it, in their order.
    [[nodiscard]] std::deque<ConnectionNumber> queueOf(const QByteArray &name) const;

private:
    struct Held {
        ConnectionNumber holder = 0;
        int count = 0;
        std::deque<ConnectionNumber> waiting;
    };
    using Locks = std::map<QByteArray, Held>;
    // Goes to who waits first, or away.
    Locks::iterator passOn(Locks::iterator lock, std::vector<ConnectionNumber> &granted);

    Locks m_locks;
    std::map<ConnectionNumber, QByteArray> m_waiting;
    std::map<ConnectionNumber, int> m_timesVictim;
};

// The tables of the simulated MariaDB whose rows are locks that nothing ends: marks, which are there while they are
// held (name, owner, created_at), and flags (id, version, status). Each statement is a transaction of its own, and
// over at once. Belongs to the world's thread.
class MarkedRows {
public:
    struct Mark {
        QByteArray owner;
        Instant since{};
    };
    struct Flag {
        qint64 version = 0;
        bool isSet = false;
    };

    explicit MarkedRows(VirtualLoop &world) : m_world(world) {}

    void addMarks(const QByteArray &table) { m_tables.insert(table); }
    void addFlag(const RowId &row)
    {
        m_tables.insert(row.table);
        m_flags[row];
    }
    [[nodiscard]] static bool isAbout(SqlStatement::Kind kind);
    // Of a kind that this is about.
    [[nodiscard]] SqlAnswer run(const SqlStatement &what, const QByteArrayList &parameters);

    [[nodiscard]] const std::map<RowId, Mark> &marks() const { return m_marks; }
    [[nodiscard]] const std::map<RowId, Flag> &flags() const { return m_flags; }
    [[nodiscard]] QByteArrayList leftBehind() const; // what is held, in words
    // As an operator does it. False: nobody holds it.
    bool end(const RowId &row);

private:
    [[nodiscard]] SqlAnswer deleteOld(const QByteArray &table, std::chrono::seconds limit);

    VirtualLoop &m_world;
    std::set<QByteArray> m_tables;
    std::map<RowId, Mark> m_marks;
    std::map<RowId, Flag> m_flags;
};

// A table of the simulated MariaDB, and which of its rows a statement looks at.
//
// One column names its rows, a number; `code` is the same as text; and `version`. The first two have an index each,
// or neither has.
struct SqlTable {
    // The order in which a statement looks at them.
    struct ByNumber {
        bool operator()(const QByteArray &one, const QByteArray &other) const
        {
            return one.size() != other.size() ? one.size() < other.size() : one < other;
        }
    };

    QByteArray key;
    bool isIndexed = true;
    std::map<QByteArray, qint64, ByNumber> versions; // by row, with what is not committed yet

    [[nodiscard]] bool hasColumn(const SqlStatement &what) const;
    [[nodiscard]] static bool isWanted(const SqlStatement &what, const QByteArrayList &parameters,
                                       const QByteArray &row);
    [[nodiscard]] std::vector<QByteArray> wanted(const SqlStatement &what, const QByteArrayList &parameters) const;
    // What the statement reads, and so locks, one after the other: by an index the rows that it wants, else all.
    [[nodiscard]] std::vector<QByteArray> lookedAt(const SqlStatement &what, const QByteArrayList &parameters) const;
};

// Which rows a statement looks at, and so locks: what the optimiser of MariaDB 10.11 chooses for a range of an index
// that is not the primary key, where more columns are wanted than the index has.
//
// It compares two prices. By the index each row that is found costs one, to read it, and a fifth, to compare it; the
// whole table costs a fifth for each of its rows, and 2.9 for all else. EXPLAIN chose so for every range from one
// row to all, of tables of 3 to 200 rows (tests/live/tst_simulated_mariadb_rows.cpp asks again). Larger tables have
// indexes of several pages, whose rows in a range are only estimated: of those this says less.
[[nodiscard]] constexpr bool readsByIndex(std::size_t found, std::size_t rows)
{
    return 12 * found <= 2 * rows + 29; // ten times the prices
}

// The tables of the simulated MariaDB whose rows are locks by what stands in them, with ShedLock's columns: a name,
// an owner, and until when. Each statement is a transaction of its own, and over at once; the time is the server's.
class LeasedRows {
public:
    struct Seen {
        RowId id;
        QByteArray by;
        std::optional<Duration> left; // none: its time is over
    };

    explicit LeasedRows(VirtualLoop &world) : m_world(world) {}

    void addTable(const QByteArray &table) { m_tables.insert(table); }
    [[nodiscard]] static bool isAbout(SqlStatement::Kind kind);
    // Of a kind that this is about.
    [[nodiscard]] SqlAnswer run(const SqlStatement &what, const QByteArrayList &parameters);

    [[nodiscard]] std::vector<Seen> rows() const;
    [[nodiscard]] QByteArrayList leftBehind() const; // whose time is not over, in words
    // As an operator does it. False: its time is over already, or there is none.
    bool end(const RowId &row);
    void jumpClock(std::chrono::milliseconds by) { m_ahead += by; }

private:
    struct Row {
        std::chrono::milliseconds until{0};
        QByteArray by;
    };
    // By the server's clock, without what is less than a millisecond.
    [[nodiscard]] std::chrono::milliseconds now() const;
    [[nodiscard]] Row *ownedBy(const RowId &row, const QByteArray &owner);

    VirtualLoop &m_world;
    Duration m_ahead{0};
    std::set<QByteArray> m_tables;
    std::map<RowId, Row> m_rows;
};

// In what servers with the same locks differ.
struct SqlServerRules {
    // A circle is looked for by whoever has waited so long, once, over locks of every kind, and whoever finds it is
    // its victim. None: when it closes, among rows and among names, and the victim is chosen.
    std::optional<Duration> deadlockTimeout;
    // A transaction whose statement failed has lost its locks, and takes nothing but its ROLLBACK. Or only the
    // statement has failed.
    bool failureEndsTransaction = false;
    // Who waits for a named lock is looked after once a second: is its client still there?
    bool looksAfterWaitingClients = true;
};

class SqlServer {
public:
    using OnAnswer = std::function<void(const SqlAnswer &)>;

    explicit SqlServer(VirtualLoop &world, SqlServerRules rules = {}) : m_world(world), m_rules(rules) {}
    Q_DISABLE_COPY(SqlServer)

    void addRow(const QByteArray &table, const QByteArray &key, const QByteArray &value, qint64 version);
    // Without indexes a statement that locks a row locks all that it looks at: every row of the table.
    void dropIndex(const QByteArray &table) { m_tables[table].isIndexed = false; }
    [[nodiscard]] std::optional<qint64> committedVersion(const RowId &row) const;
    [[nodiscard]] static QByteArray version() { return QByteArrayLiteral("10.11.6-MariaDB"); }
    // What that version has.
    [[nodiscard]] static mariadb::Features features()
    {
        return {true, true, false, true, true, true, "information_schema"};
    }

    // `closed` is called when the server ends the connection: KILL, or idle for too long.
    [[nodiscard]] mariadb::ConnectionId connect(std::function<void()> closed);
    // Answered at once, or when its wait ends; never when the connection ends before.
    void execute(mariadb::ConnectionId connection, const QByteArray &text, const QByteArrayList &parameters,
                 OnAnswer answer);
    // The client's end is closed.
    void disconnected(mariadb::ConnectionId connection);
    // KILL CONNECTION and KILL QUERY. False: there is no such connection.
    bool kill(mariadb::ConnectionId connection);
    bool killQuery(mariadb::ConnectionId connection);

    // When the last statement of it came or ended; none when it runs one, or is gone.
    [[nodiscard]] std::optional<Instant> idleSince(mariadb::ConnectionId connection) const;
    // The rows that say who has them, and until when; and those that nothing ends.
    [[nodiscard]] LeasedRows &leasedRows() { return m_leasedRows; }
    [[nodiscard]] const LeasedRows &leasedRows() const { return m_leasedRows; }
    [[nodiscard]] MarkedRows &markedRows() { return m_markedRows; }
    [[nodiscard]] const MarkedRows &markedRows() const { return m_markedRows; }
    // Who holds what and who waits, by the server's word; named locks by their name.
    [[nodiscard]] const RowLocks &rowLocks() const { return m_rows; }
    [[nodiscard]] const NamedLocks &namedLocks() const { return m_names; }
    // Locks and open transactions, in words.
    [[nodiscard]] QByteArrayList leftBehind() const;

private:
    struct Statement {
        SqlStatement what;
        QByteArrayList parameters;
    };
    struct Waiting {
        Statement statement;
        OnAnswer answer;
        Instant since{};
        Timer timer;
        std::size_t at = 0; // of the rows that its statement looks at, this one
    };
    struct Connection {
        mariadb::ConnectionId id = 0;
        std::function<void()> closed;
        std::chrono::seconds lockWaitTimeout{50};
        bool isInTransaction = false;
        bool isAborted = false;                          // its transaction
        bool isReadCommitted = false;                    // its transaction: not REPEATABLE READ, as is usual
        bool isNextReadCommitted = false;                // those that follow
        bool isGone = false;                             // its client; noticed when the wait ends
        std::map<RowId, qint64> before;                  // the versions that a rollback brings back
        std::optional<std::map<RowId, qint64>> snapshot; // of the first plain read of the transaction
        std::optional<Waiting> waiting;
        Instant idleSince{};
    };

    // No answer yet: it waits.
    [[nodiscard]] std::optional<SqlAnswer> run(Connection &connection, const Statement &statement,
                                               const OnAnswer &answer);
    [[nodiscard]] SqlAnswer runSimple(Connection &connection, const Statement &statement);
    // From the `from`th row on that it looks at.
    [[nodiscard]] std::optional<SqlAnswer> lockRows(Connection &connection, const Statement &statement,
                                                    const OnAnswer &answer, std::size_t from);
    [[nodiscard]] std::optional<SqlAnswer> waitForRow(Connection &connection, const Statement &statement,
                                                      const OnAnswer &answer, std::size_t at);
    // It got the row at once, and does not want it: READ COMMITTED lets go of that.
    void letGo(Connection &connection, const Statement &statement, const RowId &row);
    // Granted what it waited for: it looks at the next.
    void lookOn(Connection &connection);
    [[nodiscard]] SqlAnswer haveRows(Connection &connection, const Statement &statement);
    [[nodiscard]] SqlAnswer cannotHaveRow(Connection &connection, const Statement &statement);
    [[nodiscard]] std::optional<SqlAnswer> getLock(Connection &connection, const Statement &statement,
                                                   const OnAnswer &answer);
    [[nodiscard]] SqlAnswer readVersion(Connection &connection, const Statement &statement);
    [[nodiscard]] std::optional<SqlAnswer> objectionTo(const Statement &statement) const;

    void wait(Connection &connection, const Statement &statement, const OnAnswer &answer);
    void endAt(Connection &connection, Instant when, const SqlAnswer &answer);
    // When it has waited for long: whether it waits for itself.
    void lookForCircle(Connection &connection);
    [[nodiscard]] bool waitsForItself(mariadb::ConnectionId connection) const;
    // The wait ends without the lock.
    void stopWaiting(Connection &connection, const SqlAnswer &answer);
    void tell(Connection &connection, const SqlAnswer &answer);
    void commit(Connection &connection);
    void rollback(Connection &connection);
    void endTransaction(Connection &connection);
    void endStatement(Connection &connection);
    void failStatement(Connection &connection);
    void close(mariadb::ConnectionId connection);
    void goOn();
    [[nodiscard]] Connection *find(mariadb::ConnectionId connection);

    static constexpr std::chrono::seconds noLockWaitTimeout{100'000'000};

    VirtualLoop &m_world;
    const SqlServerRules m_rules;
    std::map<QByteArray, SqlTable> m_tables;
    RowLocks m_rows;
    NamedLocks m_names;
    LeasedRows m_leasedRows{m_world};
    MarkedRows m_markedRows{m_world};
    std::map<mariadb::ConnectionId, Connection> m_connections;
    mariadb::ConnectionId m_lastConnection = 2;  // a real one has some of its own
    std::deque<mariadb::ConnectionId> m_granted; // their statements go on
    bool m_goesOn = false;
};

// A session on the simulated MariaDB: what core/mariadb/dialect.h is on a real one, over a link that can break.
//
// Statements go out one at a time; an idle connection is asked once a second whether it still stands, and counts as
// gone when it does not answer for long; deadlines and interrupt() end a statement by KILL QUERY on a
// connection of its own; a server that does not answer that either counts as gone. Reconnects with the same
// back-off, and tells the same errors.
//
// Lives on `process`, which outlives it, as do the server and the network. Destroying it ends what it runs by
// KILL and closes its connection, except that a statement that is to last is not cut off.

struct SqlLinkOptions {
    int server = 0; // its number in the network
    // When the server notices a connection that was cut without a word: idle for so long (wait_timeout), or no
    // sign of life from the other machine (the defaults of Linux).
    Duration idleAtMost = std::chrono::hours(8);
    Duration keepAlive = std::chrono::hours(2) + std::chrono::seconds(9 * 75);
    // What the client does with a connection that is not used.
    Duration askIdleEvery = std::chrono::seconds(1);
    Duration idleAnswersWithin = std::chrono::seconds(10);
};

[[nodiscard]] std::unique_ptr<mariadb::Session> openSession(Process &process, SqlServer &server, Network &network,
                                                            const SqlLinkOptions &options = {});

// One TCP connection to the simulated MariaDB, both of its ends: what is sent here is run there, and each end
// notices when the other is gone - or does not, until it has waited long enough.
class SqlLink : public std::enable_shared_from_this<SqlLink> {
public:
    // Empty when the server cannot be reached.
    [[nodiscard]] static std::shared_ptr<SqlLink> dial(Process &process, SqlServer &server, Network &network,
                                                       const SqlLinkOptions &options);

    // Both are called on the process, and only while the link is kept: greeted once, broken once.
    void onGreeting(std::function<void(mariadb::ConnectionId)> greeted) { m_greeted = std::move(greeted); }
    void onBroken(std::function<void()> broken) { m_broken = std::move(broken); }
    [[nodiscard]] bool isBroken() const { return m_isBroken; }

    void send(const mariadb::Statement &statement, std::function<void(const SqlAnswer &)> heard);
    // The client's end; the server hears of it after what was sent before.
    void close();

private:
    SqlLink(SqlServer &server, Network &network, SqlLinkOptions options, int process)
        : m_server(server), m_network(network), m_options(options), m_process(process)
    {
    }
    // The server's end: knows nothing of the client's.
    struct Far;
    [[nodiscard]] static std::shared_ptr<Far> accept(SqlLink &link);

    SqlServer &m_server;
    Network &m_network;
    const SqlLinkOptions m_options;
    const int m_process;
    LocalShared<NetworkLink> m_networkLink;
    std::shared_ptr<Far> m_far;
    std::function<void(mariadb::ConnectionId)> m_greeted;
    std::function<void()> m_broken;
    bool m_isBroken = false;
};

} // namespace lockscope::sim
