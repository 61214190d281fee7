// SPDX-License-Identifier: Apache-2.0
// The simulated servers of each backend in a rehearsal, each in the state of a lock, with its release.
#include "core/rehearse/stage.h"

#include "core/base/text.h"
#include "core/contention/access.h"
#include "core/inspect/etcd/recognise.h"
#include "core/operate/etcd.h"
#include "core/operate/redis.h"
#include "core/operate/zookeeper.h"

namespace lockscope::rehearse {

namespace {

class EtcdStage final : public Stage {
public:
    explicit EtcdStage(const StageContext &context)
        : m_context(context), m_server(context.world), m_operator(context.world, operatorProcess(context.scenario)),
          m_client(sim::openEtcd(m_operator, m_server, context.network))
    {
    }
    ~EtcdStage() override { m_operator.kill(); }

    [[nodiscard]] std::unique_ptr<contention::ContenderAccess> open(sim::Process &process, int contender) override
    {
        return m_clients.open(process, contender, m_server, m_context.network, m_context.scenario, m_context.trace,
                              lockPlayed());
    }

    [[nodiscard]] Task<Result<operate::Sent>> release(operate::ForceReleasePlan plan, int /*contender*/,
                                                      recipes::Grant grant) override
    {
        const auto at = grant.id.indexOf('@');
        const auto key = lockPlayed() + '/' + grant.id.left(at);
        const auto entry = m_server.entries().find(key);
        if (entry == m_server.entries().end())
            co_return operate::goneAlready(plan);
        plan.guard =
            inspect::EtcdIdentity{.key = key, .createRevision = entry->second.created, .lease = entry->second.lease};
        const auto deadline = Deadline::after(m_context.world, std::chrono::seconds(5));
        auto sent = co_await operate::sendRelease(plan, m_client.get(), deadline);
        co_return sent;
    }

private:
    [[nodiscard]] QByteArray lockPlayed() const
    {
        const auto &name = m_context.plan.before.lock.name;
        return inspect::keyOfFixed(name).value_or(name);
    }

    const StageContext m_context;
    sim::EtcdServer m_server;
    contention::EtcdClients m_clients;
    sim::Process m_operator;
    std::unique_ptr<etcd::Client> m_client;
};

// Here a lock may be a row, too, that says until when it is taken; released, its time is ended
// (core/operate/sql.h).
class MariaDbStage final : public SqlStage {
public:
    explicit MariaDbStage(const StageContext &context) : SqlStage(context, contention::openMariaDbAccess)
    {
        m_server.leasedRows().addTable(contention::simulatedLeases);
        contention::addMarkedRows(m_server);
    }

protected:
    bool endHold(int contender) override
    {
        if (contention::takesLeasedRow(m_context.scenario.recipe))
            return m_server.leasedRows().end({contention::simulatedLeases, contention::simulatedName});
        if (contention::takesMarkedRow(m_context.scenario.recipe))
            return m_server.markedRows().end(contention::markedRowOf(m_context.scenario.recipe));
        return SqlStage::endHold(contender);
    }
};

class RedisStage final : public Stage {
public:
    explicit RedisStage(const StageContext &context)
        : m_context(context), m_operator(context.world, operatorProcess(context.scenario))
    {
        // A lock that each node keeps by itself is played on one: what happens on it happens on the others.
        const bool isOfSet = recipes::recipeOf(context.plan.before.recipe).quorum;
        const auto nodes = isOfSet ? std::max<std::size_t>(1, context.plan.before.nodes.size()) : 1;
        for (std::size_t i = 0; i < nodes; ++i)
            m_servers.push_back(std::make_unique<sim::RedisServer>(context.network, static_cast<int>(i)));
        for (const auto &server : m_servers)
            m_connections.push_back(sim::openRedis(m_operator, *server));
    }
    ~RedisStage() override { m_operator.kill(); }

    [[nodiscard]] std::unique_ptr<contention::ContenderAccess> open(sim::Process &process, int contender) override
    {
        return m_clients.open(process, contender, m_servers, m_context.scenario, m_context.trace,
                              RedisKey(m_context.plan.before.lock.name));
    }

