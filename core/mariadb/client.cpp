// SPDX-License-Identifier: Apache-2.0
#include "core/mariadb/dialect.h"

#include "core/async/closing.h"
#include "core/base/logging.h"
#include "core/base/text.h"
#include "core/mariadb/worker.h"

#include <map>

namespace lockscope::mariadb {

namespace {

// How long a server may take to end a statement by KILL QUERY, which is sent by a connection of its own: 5 s to
// connect, as any other, and 2 to answer (killOptions()). Then it counts as gone.
constexpr auto killTakesAtMost = 7s;

class Client final : public EndPort<Session>, private WorkerNews {
public:
    Client(Loop &loop, SessionOptions options) : EndPort(loop), m_options(std::move(options))
    {
        startWorker();
        lookLater();
    }
    ~Client() override
    {
        static_cast<void>(m_worker->close());
        for (auto &[number, pending] : std::exchange(m_pending, {}))
            pending.reply.complete(Error{ErrorCode::NotConnected, u"the session was closed"_s});
    }

    SessionState state() const override { return m_state; }
    QString lastError() const override { return m_lastError; }
    bool isExplained() const override { return m_isExplained; }
    ConnectionId connectionId() const override { return m_connection; }
    QByteArray serverVersion() const override { return m_version; }
    Features features() const override { return m_features; }

    void send(Request &&request) override
    {
        auto &[statement, deadline, reply] = std::get<Asked<Statement>>(request);
        if (const auto why = unfit(statement, deadline))
            return reply.complete(*why);
        const auto number = ++m_lastNumber;
        Pending pending{reply, statement.isLasting, false, {}};
        if (!deadline.isNever())
            pending.timer = loop().callAt(deadline.when(), [this, number] { end(number, true); });
        m_pending.emplace(number, std::move(pending));
        m_worker->run({number, std::move(statement)});
    }

    void interrupt(ConnectionId connection) override
    {
        if (connection != m_connection)
            return;
        std::vector<quint64> numbers;
        for (const auto &[number, pending] : m_pending)
            numbers.push_back(number);
        for (const auto number : numbers)
            end(number, false);
    }

private:
    struct Pending {
        Reply<Rows> reply;
        bool isLasting = false;
        bool isTimedOut = false;
        Timer timer;
    };

    void startWorker()
    {
        WorkerNews &news = *this;
        m_looksWhileConnecting = 0;
        m_worker = std::make_shared<Worker>(loop(), news, m_options, m_numbers);
        m_worker->start();
    }

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
        if (!m_worker->kill(number)) {
            // It had not been sent.
            answered(number, Error{ErrorCode::Cancelled, u"ended before it was sent"_s, true});
            return;
        }
        at->second.timer = loop().callAt(loop().now() + killTakesAtMost,
                                         [this] { giveUpOnServer(u"the server does not answer, not even KILL"_s); });
    }

    void giveUpOnServer(const QString &why)
    {
        qCDebug(logMariaDb).noquote() << "session" << m_connection << "at" << m_options.host.host
                                      << m_options.host.port << "is left:" << why;
        const auto unsent = m_worker->close();
        startWorker();
        notConnected(Error{ErrorCode::NotConnected, why, true});
        for (const auto &job : unsent)
            answered(job.number, Worker::notSent(job.statement, why));
        for (auto &[number, pending] : std::exchange(m_pending, {}))
            pending.reply.complete(Error{ErrorCode::UnknownOutcome, why, true});
    }

    void lookLater()
    {
        m_lookTimer = loop().callAt(loop().now() + m_options.askIdleEvery, [this] {
            lookAfterIdle();
            lookLater();
        });
    }

    // Asks an idle connection whether anybody is there. The time it takes is counted in looks: a program that
    // was stopped itself must not take that for the server's silence.
    void lookAfterIdle()
    {
        // It may let us connect and then say nothing: Qt SQL has no limit for the statements after that.
        if (m_state == SessionState::Connecting
            && ++m_looksWhileConnecting * m_options.askIdleEvery >= m_options.connectsWithin)
            giveUpOnServer(u"the server accepts connections, but has sent nothing more for %1 ms"_s.arg(
                m_options.connectsWithin.count()));
        if (m_state != SessionState::Connected)
            return;
        if (m_question != 0) {
            if (++m_looksInVain * m_options.askIdleEvery >= m_options.idleAnswersWithin)
                giveUpOnServer(u"the idle connection has not replied to a check for %1 ms"_s.arg(
                    m_options.idleAnswersWithin.count()));
            return;
        }
        if (!m_pending.empty())
            return; // these have deadlines of their own
        m_looksInVain = 0;
        m_question = ++m_lastNumber;
        m_worker->run({m_question, {m_options.dialect->nothing(), {}, std::nullopt, false}});
    }

    // WorkerNews
    void connected(ConnectionId connection, QByteArray version, Features features) override
    {
        m_connection = connection;
        m_looksWhileConnecting = 0;
        m_version = std::move(version);
        m_features = std::move(features);
        m_lastError.clear();
        qCDebug(logMariaDb).noquote() << "session" << connection << "at" << m_options.host.host
                                      << m_options.host.port;
        become(SessionState::Connected);
    }
    void notConnected(Error why) override
    {
        m_connection = 0;
        m_question = 0;
        m_looksWhileConnecting = 0;
        m_lastError = why.message;
        m_isExplained = why.isExplained;
        become(why.code == ErrorCode::AuthFailed    ? SessionState::AuthFailed
               : why.code == ErrorCode::Unsupported ? SessionState::Closed
                                                    : SessionState::Connecting);
    }
    void answered(quint64 number, Result<Rows> answer) override
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

    void become(SessionState state)
    {
        m_state = state;
        notifyState(state);
    }

    SessionOptions m_options;
    SessionState m_state = SessionState::Connecting;
    QString m_lastError;
    bool m_isExplained = false; // that
    ConnectionId m_connection = 0;
    QByteArray m_version;
    Features m_features;
    quint64 m_lastNumber = 0;
    std::map<quint64, Pending> m_pending;
    quint64 m_question = 0; // is anybody there? 0: not asked now
    int m_looksInVain = 0;
    int m_looksWhileConnecting = 0;
    Timer m_lookTimer;
    std::shared_ptr<UsedNumbers> m_numbers = std::make_shared<UsedNumbers>();
    std::shared_ptr<Worker> m_worker;
};

} // namespace

std::unique_ptr<Session> openSession(Loop &loop, SessionOptions options)
{
    addClosing(&waitForClosingSessions);
    return std::make_unique<Client>(loop, std::move(options));
}

} // namespace lockscope::mariadb
