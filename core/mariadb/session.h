// SPDX-License-Identifier: Apache-2.0
// The SQL port: what recipes, the inspector and the gate see of one session on MariaDB or MySQL; and on PostgreSQL,
// whose client is another dialect of this one's (core/postgresql/dialect.h).
//
// A statement is sent when called; its answer arrives once. Statements of one session run one after the
// other, as on the server. Errors: NotConnected when nothing was sent; SessionExpired when the connection
// broke while the statement was out, and with it everything the session held (a statement marked lasting
// is UnknownOutcome instead); TimedOut when the deadline passed (the statement was ended by KILL QUERY; of
// several of one deadline, sent in one turn and bound to no connection, all by KILL, and their connection)
// or the server's own lock wait timeout (1205); DeadlockVictim (1213: the whole transaction was rolled
// back); Cancelled by interrupt() or somebody else's KILL QUERY; AuthFailed; NoPermission; Unsupported
// (no such table, column or variable); Server for any other. All members: loop thread only.
#pragma once

#include "core/async/port.h"

#include <QByteArray>
#include <QByteArrayList>

namespace lockscope::mariadb {

// What an SQL server of this kind has, as it said when it was connected to. Its name and its version say none of it:
// forks take features from each other, and proxies call themselves what they like.
struct Features {
    // BEGIN NOT ATOMIC … END outside of procedures: what is looked at and what is done about it are one statement.
    bool blocks = false;
    bool inTransaction = false; // @@in_transaction
    // performance_schema's events of transactions: they say the same, where they are on and may be read.
    bool transactionEvents = false;
    bool innoDbLocks = false;      // INNODB_LOCKS and INNODB_LOCK_WAITS; else data_locks of performance_schema
    bool statementNumbers = false; // QUERY_ID in PROCESSLIST
    bool milliseconds = false;     // TIME_MS in PROCESSLIST
    // Where GLOBAL_STATUS answers.
    QByteArray statusSchema{"performance_schema"};
};

// "mine": whether this connection is in a transaction.
inline const QByteArray hasTransactionByEvents = QByteArrayLiteral(
    "SELECT COUNT(*) AS mine FROM performance_schema.events_transactions_current e JOIN performance_schema.threads h "
    "ON h.THREAD_ID = e.THREAD_ID WHERE h.PROCESSLIST_ID = CONNECTION_ID() AND e.STATE = 'ACTIVE' "
    "AND e.AUTOCOMMIT = 'NO'");

// What a new connection asks: who it is, and all of the above that tables and columns tell. In a block, which not
// every server understands, and without.
[[nodiscard]] QByteArray greeting();
[[nodiscard]] QByteArray greetingInBlock();

// The server's number of one connection: what PROCESSLIST, INNODB_TRX and KILL call it. Never used again
// while the server runs.
using ConnectionId = quint64;

struct Rows {
    using Cell = std::optional<QByteArray>; // text; empty is NULL
    // In place of a date or time that the client library returned as an invalid one: 0000-00-00, PostgreSQL's
    // infinity, and each of a prepared statement where libmariadb is that of MariaDB 10.11.18.
    static constexpr QByteArrayView unreadableTime = "a time that cannot be read";
    QByteArrayList columns; // as the server names them, in lower case
    std::vector<std::vector<Cell>> rows;
    qint64 affected = 0;

    // NULL where there is no such row or column.
    [[nodiscard]] Cell cell(std::size_t row, const QByteArray &column) const
    {
        const auto at = columns.indexOf(column);
        return at < 0 || row >= rows.size() ? Cell() : rows[row][static_cast<std::size_t>(at)];
    }
};

// The text of resources/sql/NAME.sql in one line, without its comments, with the values in the places of %1 to
// %9. Any thread.
[[nodiscard]] QByteArray sqlText(const char *name, const QByteArrayList &values = {});
// An identifier in backticks, safe in a statement whatever it holds.
[[nodiscard]] QByteArray quotedName(const QByteArray &name);

struct Statement {
    using Answer = Rows;
    QByteArray text;           // a ? for each parameter
    QByteArrayList parameters; // bound as text, never pasted in
    // Only on this connection: SessionExpired, and nothing is sent, when the session has another by now.
    std::optional<ConnectionId> connection;
    // What it does stays when the connection breaks: COMMIT, or a write outside a transaction.
    bool isLasting = false;
};

// Told on every change; Connecting also when another attempt failed (lastError says why).
enum class SessionState { Connecting, Connected, AuthFailed, Closed };

class Session : public Port<SessionState, Statement> {
public:
    [[nodiscard]] virtual QString lastError() const = 0; // why it is not connected; empty when it is
    // Of lastError(): Error::isExplained.
    [[nodiscard]] virtual bool isExplained() const { return false; }
    [[nodiscard]] virtual ConnectionId connectionId() const = 0; // 0 when there is none
    [[nodiscard]] virtual QByteArray serverVersion() const = 0;  // "10.11.6-MariaDB"; for people
    [[nodiscard]] virtual Features features() const = 0;         // of the server of this connection, or of the last

