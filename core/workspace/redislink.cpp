// SPDX-License-Identifier: Apache-2.0
// A Redis connection: client, gate, observer. The client reconnects by itself. Of one Redis, of a cluster, and of the
// primary that sentinels name: to all that stands on it these are the same.
#include "core/workspace/redislink.h"

#include "core/inspect/redis/observer.h"
#include "core/inspect/redis/rights.h"
#include "core/operate/redisedit.h"
#include "core/operate/redisrelease.h"
#include "core/redis/deployments.h"

namespace lockscope {

using namespace Qt::StringLiterals;

namespace {

class RedisLink : public RedisLinkBase {
public:
    RedisLink(ConnectionSpec spec, LinkContext context) : RedisLinkBase(std::move(spec), std::move(context))
    {
        m_connection = open();
        m_gated = operate::gated(*m_connection, m_gate);
        m_observer = std::make_unique<inspect::RedisObserver>(*m_gated, m_spec.name, m_context.options.observer,
                                                              m_proxy, m_spec.database);
        m_state = m_connection->onState([this](redis::ConnectionState state) { stateChanged(state); });
        if (m_spec.scheme == Scheme::RedisCluster)
            m_proxy.describe(u"Redis Cluster"_s);
        if (m_spec.scheme == Scheme::RedisSentinel)
            m_proxy.describe(u"the primary that the sentinels name"_s);
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
            return refused(m_connection->lastError(), m_connection->isExplained());
        return notConnected(m_connection->lastError(), m_connection->isExplained());
    }
    [[nodiscard]] std::vector<redis::Connection *> nodes() override { return {m_gated.get()}; }
    [[nodiscard]] inspect::Observer &observer() override { return *m_observer; }
    [[nodiscard]] QString remark() const override { return m_remark; }

private:
    [[nodiscard]] bool isCluster() const override { return m_isCluster || RedisLinkBase::isCluster(); }
    [[nodiscard]] bool isReplica() const override { return m_isReplica; }

    [[nodiscard]] std::unique_ptr<redis::Connection> open()
    {
        const auto &host = m_spec.hosts.front();
        if (schemeInfoOf(m_spec.scheme)->isOneDeployment)
            return openTo(host);
        return redis::openFinding(m_context.loop, connectionOptions(host),
                                  [this](const redis::ServerPlace &place) { found(place); });
    }
    void found(const redis::ServerPlace &place)
    {
        m_isCluster = place.isInCluster;
        m_isReplica = !m_isCluster && !place.replicaOf.isEmpty();
        m_remark.clear();
        if (m_isCluster)
            m_remark = u"this is a node of a Redis Cluster: the whole cluster is looked at"_s;
        else if (m_isReplica)
            m_remark = u"this is a replica of %1: it shows what has reached it, which may be late, and takes no "
                       u"writes"_s.arg(place.replicaOf);
        m_proxy.describe(m_isCluster ? u"Redis Cluster"_s : QString());
        m_proxy.addGap(m_isCluster ? QString() : m_remark);
        if (!m_remark.isEmpty())
            m_gate.event(m_remark);
    }
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
    QString m_remark;
    bool m_isCluster = false;
    bool m_isReplica = false;
    bool m_started = false;
};

} // namespace

std::unique_ptr<redis::Connection> RedisLinkBase::openTo(const HostPort &host) const
{
    auto &loop = m_context.loop;
    const auto options = connectionOptions(host);
    if (isCluster())
        return redis::openCluster(loop, m_spec.hosts, options);
    if (m_spec.scheme == Scheme::RedisSentinel)
        return redis::openBySentinels(loop, m_spec.hosts, m_spec.service.toUtf8(), options);
    return redis::openConnection(loop, options);
}

redis::ConnectionOptions RedisLinkBase::connectionOptions(const HostPort &host) const
{
    redis::ConnectionOptions options;
    options.host = host;
    if (m_spec.transport.ssh.isOn())
        options.door = [passage = m_passage](const HostPort &server) { return passage->through(server); };
    options.tls = m_spec.transport.tls;
    options.user = m_spec.user.toUtf8();
    options.password = m_password.toUtf8();
    options.database = m_spec.database;
    return options;
}

Task<QStringList> RedisLinkBase::rights(Deadline deadline)
{
    const auto all = nodes();
    auto looking = inspect::redisServer(all.front(), deadline);
    m_server = co_await looking;
    auto asking = inspect::redisRights(all.front(), !isReplica(), deadline);
    auto said = co_await asking;
    if (all.size() > 1)
        said << u"asked of the first of %1 nodes"_s.arg(all.size());
    co_return said;
}

std::vector<RedisLinkBase::OwnConnection> RedisLinkBase::openConnections()
{
    std::vector<OwnConnection> connections;
    const bool isSet = areNodesApart(m_spec.scheme);
    for (const auto &host : isSet ? m_spec.hosts : std::vector{m_spec.hosts.front()}) {
        auto &one = connections.emplace_back();
        one.client = openTo(host);
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
    if (spec.hosts.size() > 1 && areNodesApart(spec.scheme))
        return makeRedisSetLink(std::move(spec), std::move(context));
    return std::unique_ptr<LinkBase>(std::make_unique<RedisLink>(std::move(spec), std::move(context)));
}

} // namespace lockscope
