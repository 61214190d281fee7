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

} // namespace lockscope::redis
