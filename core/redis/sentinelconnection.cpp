// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/redis/client.h"

#include <numeric>

namespace lockscope::redis {

namespace {

constexpr auto sentinelWithin = 2s;
constexpr Duration askEvery = 10s;
constexpr Duration askEveryInTrouble = 250ms;

// A listener, wherever its server is, as soon as that is known.
struct MovingTopic {
    QByteArray name;
    bool isPattern;
    std::function<void(const Message &)> listener;
    Subscription on;
};

class MovingTopics {
public:
    // `at`: where it is now; null: not known yet.
    [[nodiscard]] Subscription add(MovingTopic topic, Connection *at)
    {
        auto kept = std::make_shared<MovingTopic>(std::move(topic));
        std::erase_if(m_all, [](const auto &one) { return one.expired(); });
        m_all.push_back(kept);
        if (at)
            place(kept, *at);
        return Subscription(std::move(kept));
    }
    void moveTo(Connection &at) const
    {
        for (const auto &one : m_all) {
            if (const auto topic = one.lock())
                place(topic, at);
        }
    }

private:
    static void place(const std::shared_ptr<MovingTopic> &topic, Connection &at)
    {
        const auto heard = [weak = std::weak_ptr(topic)](const Message &message) {
            if (const auto alive = weak.lock())
                alive->listener(message);
        };
        topic->on = topic->isPattern ? at.subscribePattern(topic->name, heard) : at.subscribe(topic->name, heard);
    }

    std::vector<std::weak_ptr<MovingTopic>> m_all;
};

class SentinelConnection final : public EndPort<Connection> {
public:
    SentinelConnection(Loop &loop, std::vector<HostPort> sentinels, QByteArray service, SentinelOpeners openers)
        : EndPort(loop), m_hosts(std::move(sentinels)), m_service(std::move(service)), m_openers(std::move(openers)),
          m_wake(loop), m_self(std::make_shared<SentinelConnection *>(this)), m_work(loop)
    {
        for (const auto &host : m_hosts)
            m_sentinels.push_back(open(host, false));
        m_work.launch(keepFinding());
    }

    ConnectionState state() const override { return m_state; }
    QString lastError() const override { return m_why.message; }
    bool isExplained() const override { return m_why.isExplained; }

    // To the primary; a refusal that only a replica makes has the sentinels asked again.
    void send(Request &&request) override
    {
        std::visit([&](const auto &asked) { pass(asked.reply, std::move(request)); }, request);
    }
    Subscription subscribe(QByteArray channel, std::function<void(const Message &)> listener) override
    {
        return m_topics.add({channel, false, std::move(listener), {}}, m_primary.get());
    }
    Subscription subscribePattern(QByteArray pattern, std::function<void(const Message &)> listener) override
    {
        return m_topics.add({pattern, true, std::move(listener), {}}, m_primary.get());
    }

private:
    struct Sentinel {
        HostPort host;
        bool withPassword = false;
        std::unique_ptr<Connection> connection;
        Subscription switches, promotions;
    };

    [[nodiscard]] Sentinel open(const HostPort &host, bool withPassword)
    {
        Sentinel sentinel{host, withPassword, m_openers.sentinel(host, withPassword), {}, {}};
        sentinel.switches = sentinel.connection->subscribe("+switch-master", [this](const Message &message) {
            if (message.payload.startsWith(m_service + ' '))
                m_wake.complete(true);
        });
        // Who leads a failover names the new one from here on, a second or more before it and the others tell of the
        // switch. What the old one is still given is lost when it is made a replica.
        sentinel.promotions =
            sentinel.connection->subscribe("+failover-state-reconf-slaves", [this, host](const Message &message) {
                if (!message.payload.startsWith("master " + m_service + ' '))
                    return;
                m_leader = host;
                m_wake.complete(true);
            });
        return sentinel;
    }

