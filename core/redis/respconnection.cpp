// SPDX-License-Identifier: Apache-2.0
#include "core/redis/pubsub.h"

#include "core/base/logging.h"
#include "core/base/text.h"

#include <array>

namespace lockscope::redis {

namespace {

constexpr Duration attemptAtMost = 5s;
constexpr Duration firstPause = 50ms;
constexpr Duration longestPause = 5s;
// A connection that lived shorter than this does not reset the back-off: a server that accepts and
// closes at once must not be hammered.
constexpr Duration settled = 1s;
// A peer that vanished without closing is noticed by silence: a PING after `beatEvery`, the end after `silentAtMost`.
constexpr Duration beatEvery = 10s;
constexpr Duration silentAtMost = 30s;

// What the server said about AUTH, without its own words: a hostile one could put the password there.
Error authError(const Value &reply)
{
    if (reply.text.contains("without any password configured"))
        return {ErrorCode::AuthFailed, u"the server has no password set, but one was given"_s, false};
    return {ErrorCode::AuthFailed, u"the server refused the user name or password"_s, false};
}

// Refusals that have nothing to do with who we are; the next attempt may do better.
bool isPassing(const Value &reply)
{
    return reply.text.startsWith("ERR max number of clients") || errorFrom(reply).retryable;
}

} // namespace

RespConnection::RespConnection(Loop &loop, ConnectionOptions options, MakeTransport makeTransport,
                               Callbacks callbacks)
    : m_loop(loop), m_options(std::move(options)), m_callbacks(std::move(callbacks)),
      m_makeTransport(std::move(makeTransport))
{
    m_timer = m_loop.callAt(m_loop.now(), [this] { connectNow(); });
}

RespConnection::~RespConnection()
{
    m_transport.reset();
    const Error gone{ErrorCode::UnknownOutcome, u"the connection was closed while a command was out"_s, false};
    answerAll(gone, gone);
}

Error RespConnection::notConnected() const
{
    if (m_state == ConnectionState::AuthFailed)
        return {ErrorCode::AuthFailed, m_lastError, false, m_isExplained};
    const auto why = m_lastError.isEmpty() ? u"the connection is not open yet"_s : m_lastError;
    return {ErrorCode::NotConnected, u"not connected to Redis at "_s + place() + u": "_s + why, true, m_isExplained};
}

void RespConnection::connectNow()
{
    m_reader = std::make_unique<RespReader>(m_options.replyLimitBytes);
    m_timer =
        m_loop.callAt(m_loop.now() + attemptAtMost, [this] { broken(u"%1: no answer within 5 s"_s.arg(place())); });
    m_transport =
        m_makeTransport({[this] { opened(); }, [this](QByteArrayView bytes) { read(bytes); },
                         [this](const QString &why, bool isOfTls) { broken(place() + u": "_s + why, isOfTls); }});
}

void RespConnection::opened()
{
    QByteArray bytes;
    size_t replies = 1;
    if (isLogin()) {
        Command auth{"AUTH"};
        if (!m_options.user.isEmpty())
            auth << m_options.user;
        bytes += encode(auth << m_options.password);
        ++replies;
    }
    if (m_options.database != 0) {
        bytes += encode({"SELECT", QByteArray::number(m_options.database)});
        ++replies;
    }
    bytes += encode({"CLIENT", "SETNAME", "lockscope"});
    m_pending.push_back({replies, {}, [this](const Result<std::vector<Value>> &got) {
                             if (got)
                                 loggedIn(*got);
                         }});
    m_transport->write(bytes);
}

void RespConnection::loggedIn(const std::vector<Value> &replies)
{
    size_t at = 0;
    for (const auto &reply : replies) {
        if (reply.isError() && isPassing(reply)) {
            broken(place() + u": "_s + label(reply.text), true);
            return;
        }
    }
    if (isLogin()) {
        if (replies[at].isError()) {
            refuse(authError(replies[at]));
            return;
        }
        ++at;
    }
    if (m_options.database != 0) {
        if (replies[at].isError()) {
            refuse(errorFrom(replies[at]));
            return;
        }
        ++at;
    }
    // Without the right to name itself a client still works; without any rights it does not.
    if (replies[at].isError() && errorFrom(replies[at]).code == ErrorCode::AuthFailed) {
        refuse({ErrorCode::AuthFailed, u"the server asks for a password"_s, false});
        return;
    }
    if (replies[at].text.startsWith("DENIED")) {
        refuse({ErrorCode::AuthFailed, u"the server is in protected mode and takes local clients only"_s, false});
        return;
    }
    m_lastError.clear();
    m_connectedAt = m_heardAt = m_loop.now();
    m_timer = m_loop.callAt(m_loop.now() + beatEvery, [this] { beat(); });
    m_state = ConnectionState::Connected;
    m_callbacks.stateChanged();
}

void RespConnection::refuse(const Error &why)
{
    m_transport.reset();
    m_timer.cancel();
    m_lastError = place() + u": "_s + why.message;
    // What was refused but for a password has a reason of its own.
    m_isExplained = why.code != ErrorCode::AuthFailed;
    qCWarning(logRedis).noquote() << "giving up on" << m_lastError;
    m_state = why.code == ErrorCode::AuthFailed ? ConnectionState::AuthFailed : ConnectionState::Closed;
    answerAll(why, why);
    m_callbacks.stateChanged();
}

void RespConnection::read(QByteArrayView bytes)
{
    m_heardAt = m_loop.now();
    m_reader->feed(bytes);
    for (;;) {
        auto next = m_reader->next();
        if (!next) {
            broken(next.error());
            return;
        }
        // A reply may end this connection (a refused login): then its reader is gone.
        if (!*next || !accept(std::move(**next)))
            return;
    }
}

// False when the connection it came from is no more.
bool RespConnection::accept(Value reply)
{
    const auto *transport = m_transport.get();
    if (m_pending.empty()) {
        if (m_callbacks.unsolicited) {
            m_callbacks.unsolicited(std::move(reply));
            return m_transport.get() == transport;
        }
        const bool isError = reply.isError();
        broken(u"%1: %2"_s.arg(place(), isError ? label(reply.text) : u"a reply that was not requested"_s), isError);
        return false;
    }
    auto &front = m_pending.front();
    front.got.push_back(std::move(reply));
    if (front.got.size() < front.replies)
        return true;
    auto complete = std::move(front);
    m_pending.pop_front();
    complete.done(std::move(complete.got));
    return m_transport.get() == transport;
}

void RespConnection::broken(const QString &why, bool isExplained)
{
    broken(Error{ErrorCode::UnknownOutcome, why, true, isExplained});
}

void RespConnection::broken(const Error &why)
{
    if (!m_transport)
        return;
    m_transport.reset();
    // A server that is down is tried every few seconds: its reason is worth a line once.
    if (m_options.logs && (m_state == ConnectionState::Connected || why.message != m_lastError))
        qCInfo(logRedis).noquote() << u"connection lost: %1"_s.arg(why.message);
    m_lastError = why.message;
    m_isExplained = why.isExplained;
    planReconnect();
    m_state = ConnectionState::Connecting;
    const Error rest{ErrorCode::UnknownOutcome,
                     u"the connection to Redis broke while a command was out: %1"_s.arg(why.message), true};
    answerAll(why.code == ErrorCode::TooLarge ? why : rest, rest);
    m_callbacks.stateChanged();
}

void RespConnection::answerAll(const Error &first, const Error &rest)
{
    auto unanswered = std::exchange(m_pending, {});
    bool isFirst = true;
    for (auto &pending : unanswered)
        pending.done(std::exchange(isFirst, false) ? first : rest);
}

void RespConnection::planReconnect()
{
    if (m_state == ConnectionState::Connected && m_loop.now() - m_connectedAt >= settled)
        m_pause = {};
    m_timer = m_loop.callAt(m_loop.now() + m_pause, [this] { connectNow(); });
    m_pause = std::clamp(m_pause * 2, firstPause, longestPause);
}

void RespConnection::beat()
{
    const auto silent = m_loop.now() - m_heardAt;
    if (silent >= silentAtMost) {
        broken(u"%1: no data received for 30 s"_s.arg(place()));
        return;
    }
    if (silent >= beatEvery) {
        if (m_callbacks.unsolicited)
            sendUnanswered(encode({"PING"}));
        else if (m_pending.empty())
            send(encode({"PING"}), 1, [](const Result<std::vector<Value>> &) {});
    }
    m_timer = m_loop.callAt(m_loop.now() + beatEvery, [this] { beat(); });
}

void RespConnection::send(const QByteArray &bytes, size_t replies, Done done)
{
    m_pending.push_back({replies, {}, std::move(done)});
    m_transport->write(bytes);
}

void RespConnection::sendUnanswered(const QByteArray &bytes)
{
    // The one before, of several, may have found the connection broken.
    if (m_transport)
        m_transport->write(bytes);
}

} // namespace lockscope::redis
