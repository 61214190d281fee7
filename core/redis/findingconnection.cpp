// SPDX-License-Identifier: Apache-2.0
#include "core/redis/deployments.h"

#include "core/base/text.h"

namespace lockscope::redis {

namespace {

constexpr std::chrono::seconds placeWithin(5);

// One that was asked for before it was known where.
struct EarlyTopic {
    QByteArray name;
    bool isPattern;
    std::function<void(const Message &)> listener;
    Subscription on;
};

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
        return m_isPlaced ? m_inner->subscribe(std::move(channel), std::move(listener))
                          : early({channel, false, std::move(listener), {}});
    }
    Subscription subscribePattern(QByteArray pattern, std::function<void(const Message &)> listener) override
    {
        return m_isPlaced ? m_inner->subscribePattern(std::move(pattern), std::move(listener))
                          : early({pattern, true, std::move(listener), {}});
    }

private:
    [[nodiscard]] Error notYet() const
    {
        const auto why = lastError().isEmpty() ? u"the connection is not open yet"_s : lastError();
        const bool isRefused = m_inner->state() == ConnectionState::AuthFailed;
        return {isRefused ? ErrorCode::AuthFailed : ErrorCode::NotConnected, u"not connected to Redis: %1"_s.arg(why),
                !isRefused, isExplained()};
    }

    Subscription early(EarlyTopic topic)
    {
        auto kept = std::make_shared<EarlyTopic>(std::move(topic));
        m_early.push_back(kept);
        return Subscription(std::move(kept));
    }
    void placeEarly()
    {
        for (const auto &one : std::exchange(m_early, {})) {
            const auto topic = one.lock();
            if (!topic)
                continue;
            topic->on = topic->isPattern ? m_inner->subscribePattern(topic->name, topic->listener)
                                         : m_inner->subscribe(topic->name, topic->listener);
        }
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
        auto asking = m_inner->pipeline(std::move(questions), Deadline::after(loop(), placeWithin));
        const auto answers = co_await asking;
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
            placeEarly();
        if (isFirst && !m_isCluster)
            notifyState(state());
    }

    FindingOpeners m_openers;
    std::function<void(const ServerPlace &)> m_found;
    std::vector<std::weak_ptr<EarlyTopic>> m_early;
    bool m_isPlaced = false;
    bool m_isCluster = false;
    bool m_isAsking = false;
    bool m_wasConnected = false;
    std::unique_ptr<Connection> m_inner;
    Subscription m_state;
    Scope m_work; // last, so that it goes first
};

} // namespace

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