    template <class T>
    void pass(Reply<T> reply, Request &&request)
    {
        if (!m_primary || m_state != ConnectionState::Connected)
            return reply.complete(notConnected());
        m_primary->send(std::move(request));
        reply.observe([self = std::weak_ptr(m_self)](const Result<T> &got) {
            const auto alive = self.lock();
            if (alive && isOfReplica(got))
                (*alive)->m_wake.complete(true);
        });
    }
    template <class T>
    static bool isOfReplica(const Result<T> &got)
    {
        if (!got)
            return got.error().code == ErrorCode::Server && got.error().message.contains("READONLY"_L1);
        if constexpr (std::is_same_v<T, std::vector<Value>>)
            return std::ranges::any_of(
                *got, [](const Value &answer) { return answer.isError() && answer.text.startsWith("READONLY"); });
        return false;
    }
    [[nodiscard]] Error notConnected() const
    {
        if (m_state == ConnectionState::AuthFailed)
            return {ErrorCode::AuthFailed, m_why.message, false};
        const auto why = m_why.message.isEmpty() ? u"the sentinels have not named it yet"_s : m_why.message;
        return {ErrorCode::NotConnected, u"not connected to the primary of %1: %2"_s.arg(label(m_service, 80), why),
                true, m_why.isExplained};
    }

    Task<void> keepFinding()
    {
        co_await sleepFor(loop(), Duration::zero());
        for (;;) {
            m_wake = Completion<bool>(loop());
            co_await find();
            const bool isCalm = m_state == ConnectionState::Connected;
            m_wake.completeAt(Deadline::at(loop().now() + (isCalm ? askEvery : askEveryInTrouble)), false);
            co_await m_wake;
            // However often it is woken.
            co_await sleepFor(loop(), askEveryInTrouble / 5);
        }
    }

    Task<void> find()
    {
        const auto named = co_await askSentinels();
        if (!named) {
            // A primary that answers stays: it is the sentinels that are gone.
            if (!isPrimaryWell())
                become(named.error().code == ErrorCode::AuthFailed ? ConnectionState::AuthFailed
                                                                   : ConnectionState::Connecting,
                       named.error());
            co_return;
        }
        if (!m_primary || *m_address != *named)
            take(*named);
        if (m_primary->state() != ConnectionState::Connected) {
            become(m_primary->state() == ConnectionState::AuthFailed ? ConnectionState::AuthFailed
                                                                     : ConnectionState::Connecting,
                   whyOf(*m_primary));
            co_return;
        }
        const Command question{"ROLE"};
        const auto role = co_await m_primary->command(question, Deadline::after(loop(), sentinelWithin));
        // Who may not ask is no replica for that.
        const bool isPrimary =
            role ? !role->items.empty() && role->items.front().text == "master"
                 : role.error().code == ErrorCode::NoPermission || role.error().code == ErrorCode::Server;
        if (isPrimary)
            become(ConnectionState::Connected, Error());
        else
            become(
                ConnectionState::Connecting,
                role ? Error{ErrorCode::NotConnected,
                             u"%1, which the sentinels name as the primary of %2, reports that it is a replica"_s.arg(
                                 displayHost(*named), label(m_service, 80)),
                             true, true}
                     : role.error());
    }

    [[nodiscard]] bool isPrimaryWell() const
    {
        return m_state == ConnectionState::Connected && m_primary->state() == ConnectionState::Connected;
    }

    // The one that led the last failover before those that may not have heard of it yet.
    [[nodiscard]] std::vector<std::size_t> inTurn() const
    {
        std::vector<std::size_t> turn(m_sentinels.size());
        std::iota(turn.begin(), turn.end(), std::size_t(0));
        std::ranges::stable_partition(turn, [this](std::size_t i) { return m_hosts[i] == m_leader; });
        return turn;
    }