    Reply<Rows> execute(Statement statement, Deadline deadline) { return ask(std::move(statement), deadline); }
    // Ends what runs or queues on that connection: its replies complete with Cancelled, unless their
    // answers were quicker. A later statement is not affected.
    virtual void interrupt(ConnectionId connection) = 0;

    Reply<Rows> begin(ConnectionId connection, Deadline deadline)
    {
        return execute({"START TRANSACTION", {}, connection, false}, deadline);
    }
    Reply<Rows> commit(ConnectionId connection, Deadline deadline)
    {
        return execute({"COMMIT", {}, connection, true}, deadline);
    }
    Reply<Rows> rollback(ConnectionId connection, Deadline deadline)
    {
        return execute({"ROLLBACK", {}, connection, false}, deadline);
    }
};

class ForwardingSession : public Forwarding<Session> {
public:
    using Forwarding::Forwarding;

    [[nodiscard]] QString lastError() const override { return inner().lastError(); }
    [[nodiscard]] bool isExplained() const override { return inner().isExplained(); }
    [[nodiscard]] ConnectionId connectionId() const override { return inner().connectionId(); }
    [[nodiscard]] QByteArray serverVersion() const override { return inner().serverVersion(); }
    [[nodiscard]] Features features() const override { return inner().features(); }
    void interrupt(ConnectionId connection) override { inner().interrupt(connection); }
};

// How to know that what InnoDB says of its transactions is not old.
//
// It answers questions for INNODB_TRX, INNODB_LOCKS and INNODB_LOCK_WAITS from a copy, and makes a new one only when
// nobody has read the copy for 100 ms. Somebody who reads more often keeps it as it is, for hours if need be.
//
// A copy holds the statement that each transaction ran when it was made. So whoever asks has a transaction of its
// own, and writes a mark into the question that was never used before: a copy with that mark was made while this
// question ran. (That our connection is in it proves nothing: it may be there from an earlier look.) The transaction
// reads nothing and takes no read view, so it keeps nothing from being purged.

// Of InnoDB's copy; a little more than it takes.
constexpr std::chrono::milliseconds copyRestsFor{120};

// Once per connection: without it START TRANSACTION … SNAPSHOT opens a read view.
inline const QByteArray withoutReadView =
    QByteArrayLiteral("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
// Once per connection: no look waits longer for a table that somebody else has for himself. Seconds; 1 is the least.
inline const QByteArray shortTableWaits = QByteArrayLiteral("SET SESSION lock_wait_timeout = 1");
// The next question reads what was committed, and may change nothing, whatever it comes to run.
inline const QByteArray committedNext =
    QByteArrayLiteral("SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY");
inline const QByteArray beginLook = QByteArrayLiteral("START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT");
inline const QByteArray endLook = QByteArrayLiteral("ROLLBACK");

// To stand near the beginning of a question: a copy keeps its first 1024 characters. No quotes, no wildcards.
[[nodiscard]] QByteArray freshMark();
// True, in the table INNODB_TRX called t, of our own transaction in a copy that was made while we asked.
[[nodiscard]] QByteArray isMarked(const QByteArray &mark);

// Which server this is, and since when it runs: "server" (a name) and "started" (seconds since 1970). Both sides of
// the difference are of one moment, so that the same server always says the same.
[[nodiscard]] QByteArray serverQuestion(const Session &session);

// What SHOW ENGINE INNODB STATUS says of a transaction: it prints them as they are, not from the copy.
enum class InStatus {
    Active,
    NotThere,
    NotKnown, // the text was cut off, is of another server, or names one of them twice: it holds what clients wrote
};
// `ours` has to be there, too: a transaction that this connection has open while it asks.
[[nodiscard]] InStatus findInStatus(const QByteArray &status, const QByteArray &transaction, ConnectionId connection,
                                    ConnectionId ours);

// What the sessions share that talk to a server themselves, a real one or that of a simulated world: which statements
// are out, each with its time, and the check of an idle connection. Loop thread only.
class EndSession : public EndPort<Session> {
public:
    // `killTakesAtMost`: how long a server may take to end a statement by KILL QUERY. Then it counts as gone.
    EndSession(Loop &loop, Duration killTakesAtMost) : EndPort(loop), m_killTakesAtMost(killTakesAtMost) {}

    SessionState state() const final { return m_state; }
    QString lastError() const final { return m_lastError; }
    bool isExplained() const final { return m_isExplained; }
    ConnectionId connectionId() const final { return m_connection; }
    QByteArray serverVersion() const final { return m_version; }

    void send(Request &&request) final
    {
        auto &[statement, deadline, reply] = std::get<Asked<Statement>>(request);
        if (const auto why = unfit(statement, deadline))
            return reply.complete(*why);
        const auto number = ++m_lastNumber;
        Pending pending{reply, false, {}};
        if (!deadline.isNever())
            pending.timer = loop().callAt(deadline.when(), [this, number] { end(number, true); });
        m_pending.emplace(number, std::move(pending));
        run(number, std::move(statement), deadline);
    }
    void interrupt(ConnectionId connection) final
    {
        if (connection != m_connection)
            return;
        std::vector<quint64> numbers;
        for (const auto &[number, pending] : m_pending)
            numbers.push_back(number);
        for (const auto number : numbers)
            end(number, false);
    }

protected:
    // Its answer is handed to finish().
    virtual void run(quint64 number, Statement statement, Deadline deadline) = 0;
    // True: it was not sent yet, and is not going to be. Else it is being ended by KILL QUERY.
    virtual bool takeBack(quint64 number) = 0;
    virtual void giveUpOnServer(const QString &why) = 0;

    void become(SessionState state)
    {
        m_state = state;
        notifyState(state);
    }
    void finish(quint64 number, Result<Rows> answer)
    {
        if (number == m_question)
            m_question = 0;
        const auto at = m_pending.find(number);
        if (at == m_pending.end())
            return;
        const auto pending = std::move(at->second);
        m_pending.erase(at);
        if (!answer && answer.error().code == ErrorCode::Cancelled && pending.isTimedOut)
            answer = Error{ErrorCode::TimedOut, u"timed out"_s, true};
        pending.reply.complete(std::move(answer));
    }
    void finishAll(const Error &why)
    {
        for (auto &[number, pending] : std::exchange(m_pending, {}))
            pending.reply.complete(why);
    }
    // Asks an idle connection whether anybody is there. The time it takes is counted in looks: a program that
    // was stopped itself must not take that for the server's silence.
    void checkIdle(Duration every, Duration answersWithin, const QString &silence, Statement nothing)
    {
        if (m_state != SessionState::Connected)
            return;
        if (m_question != 0) {
            if (++m_looksInVain * every >= answersWithin)
                giveUpOnServer(silence);
            return;
        }
        if (!m_pending.empty())
            return; // these have deadlines of their own
        m_looksInVain = 0;
        m_question = ++m_lastNumber;
        run(m_question, std::move(nothing), Deadline::never());
    }

    QString m_lastError;
    bool m_isExplained = false; // that
    ConnectionId m_connection = 0;
    QByteArray m_version;
    quint64 m_lastNumber = 0;
    quint64 m_question = 0; // is anybody there? 0: not asked now

private:
    struct Pending {
        Reply<Rows> reply;
        bool isTimedOut = false;
        Timer timer;
    };

    // Why this must not be sent.
    [[nodiscard]] std::optional<Error> unfit(const Statement &statement, Deadline deadline) const
    {
        if (statement.connection && *statement.connection != m_connection)
            return Error{ErrorCode::SessionExpired, u"nothing was sent: the connection was lost before"_s, true};
        if (m_state != SessionState::Connected)
            return Error{m_state == SessionState::AuthFailed ? ErrorCode::AuthFailed : ErrorCode::NotConnected,
                         m_lastError.isEmpty() ? u"not connected yet"_s : m_lastError, true, m_isExplained};
        if (deadline.hasPassed(loop()))
            return Error{ErrorCode::TimedOut, u"too late to send it"_s, true};
        return std::nullopt;
    }
    void end(quint64 number, bool isTimeout)
    {
        const auto at = m_pending.find(number);
        if (at == m_pending.end())
            return;
        at->second.isTimedOut = isTimeout;
        if (takeBack(number))
            return finish(number, Error{ErrorCode::Cancelled, u"ended before it was sent"_s, true});
        at->second.timer = loop().callAt(loop().now() + m_killTakesAtMost,
                                         [this] { giveUpOnServer(u"the server does not answer, not even KILL"_s); });
    }

    const Duration m_killTakesAtMost;
    SessionState m_state = SessionState::Connecting;
    std::map<quint64, Pending> m_pending;
    int m_looksInVain = 0;
};

} // namespace lockscope::mariadb
