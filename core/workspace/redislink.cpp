// SPDX-License-Identifier: Apache-2.0
// A Redis connection: client, gate, observer. The client reconnects by itself.
#include "core/inspect/redis/observer.h"
#include "core/redis/client.h"
#include "core/workspace/linkbase.h"

namespace lockscope {

using namespace Qt::StringLiterals;

namespace {

class RedisLink : public LinkBase {
public:
    RedisLink(ConnectionSpec spec, LinkContext context) : LinkBase(std::move(spec), std::move(context))
    {
        m_connection = redis::openConnection(m_context.loop, redisOptions(m_spec.hosts.front()));
        m_gated = operate::gated(*m_connection, m_gate);
        m_observer =
            std::make_unique<inspect::RedisObserver>(*m_gated, m_spec.name, m_context.options.observer, m_proxy);
        m_state = m_connection->onState([this](redis::ConnectionState state) { stateChanged(state); });
    }

    [[nodiscard]] bool isConnected() const override
    {
        return m_connection->state() == redis::ConnectionState::Connected;
    }
    [[nodiscard]] std::optional<Error> problem() const override
    {
        if (isConnected() || m_connection->lastError().isEmpty())
            return std::nullopt;
        if (m_connection->state() == redis::ConnectionState::AuthFailed)
            return Error{ErrorCode::AuthFailed,
                         u"%1 refused the credentials: %2"_s.arg(m_spec.displayUri(), m_connection->lastError())};
        return Error{ErrorCode::NotConnected,
                     u"could not connect to %1: %2"_s.arg(m_spec.displayUri(), m_connection->lastError()), true};
    }
    [[nodiscard]] redis::Connection *redis() override { return m_gated.get(); }
    [[nodiscard]] std::vector<redis::Connection *> redisNodes() override { return {m_gated.get()}; }
    [[nodiscard]] std::vector<ContenderConnection> openContenderConnections() override
    {
        std::vector<ContenderConnection> connections;
        connections.push_back(openContenderConnection(m_spec.hosts.front(), {}));
        return connections;
    }
    [[nodiscard]] inspect::Observer &observer() override { return *m_observer; }

private:
    void stateChanged(redis::ConnectionState state)
    {
        if (state == redis::ConnectionState::Connected && !m_started && m_context.options.observe) {
            m_started = true;
            m_observer->firstSnapshot().then([this](bool) { m_proxy.firstSnapshotComplete(); });
            m_observer->start();
        }
        m_context.changed(*this);
    }

    std::unique_ptr<redis::Connection> m_connection;
    std::unique_ptr<redis::Connection> m_gated;
    std::unique_ptr<inspect::RedisObserver> m_observer;
    Subscription m_state;
    bool m_started = false;
};

} // namespace

std::unique_ptr<LinkBase> makeRedisLink(ConnectionSpec spec, LinkContext context)
{
    return std::make_unique<RedisLink>(std::move(spec), std::move(context));
}

} // namespace lockscope
