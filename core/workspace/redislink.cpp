// SPDX-License-Identifier: Apache-2.0
// A Redis connection: client, gate, observer. The client reconnects by itself.
#include "core/workspace/redislink.h"

#include "core/inspect/redis/observer.h"
#include "core/operate/redisedit.h"
#include "core/operate/redisrelease.h"

namespace lockscope {

using namespace Qt::StringLiterals;

namespace {

class RedisLink : public RedisLinkBase {
public:
    RedisLink(ConnectionSpec spec, LinkContext context) : RedisLinkBase(std::move(spec), std::move(context))
    {
        m_connection = redis::openConnection(m_context.loop, connectionOptions(m_spec.hosts.front()));
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
        const auto why = reason(m_connection->lastError());
        if (m_connection->state() == redis::ConnectionState::AuthFailed)
            return Error{ErrorCode::AuthFailed,
                         u"%1 refused the credentials: %2"_s.arg(m_spec.displayUri(), m_connection->lastError())};
        return Error{ErrorCode::NotConnected, u"could not connect to %1: %2"_s.arg(m_spec.displayUri(), why), true};
    }
    [[nodiscard]] std::vector<redis::Connection *> nodes() override { return {m_gated.get()}; }
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

redis::ConnectionOptions RedisLinkBase::connectionOptions(const HostPort &host) const
{
    redis::ConnectionOptions options;
    options.host = host;
    if (const auto door = m_passage->through(host); !(door == host))
        options.via = door;
    options.tls = m_spec.transport.tls;
    options.keep = m_passage;
    options.user = m_spec.user.toUtf8();
    options.password = m_password.toUtf8();
    options.database = m_spec.database;
    return options;
}

std::vector<RedisLinkBase::OwnConnection> RedisLinkBase::openConnections()
{
    std::vector<OwnConnection> connections;
    for (const auto &host : m_spec.hosts) {
        auto &one = connections.emplace_back();
        one.client = redis::openConnection(m_context.loop, connectionOptions(host));
        one.gated = operate::gated(*one.client, m_gate, nameOf(host));
    }
    return connections;
}

std::unique_ptr<OwnContender> RedisLinkBase::openContender(const HoldRequest &request)
{
    return makeRedisContender(nodes(), request);
}

std::unique_ptr<ContenderPool> RedisLinkBase::openPool(const ContenderPoolContext &context)
{
    return makeRedisPool(*this, context);
}

Task<Result<operate::Sent>> RedisLinkBase::sendRelease(operate::ForceReleasePlan plan, Deadline deadline)
{
    return operate::sendRelease(std::move(plan), nodes(), deadline);
}

Task<Result<operate::EditState>> RedisLinkBase::readForEdit(operate::EditRequest request, Deadline deadline)
{
    return nodes().size() == 1 ? operate::readForEdit(std::move(request), nodes().front(), deadline)
                               : Link::readForEdit(std::move(request), deadline);
}

Task<Result<operate::EditSent>> RedisLinkBase::sendEdit(operate::EditPlan plan, Deadline deadline)
{
    return nodes().size() == 1 ? operate::sendEdit(std::move(plan), nodes().front(), deadline)
                               : Link::sendEdit(std::move(plan), deadline);
}

// Of a set, a node that is gone is not waited for.
bool RedisLinkBase::isCleaningUp()
{
    const auto all = nodes();
    return std::ranges::any_of(all, [&all](redis::Connection *node) {
        return !node->background().isIdle()
               && (all.size() == 1 || node->state() == redis::ConnectionState::Connected);
    });
}

std::vector<redis::Connection *> redisNodesOf(Link *link)
{
    auto *redis = dynamic_cast<RedisLinkBase *>(link);
    return redis ? redis->nodes() : std::vector<redis::Connection *>();
}

Result<std::unique_ptr<LinkBase>> makeRedisLink(ConnectionSpec spec, LinkContext context)
{
    if (spec.hosts.size() > 1)
        return makeRedisSetLink(std::move(spec), std::move(context));
    return std::unique_ptr<LinkBase>(std::make_unique<RedisLink>(std::move(spec), std::move(context)));
}

} // namespace lockscope
