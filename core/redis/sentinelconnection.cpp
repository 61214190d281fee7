// SPDX-License-Identifier: Apache-2.0
#include "core/redis/deployments.h"

#include "core/async/sleep.h"
#include "core/base/text.h"

#include <algorithm>
#include <numeric>

namespace lockscope::redis {

namespace {

constexpr auto sentinelWithin = 2s;
constexpr Duration askEvery = 10s;
constexpr Duration askEveryInTrouble = 250ms;

// A listener, wherever its primary is.
struct MovingTopic {
    QByteArray name;
    bool isPattern;
    std::function<void(const Message &)> listener;
    Subscription on;
};

bool saysIsReplica(const Value &answer)
{
    return answer.isError() && answer.text.startsWith("READONLY");
}

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
        return add({channel, false, std::move(listener), {}});
    }
    Subscription subscribePattern(QByteArray pattern, std::function<void(const Message &)> listener) override
    {
        return add({pattern, true, std::move(listener), {}});
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
            return std::ranges::any_of(*got, saysIsReplica);
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

    Subscription add(MovingTopic topic)
    {
        auto kept = std::make_shared<MovingTopic>(std::move(topic));
        std::erase_if(m_topics, [](const auto &one) { return one.expired(); });
        m_topics.push_back(kept);
        place(kept);
        return Subscription(std::move(kept));
    }
    void place(const std::shared_ptr<MovingTopic> &topic)
    {
        if (!m_primary)
            return;
        const auto heard = [weak = std::weak_ptr(topic)](const Message &message) {
            if (const auto alive = weak.lock())
                alive->listener(message);
        };
        topic->on = topic->isPattern ? m_primary->subscribePattern(topic->name, heard)
                                     : m_primary->subscribe(topic->name, heard);
    }

    Task<void> keepFinding()
    {
        auto begin = sleepFor(loop(), Duration::zero());
        co_await begin;
        for (;;) {
            m_wake = Completion<bool>(loop());
            co_await find();
            const bool isCalm = m_state == ConnectionState::Connected;
            m_wake.completeAt(Deadline::at(loop().now() + (isCalm ? askEvery : askEveryInTrouble)), false);
            auto wake = m_wake;
            co_await wake;
            // However often it is woken.
            auto breath = sleepFor(loop(), askEveryInTrouble / 5);
            co_await breath;
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
        auto asking = m_primary->command(question, Deadline::after(loop(), sentinelWithin));
        const auto role = co_await asking;
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
            auto asking = sentinel.connection->command(question, Deadline::after(loop(), sentinelWithin));
            const auto answer = co_await asking;
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
        for (const auto &one : m_topics) {
            if (const auto topic = one.lock())
                place(topic);
        }
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
    std::vector<std::weak_ptr<MovingTopic>> m_topics;
    Completion<bool> m_wake;
    std::shared_ptr<SentinelConnection *> m_self; // for replies that come when it is gone
    std::vector<Sentinel> m_sentinels;
    std::optional<HostPort> m_leader; // of a failover, once one was seen
    std::optional<HostPort> m_address;
    std::unique_ptr<Connection> m_primary;
    Subscription m_primaryState;
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
    openers.hasPassword = !options.password.isEmpty();
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
        }
        return openConnection(loop, own);
    };
    return openBySentinels(loop, std::move(sentinels), std::move(service), std::move(openers));
}

} // namespace lockscope::redis
