// SPDX-License-Identifier: Apache-2.0
// A Redlock set: independent Redis nodes, each with a client of its own, all behind one gate. Connected
// when a majority is, and the others had a moment to say what is the matter with them.
#include "core/base/text.h"
#include "core/inspect/redis/setobserver.h"
#include "core/rules/turn.h"
#include "core/workspace/redislink.h"

namespace lockscope {

namespace {

// A mute node neither connects nor fails.
constexpr std::chrono::seconds settlingTime(1);

class RedisSetLink : public RedisLinkBase {
public:
    RedisSetLink(ConnectionSpec spec, LinkContext context) : RedisLinkBase(std::move(spec), std::move(context))
    {
        std::vector<inspect::RedisSetObserver::Node> observed;
        for (const auto &host : m_spec.hosts) {
            Node node;
            node.name = displayHost(host);
            node.client = redis::openConnection(m_context.loop, connectionOptions(host));
            node.gated = operate::gated(*node.client, m_gate, node.name);
            node.state = node.client->onState([this](redis::ConnectionState) { stateChanged(isConnected()); });
            observed.push_back({node.name, node.gated.get(), m_spec.database});
            m_nodes.push_back(std::move(node));
        }
        m_observer = std::make_unique<inspect::RedisSetObserver>(std::move(observed), m_spec.name,
                                                                 m_context.options.observer, m_proxy);
        m_settling = m_context.loop.callAt(m_context.loop.now() + settlingTime, [this] {
            m_settled = true;
            stateChanged(isConnected());
        });
    }

    [[nodiscard]] bool isConnected() const override
    {
        return connected() >= quorum() && (m_settled || connected() + failed() == size());
    }
    [[nodiscard]] std::optional<Error> problem() const override
    {
        if (isConnected() || failed() <= size() - quorum())
            return std::nullopt;
        int refused = 0;
        bool isExplained = false;
        QStringList reasons;
        for (const auto &node : m_nodes) {
            if (!hasFailed(node))
                continue;
            refused += node.client->state() == redis::ConnectionState::AuthFailed ? 1 : 0;
            isExplained |= node.client->isExplained();
            reasons << u"%1: %2"_s.arg(node.name, reason(node.client->lastError()));
        }
        const auto text = u"%1: %2 of %3 nodes can be reached, and it takes %4: %5"_s.arg(
            m_spec.displayUri(), QString::number(size() - failed()), QString::number(size()),
            QString::number(quorum()), reasons.join(u"; "_s));
        if (refused > size() - quorum())
            return Error{ErrorCode::AuthFailed, text};
        return Error{ErrorCode::NotConnected, text, true, isExplained};
    }
    [[nodiscard]] std::vector<redis::Connection *> nodes() override
    {
        return mapped<std::vector<redis::Connection *>>(m_nodes, [&](const auto &node) { return node.gated.get(); });
    }
    [[nodiscard]] inspect::Observer &observer() override { return *m_observer; }

private:
    [[nodiscard]] QString nameOf(const HostPort &host) const override { return displayHost(host); }

    struct Node {
        QString name;
        std::unique_ptr<redis::Connection> client;
        std::unique_ptr<redis::Connection> gated;
        Subscription state;
    };

    [[nodiscard]] int size() const { return static_cast<int>(m_nodes.size()); }
    [[nodiscard]] int quorum() const { return recipes::quorumOf(size()); }
    [[nodiscard]] static bool hasFailed(const Node &node)
    {
        return node.client->state() != redis::ConnectionState::Connected && !node.client->lastError().isEmpty();
    }
    [[nodiscard]] int failed() const { return static_cast<int>(std::ranges::count_if(m_nodes, hasFailed)); }
    [[nodiscard]] int connected() const
    {
        return static_cast<int>(std::ranges::count_if(
            m_nodes, [](const Node &node) { return node.client->state() == redis::ConnectionState::Connected; }));
    }

    std::vector<Node> m_nodes;
    std::unique_ptr<inspect::RedisSetObserver> m_observer;
    Timer m_settling;
    bool m_settled = false;
};

} // namespace

std::unique_ptr<LinkBase> makeRedisSetLink(ConnectionSpec spec, LinkContext context)
{
    return std::make_unique<RedisSetLink>(std::move(spec), std::move(context));
}

} // namespace lockscope