    Task<Result<HostPort>> askSentinels()
    {
        QStringList reasons;
        bool isRefused = false, isExplained = false;
        std::size_t silent = 0;
        for (const auto i : inTurn()) {
            auto &sentinel = m_sentinels[i];
            const auto state = sentinel.connection->state();
            if (state == ConnectionState::AuthFailed && m_openers.hasPassword && !sentinel.withPassword) {
                sentinel = open(m_hosts[i], true);
                ++silent;
                continue;
            }
            if (state != ConnectionState::Connected) {
                isRefused |= state == ConnectionState::AuthFailed;
                const auto why = sentinel.connection->lastError();
                silent += why.isEmpty() ? 1 : 0;
                isExplained |= sentinel.connection->isExplained();
                if (!why.isEmpty())
                    reasons << u"sentinel "_s + why;
                continue;
            }
            const Command question{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", m_service};
            const auto answer =
                co_await sentinel.connection->command(question, Deadline::after(loop(), sentinelWithin));
            const quint16 port = answer && answer->items.size() == 2 ? answer->items[1].text.toUShort() : quint16(0);
            if (port != 0)
                co_return HostPort{QString::fromUtf8(answer->items[0].text), port};
            isExplained |= answer.operator bool();
            reasons << u"sentinel %1: %2"_s.arg(displayHost(m_hosts[i]),
                                                answer ? u"it knows no %1"_s.arg(label(m_service, 80))
                                                       : answer.error().message);
        }
        // Some only take their time.
        const auto why = silent > 0 ? QString() : reasons.join(u"; "_s);
        co_return Error{isRefused && silent == 0 ? ErrorCode::AuthFailed : ErrorCode::NotConnected, why, true,
                        isExplained};
    }

    void take(const HostPort &address)
    {
        m_state = ConnectionState::Connecting;
        m_address = address;
        m_primary = m_openers.server(address);
        m_primaryState = m_primary->onState([this](ConnectionState state) { primaryChanged(state); });
        m_topics.moveTo(*m_primary);
        notifyState(m_state);
    }
    void primaryChanged(ConnectionState state)
    {
        if (state == ConnectionState::Connected && m_state == ConnectionState::Connected) {
            notifyState(m_state); // its subscriber came back
            return;
        }
        if (state != ConnectionState::Connected && m_state == ConnectionState::Connected)
            become(ConnectionState::Connecting, whyOf(*m_primary));
        m_wake.complete(true);
    }
    static Error whyOf(const Connection &connection)
    {
        return {ErrorCode::NotConnected, connection.lastError(), true, connection.isExplained()};
    }
    void become(ConnectionState state, const Error &why)
    {
        if (state == m_state && why.message == m_why.message)
            return;
        m_state = state;
        m_why = why;
        notifyState(state);
    }

    const std::vector<HostPort> m_hosts;
    const QByteArray m_service;
    SentinelOpeners m_openers;
    ConnectionState m_state = ConnectionState::Connecting;
    Error m_why; // it is not connected; without words when it is
    MovingTopics m_topics;
    Completion<bool> m_wake;
    std::shared_ptr<SentinelConnection *> m_self; // for replies that come when it is gone
    std::vector<Sentinel> m_sentinels;
    std::optional<HostPort> m_leader; // of a failover, once one was seen
    std::optional<HostPort> m_address;
    std::unique_ptr<Connection> m_primary;
    Subscription m_primaryState;
    Scope m_work; // last, so that it goes first
};

constexpr std::chrono::seconds placeWithin(5);

class FindingConnection final : public EndPort<Connection> {
public:
    FindingConnection(Loop &loop, FindingOpeners openers, std::function<void(const ServerPlace &)> found)
        : EndPort(loop), m_openers(std::move(openers)), m_found(std::move(found)), m_inner(m_openers.server()),
          m_work(loop)
    {
        m_state = m_inner->onState([this](ConnectionState state) { innerChanged(state); });
    }

    ConnectionState state() const override
    {
        const auto state = m_inner->state();
        return state == ConnectionState::Connected && !m_isPlaced ? ConnectionState::Connecting : state;
    }
    QString lastError() const override { return m_inner->lastError(); }
    bool isExplained() const override { return m_inner->isExplained(); }
    QString missing() const override { return m_inner->missing(); }
    bool isServed(const QByteArray &key) const override { return m_inner->isServed(key); }

    void send(Request &&request) override
    {
        if (m_isPlaced)
            m_inner->send(std::move(request));
        else
            std::visit([this](const auto &asked) { asked.reply.complete(notYet()); }, request);
    }
    Subscription subscribe(QByteArray channel, std::function<void(const Message &)> listener) override
    {
        return m_topics.add({channel, false, std::move(listener), {}}, m_isPlaced ? m_inner.get() : nullptr);
    }
    Subscription subscribePattern(QByteArray pattern, std::function<void(const Message &)> listener) override
    {
        return m_topics.add({pattern, true, std::move(listener), {}}, m_isPlaced ? m_inner.get() : nullptr);
    }

private:
    [[nodiscard]] Error notYet() const
    {
        const auto why = lastError().isEmpty() ? u"the connection is not open yet"_s : lastError();
        const bool isRefused = m_inner->state() == ConnectionState::AuthFailed;
        return {isRefused ? ErrorCode::AuthFailed : ErrorCode::NotConnected, u"not connected to Redis: %1"_s.arg(why),
                !isRefused, isExplained()};
    }

