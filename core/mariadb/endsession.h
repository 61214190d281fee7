// SPDX-License-Identifier: Apache-2.0
// What the sessions share that talk to a server themselves, a real one or that of a simulated world: which statements
// are out, each with its time, and the check of an idle connection. Loop thread only.
#pragma once

#include "core/mariadb/session.h"

namespace lockscope::mariadb {

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
