// SPDX-License-Identifier: Apache-2.0
// The gate: the layer through which everything is sent that Lockscope sends to a server.
//
// It decorates the ports, so recipes, the inspector and force-release cannot get round it. It writes
// the command log, counts requests and writes, and refuses every write of a read-only connection
// with ErrorCode::Refused before anything is sent. Loop thread only.
#pragma once

#include "core/mariadb/session.h"
#include "core/operate/audit.h"
#include "core/redis/connection.h"
#include "core/zookeeper/session.h"

namespace lockscope::operate {

// The policy of one connection; shared by the decorators of its sessions.
class Gate {
public:
    Gate(ConnectionName connection, bool readOnly, bool production, CommandLog &log);

    [[nodiscard]] const ConnectionName &connection() const { return m_connection; }
    [[nodiscard]] bool isReadOnly() const { return m_readOnly; }
    [[nodiscard]] bool isProduction() const { return m_production; }
    [[nodiscard]] qint64 writesSent() const { return m_writesSent; }
    [[nodiscard]] qint64 requestsSent() const { return m_requestsSent; }
    // How long the last answered request took, once one was.
    [[nodiscard]] std::optional<Duration> latency() const { return m_latency; }
    // Arming a production connection, or the reverse: an explicit act of the operator, logged.
    // A gate made read-only for good (--read-only) stays so.
    void setReadOnly(bool readOnly);
    void lockReadOnly();
    // What to do about it being read-only.
    [[nodiscard]] QString remedy() const;
    [[nodiscard]] bool isReadOnlyForGood() const { return m_readOnlyForGood; }

    // Before a request: Refused for a write that may not be sent. Counts and logs it otherwise.
    // The value is the log entry's number, for leave().
    [[nodiscard]] Result<quint64> enter(const QString &text, bool write);
    void leave(quint64 entry, const QString &outcome, Duration took);
    // What the server told us unasked, and changes of the connection itself.
    void event(const QString &text) { m_log.add(entryOf(LogEntry::Kind::Event, text)); }
    void state(const QString &text) { m_log.add(entryOf(LogEntry::Kind::State, text)); }

private:
    [[nodiscard]] LogEntry entryOf(LogEntry::Kind kind, const QString &text) const;

    ConnectionName m_connection;
    bool m_readOnly;
    bool m_readOnlyForGood = false;
    bool m_production;
    qint64 m_writesSent = 0;
    qint64 m_requestsSent = 0;
    std::optional<Duration> m_latency;
    CommandLog &m_log;
};

// The port behind the gate. Both must outlive the returned session (not the replies and watches it gave out).
[[nodiscard]] std::unique_ptr<zk::Session> gated(zk::Session &session, Gate &gate);
// The same, owning the session behind it.
[[nodiscard]] std::unique_ptr<zk::Session> gated(std::unique_ptr<zk::Session> session, Gate &gate);
// `node`: which of several servers behind one gate this is, for the log.
[[nodiscard]] std::unique_ptr<redis::Connection> gated(redis::Connection &connection, Gate &gate,
                                                       const QString &node = {});

// Whether a Redis command changes anything (unknown commands count as writes).
[[nodiscard]] bool isWrite(const redis::Command &command);

// The SQL port behind the gate.

// What makes a question of a dialect one that locks or changes something, in capitals, beside what does so in the
// port's own, MariaDB's.
using SqlWriteWords = QByteArrayList;

// As those of gate.h.
[[nodiscard]] std::unique_ptr<mariadb::Session> gated(mariadb::Session &session, Gate &gate, SqlWriteWords words);
[[nodiscard]] std::unique_ptr<mariadb::Session> gated(std::unique_ptr<mariadb::Session> session, Gate &gate,
                                                      SqlWriteWords words);

// Whether an SQL statement changes or locks anything (what is not known to be a mere question counts).
[[nodiscard]] bool isSqlWrite(const mariadb::Statement &statement, const SqlWriteWords &words);

// A port behind the gate, whichever: what is refused, logged and counted of every request and state.
template <class State>
[[nodiscard]] QString stateWord(State state)
{
    if constexpr (requires { State::Closed; }) {
        if (state == State::Closed)
            return u"closed"_s;
    }
    if constexpr (requires { State::Expired; }) {
        if (state == State::Expired)
            return u"expired"_s;
    }
    if (state == State::AuthFailed)
        return u"authentication failed"_s;
    return state == State::Connected ? u"connected"_s : u"connecting"_s;
}

// "get a; get b; … 2 more", for the log.
[[nodiscard]] QString firstTexts(const auto &requests, std::size_t most, auto textOf)
{
    QStringList parts;
    for (std::size_t i = 0; i < std::min<std::size_t>(requests.size(), most); ++i)
        parts << textOf(requests[i]);
    if (requests.size() > most)
        parts << u"… %1 more"_s.arg(requests.size() - most);
    return parts.join(u"; "_s);
}

// Answers and events may come after the decorator (and its gate) are gone; they then pass unlogged.
struct GateKey {
    Gate *gate;
};

// `Base` forwards. `Words` has text() and isWrite() of every request, outcome() of every answer, stateText() of the
// port and its state, and whether a state is logged that was told again: who keeps trying says "connecting" at each
// attempt.
template <class Base, class Words>
class GatedPort : public Base {
public:
    // `owned` is empty when somebody else owns `inner`.
    GatedPort(typename Base::Inner &inner, std::unique_ptr<typename Base::Inner> owned, Gate &gate, Words words = {})
        : Base(inner), m_words(std::move(words)), m_owned(std::move(owned)),
          m_key(std::make_shared<GateKey>(GateKey{&gate}))
    {
        m_states = inner.onState([this](typename Base::State state) {
            if (Words::repeatsStates || m_noted != state)
                m_key->gate->state(m_words.stateText(this->inner(), state));
            m_noted = state;
        });
    }

    void send(typename Base::Request &&request) override
    {
        std::visit([&](const auto &asked) { pass(asked, std::move(request)); }, request);
    }

protected:
    [[nodiscard]] const std::shared_ptr<GateKey> &key() const { return m_key; }
    [[nodiscard]] const Words &words() const { return m_words; }

private:
    // Refused, or logged, sent, and its answer logged, too.
    template <class R>
    void pass(const Asked<R> &asked, typename Base::Request &&request)
    {
        const auto reply = asked.reply;
        const auto entry = m_key->gate->enter(m_words.text(asked.request), m_words.isWrite(asked.request));
        if (!entry)
            return reply.complete(entry.error());
        const auto sent = reply.loop().now();
        Base::send(std::move(request));
        reply.observe([weak = std::weak_ptr(m_key), &loop = reply.loop(), sent,
                       number = *entry](const Result<typename R::Answer> &answer) {
            if (const auto alive = weak.lock())
                alive->gate->leave(number, answer ? Words::outcome(*answer) : answer.error().message,
                                   loop.now() - sent);
        });
    }

    const Words m_words;
    std::unique_ptr<typename Base::Inner> m_owned;
    std::shared_ptr<GateKey> m_key;
    std::optional<typename Base::State> m_noted;
    Subscription m_states;
};

} // namespace lockscope::operate
