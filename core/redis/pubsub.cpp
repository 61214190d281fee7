// SPDX-License-Identifier: Apache-2.0
#include "core/redis/pubsub.h"

#include "core/base/logging.h"
#include "core/base/text.h"

namespace lockscope::redis {

namespace {

constexpr QByteArrayView invalidations = "__redis__:invalidate";
constexpr std::chrono::seconds astrayFor(1);

QByteArray verbOf(PubSub::Kind kind, bool isOff)
{
    const QByteArray verb = isOff ? "UNSUBSCRIBE" : "SUBSCRIBE";
    switch (kind) {
    case PubSub::Kind::Channel: return verb;
    case PubSub::Kind::Pattern: return 'P' + verb;
    case PubSub::Kind::Sharded: break;
    }
    return 'S' + verb;
}

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

// One listener; its Subscription owns it.
struct PubSub::Entry {
    Listener call;
    Topic topic;
    std::weak_ptr<PubSub> owner;

    Entry(Listener listener, Topic of, std::weak_ptr<PubSub> pubSub)
        : call(std::move(listener)), topic(std::move(of)), owner(std::move(pubSub))
    {
    }
    Q_DISABLE_COPY(Entry)
    ~Entry()
    {
        if (auto alive = owner.lock())
            alive->dropped(topic);
    }
};

PubSub::PubSub(Loop &loop, ConnectionOptions options, MakeTransport makeTransport, std::function<void()> restored)
    : m_loop(loop), m_options(std::move(options)), m_makeTransport(std::move(makeTransport)),
      m_restored(std::move(restored))
{
}

PubSub::~PubSub()
{
    for (const auto &waiter : m_idWaiters)
        waiter.complete(Error{ErrorCode::NotConnected, u"the connection was closed"_s, false});
}

void PubSub::open()
{
    if (m_link)
        return;
    const RespConnection::Callbacks callbacks{[this] { linkChanged(); },
                                              [this](const Value &push) { received(push); }};
    m_link = std::make_unique<RespConnection>(m_loop, m_options, m_makeTransport, callbacks);
}

Subscription PubSub::subscribe(Kind kind, const QByteArray &name, Listener listener)
{
    open();
    const Topic topic{kind, name};
    auto entry = std::make_shared<Entry>(std::move(listener), topic, weak_from_this());
    auto &listeners = m_topics[topic];
    listeners.push_back(entry);
    if (listeners.size() == 1 && m_link->state() == ConnectionState::Connected)
        ask(topic);
    return Subscription(std::move(entry));
}

void PubSub::ask(const Topic &topic)
{
    m_unconfirmed.push_back({topic});
    m_link->sendUnanswered(encode({verbOf(topic.kind, false), topic.name}));
}

void PubSub::dropped(const Topic &topic)
{
    const auto at = m_topics.find(topic);
    std::erase_if(at->second, [](const std::weak_ptr<Entry> &entry) { return entry.expired(); });
    if (!at->second.empty())
        return;
    m_topics.erase(at);
    m_refused.erase(topic);
    m_astray.erase(topic);
    if (m_link->state() != ConnectionState::Connected)
        return;
    if (topic.kind == Kind::Sharded) // which may be refused, too
        m_unconfirmed.push_back({topic, true});
    m_link->sendUnanswered(encode({verbOf(topic.kind, true), topic.name}));
}

void PubSub::linkChanged()
{
    m_unconfirmed.clear();
    m_refused.clear();
    m_astray.clear();
    m_id.reset();
    if (m_link->state() != ConnectionState::Connected) {
        settle();
        return;
    }
    m_restoring = std::exchange(m_wasConnected, true);
    // Before the first SUBSCRIBE: after it a RESP2 connection takes nothing but subscriptions.
    m_link->send(encode({"CLIENT", "ID"}), 1, [this](const Result<std::vector<Value>> &got) {
        if (!got)
            return; // the connection broke; linkChanged() follows
        const auto &reply = got->front();
        if (reply.isError())
            m_id = Error{ErrorCode::Unsupported, u"CLIENT ID refused: "_s + label(reply.text), false};
        else
            m_id = reply.integer;
        settle();
    });
    for (const auto &[topic, listeners] : m_topics)
        ask(topic);
}

void PubSub::received(const Value &push)
{
    if (push.isError())
        return refused(push);
    if (push.kind != Value::Kind::Array || push.items.empty())
        return; // the answer to a PING before the first subscription
    const auto &what = push.items.front().text;
    if ((what == "subscribe" || what == "psubscribe" || what == "ssubscribe") && !m_unconfirmed.empty()) {
        confirmed();
    } else if (what == "sunsubscribe" && push.items.size() == 3) {
        const Topic topic{Kind::Sharded, push.items[1].text};
        const bool isAsked =
            !m_unconfirmed.empty() && m_unconfirmed.front().isOff && m_unconfirmed.front().topic.name == topic.name;
        if (isAsked)
            confirmed();
        else
            onSubscriptionError(topic); // its slot has moved
    } else if (what == "smessage" && push.items.size() == 3) {
        deliver({Kind::Sharded, push.items[1].text}, {push.items[1].text, {}, push.items[2].text});
    } else if (what == "message" && push.items.size() == 3) {
        const auto &channel = push.items[1].text;
        if (channel == invalidations)
            deliverKeys(push.items[2], channel);
        else
            deliver({Kind::Channel, channel}, {channel, {}, push.items[2].text});
    } else if (what == "pmessage" && push.items.size() == 4) {
        deliver({Kind::Pattern, push.items[1].text}, {push.items[2].text, push.items[1].text, push.items[3].text});
    }
}

// Only a SUBSCRIBE can be refused here, or the end of a sharded one, and they are answered in order.
void PubSub::refused(const Value &push)
{
    if (m_unconfirmed.empty())
        return;
    const auto wish = m_unconfirmed.front();
    if (wish.topic.kind != Kind::Sharded) {
        qCInfo(logRedis).noquote() << u"subscription refused: %1"_s.arg(label(push.text));
        m_refused.insert(wish.topic);
    } else if (!wish.isOff && (push.text.startsWith("MOVED") || push.text.startsWith("CLUSTERDOWN"))) {
        onSubscriptionError(wish.topic);
    }
    confirmed();
}

void PubSub::onSubscriptionError(const Topic &topic)
{
    if (!m_topics.contains(topic))
        return;
    m_astray.insert(topic);
    m_again = m_loop.callAt(m_loop.now() + astrayFor, [this] {
        for (const auto &one : std::exchange(m_astray, {}))
            ask(one);
    });
}

void PubSub::confirmed()
{
    m_unconfirmed.pop_front();
    settle();
}

void PubSub::deliverKeys(const Value &keys, const QByteArray &channel)
{
    // A nil instead of keys: everything was flushed.
    if (keys.kind != Value::Kind::Array) {
        deliver({Kind::Channel, channel}, {channel, {}, keys.text});
        return;
    }
    for (const auto &key : keys.items)
        deliver({Kind::Channel, channel}, {channel, {}, key.text});
}

void PubSub::deliver(const Topic &topic, const Message &message)
{
    const auto at = m_topics.find(topic);
    if (at == m_topics.end())
        return; // unsubscribed meanwhile
    for (const auto &listener : at->second) {
        m_loop.post([listener, message] {
            if (const auto alive = listener.lock())
                alive->call(message);
        });
    }
}

void PubSub::giveId(const Reply<qint64> &reply, Deadline deadline)
{
    open();
    reply.completeAt(deadline, Error{ErrorCode::TimedOut, u"the pub/sub connection was not ready in time"_s, true});
    m_idWaiters.push_back(reply);
    settle();
}

// Answers those who wait for the id, as soon as it is worth having.
void PubSub::settle()
{
    const bool refused = m_link->state() == ConnectionState::AuthFailed || m_link->state() == ConnectionState::Closed;
    const bool ready = m_link->state() == ConnectionState::Connected && m_id && m_unconfirmed.empty();
    if (!refused && !ready)
        return;
    const auto answer = [&]() -> Result<qint64> {
        if (refused)
            return m_link->notConnected();
        if (!m_refused.empty())
            return Error{ErrorCode::NoPermission,
                         u"Redis refused to subscribe to "_s + label(m_refused.begin()->name), false};
        return *m_id;
    }();
    for (const auto &waiter : std::exchange(m_idWaiters, {}))
        waiter.complete(answer);
    if (std::exchange(m_restoring, false))
        m_restored();
}

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
    if (!m_options.passwords)
        return startAttempt();
    m_options.passwords->fetched(m_loop).then([this, isAlive = std::weak_ptr(m_isAlive)](const auto &password) {
        if (isAlive.expired())
            return;
        if (!password)
            return attemptFailed(password.error());
        m_options.password = password->toUtf8();
        startAttempt();
    });
}

void RespConnection::startAttempt()
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
    if (m_options.passwords) // the next one may be another
        m_timer = m_loop.callAt(m_loop.now() + longestPause, [this] { connectNow(); });
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
    if (std::exchange(m_transport, nullptr))
        attemptFailed(why);
}

void RespConnection::attemptFailed(const Error &why)
{
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