    void innerChanged(ConnectionState state)
    {
        const bool isAsked = state == ConnectionState::Connected && !m_isCluster && !m_isAsking;
        if (isAsked && !m_wasConnected)
            m_work.launch(findPlace());
        m_wasConnected = state == ConnectionState::Connected;
        // Until it is known what the server is, only trouble is told.
        if (m_isPlaced || state != ConnectionState::Connected)
            notifyState(this->state());
    }

    Task<void> findPlace()
    {
        m_isAsking = true;
        std::vector<Command> questions;
        questions.push_back(Command{"INFO", "cluster"});
        questions.push_back(Command{"ROLE"});
        const auto answers = co_await m_inner->pipeline(std::move(questions), Deadline::after(loop(), placeWithin));
        m_isAsking = false;
        if (answers)
            take(placeOf(answers->front(), answers->back()));
        else if (m_inner->state() == ConnectionState::Connected)
            take({}); // it is slow: looked at for what it was called
    }
    void take(const ServerPlace &place)
    {
        const bool isFirst = !std::exchange(m_isPlaced, true);
        m_found(place);
        if (isFirst && place.isInCluster) {
            m_isCluster = true;
            m_inner = m_openers.cluster();
            m_state = m_inner->onState([this](ConnectionState state) { innerChanged(state); });
        }
        if (isFirst)
            m_topics.moveTo(*m_inner);
        if (isFirst && !m_isCluster)
            notifyState(state());
    }

    FindingOpeners m_openers;
    std::function<void(const ServerPlace &)> m_found;
    MovingTopics m_topics;
    bool m_isPlaced = false;
    bool m_isCluster = false;
    bool m_isAsking = false;
    bool m_wasConnected = false;
    std::unique_ptr<Connection> m_inner;
    Subscription m_state;
    Scope m_work; // last, so that it goes first
};

} // namespace

std::unique_ptr<Connection> openBySentinels(Loop &loop, std::vector<HostPort> sentinels, QByteArray service,
                                            SentinelOpeners openers)
{
    return std::make_unique<SentinelConnection>(loop, std::move(sentinels), std::move(service), std::move(openers));
}

std::unique_ptr<Connection> openBySentinels(Loop &loop, std::vector<HostPort> sentinels, QByteArray service,
                                            const ConnectionOptions &options)
{
    SentinelOpeners openers;
    openers.hasPassword = !options.password.isEmpty() || options.passwords;
    openers.server = [&loop, options](const HostPort &host) {
        auto own = options;
        own.host = host;
        return openConnection(loop, own);
    };
    openers.sentinel = [&loop, options](const HostPort &host, bool withPassword) {
        auto own = options;
        own.host = host;
        own.database = 0;
        if (!withPassword) {
            own.user.clear();
            own.password.clear();
            own.passwords.reset();
        }
        return openConnection(loop, own);
    };
    return openBySentinels(loop, std::move(sentinels), std::move(service), std::move(openers));
}

ServerPlace placeOf(const Value &info, const Value &role)
{
    ServerPlace place;
    place.isInCluster = !info.isError() && info.text.contains("cluster_enabled:1");
    const auto &items = role.items;
    if (!role.isError() && items.size() >= 3 && items[0].text == "slave")
        place.replicaOf = label(items[1].text, 80) + u':' + QString::number(items[2].integer);
    return place;
}

std::unique_ptr<Connection> openFinding(Loop &loop, FindingOpeners openers,
                                        std::function<void(const ServerPlace &)> found)
{
    return std::make_unique<FindingConnection>(loop, std::move(openers), std::move(found));
}

std::unique_ptr<Connection> openFinding(Loop &loop, const ConnectionOptions &options,
                                        std::function<void(const ServerPlace &)> found)
{
    FindingOpeners openers;
    openers.server = [&loop, options] { return openConnection(loop, options); };
    openers.cluster = [&loop, options] { return openCluster(loop, {options.host}, options); };
    return openFinding(loop, std::move(openers), std::move(found));
}

} // namespace lockscope::redis
