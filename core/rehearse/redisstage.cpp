// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/rehearse/stage.h"

#include "core/contention/redisaccess.h"
#include "core/operate/redis.h"

namespace lockscope::rehearse {

namespace {

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

} // namespace

std::unique_ptr<Stage> makeRedisStage(const StageContext &context)
{
    return std::make_unique<RedisStage>(context);
}

} // namespace lockscope::rehearse