    [[nodiscard]] Task<Result<operate::Sent>> release(operate::ForceReleasePlan plan, int /*contender*/,
                                                      recipes::Grant grant) override
    {
        if (!recipes::recipeOf(plan.before.recipe).quorum) {
            plan.shares.clear();
            plan.before.nodes.clear();
        }
        setGuard(plan, grant);
        const auto nodes = mapped<std::vector<redis::Connection *>>(
            m_connections, [&](const auto &connection) { return connection.get(); });
        const auto deadline = Deadline::after(m_context.world, std::chrono::seconds(5));
        auto sent = co_await operate::sendRelease(plan, nodes, deadline);
        co_return sent;
    }

private:
    // By what the hold is known on these servers.
    void setGuard(operate::ForceReleasePlan &plan, const recipes::Grant &grant)
    {
        const auto key = plan.before.lock.name;
        auto &guard = plan.guard.edit<inspect::RedisIdentity>();
        auto &server = *m_servers.front();
        switch (recipes::recipeOf(m_context.scenario.recipe).shape) {
        case recipes::Shape::Key:
            guard.value = server.execute({"GET", key}).text;
            if (guard.expiryMs)
                guard.expiryMs = server.execute({"PEXPIRETIME", key}).integer;
            break;
        case recipes::Shape::Counter: guard.value = QByteArray::fromHex(grant.id); break;
        default: guard.value = grant.id; break;
        }
    }

    const StageContext m_context;
    contention::RedisServerList m_servers;
    contention::RedisClients m_clients;
    sim::Process m_operator;
    std::vector<std::unique_ptr<redis::Connection>> m_connections;
};

namespace keeper = sim::zookeeper;

class ZooKeeperStage final : public Stage {
public:
    explicit ZooKeeperStage(const StageContext &context)
        : m_context(context), m_ensemble(context.network, {}),
          m_operator(context.world, operatorProcess(context.scenario)),
          m_session(keeper::openSession(m_operator, m_ensemble, {}))
    {
    }
    ~ZooKeeperStage() override { m_operator.kill(); }

    [[nodiscard]] std::unique_ptr<contention::ContenderAccess> open(sim::Process &process, int contender) override
    {
        auto &shared = m_sessions[process.number()];
        auto session = shared.lock();
        if (!session) {
            keeper::SessionOptions options;
            options.random = Random(static_cast<quint64>(contender) + 1);
            session = keeper::openSession(process, m_ensemble, std::move(options));
            shared = session;
        }
        const std::vector paths{ZPath(m_context.plan.before.lock.name)};
        return std::make_unique<contention::ZooKeeperAccess>(std::move(session), m_context.scenario, m_context.trace,
                                                             contender,
                                                             std::make_shared<const std::vector<ZPath>>(paths));
    }

    [[nodiscard]] Task<Result<operate::Sent>> release(operate::ForceReleasePlan plan, int /*contender*/,
                                                      recipes::Grant grant) override
    {
        const auto node = m_ensemble.node(grant.node);
        if (!node)
            co_return operate::goneAlready(plan);
        plan.guard = inspect::ZnodeIdentity{.path = grant.node.bytes(),
                                            .czxid = node->stat.czxid,
                                            .owner = node->stat.ephemeralOwner.value,
                                            .version = node->stat.version};
        const auto deadline = Deadline::after(m_context.world, std::chrono::seconds(5));
        auto sent = co_await operate::sendRelease(plan, m_session.get(), deadline);
        co_return sent;
    }

private:
    const StageContext m_context;
    keeper::Ensemble m_ensemble;
    std::map<int, std::weak_ptr<zk::Session>> m_sessions; // by process
    sim::Process m_operator;
    std::unique_ptr<zk::Session> m_session;
};

} // namespace

std::unique_ptr<Stage> makeEtcdStage(const StageContext &context)
{
    return std::make_unique<EtcdStage>(context);
}

std::unique_ptr<Stage> makeMariaDbStage(const StageContext &context)
{
    return std::make_unique<MariaDbStage>(context);
}

std::unique_ptr<Stage> makePostgreSqlStage(const StageContext &context)
{
    return std::make_unique<SqlStage>(context, contention::openPostgreSqlAccess, sim::postgreSqlRules);
}

std::unique_ptr<Stage> makeRedisStage(const StageContext &context)
{
    return std::make_unique<RedisStage>(context);
}

std::unique_ptr<Stage> makeZooKeeperStage(const StageContext &context)
{
    return std::make_unique<ZooKeeperStage>(context);
}

} // namespace lockscope::rehearse
