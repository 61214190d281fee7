// SPDX-License-Identifier: Apache-2.0
#include "core/rehearse/stage.h"

#include "core/contention/traced/tracedconnection.h"
#include "core/operate/redisrelease.h"
#include "core/recipes/make.h"
#include "core/world/redis/connection.h"

namespace lockscope::rehearse {

namespace {

using Connections = std::vector<std::unique_ptr<redis::Connection>>;

// What the contenders of one process share: a connection to each server, and its subscriptions.
struct RedisClient {
    Connections connections;
    std::vector<std::unique_ptr<contention::TracedConnection>> traced;
};

class RehearsedRedis final : public contention::ContenderAccess {
public:
    RehearsedRedis(std::shared_ptr<RedisClient> client, const StageContext &context)
        : m_recipe(context.recipe), m_key(context.plan.before.lock.name), m_limit(context.limit),
          m_client(std::move(client))
    {
    }
    [[nodiscard]] bool isReady() const override
    {
        return std::ranges::all_of(m_client->connections,
                                   [](const auto &one) { return one->state() == redis::ConnectionState::Connected; });
    }
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(bool reads, Random random) override
    {
        recipes::AcquireOptions options;
        options.readMode = reads;
        options.limit = m_limit;
        if (!recipes::recipeOf(m_recipe).quorum)
            return recipes::makeLock(m_recipe, *m_client->traced.front(), m_key, options, std::move(random));
        std::vector<redis::Connection *> nodes;
        for (const auto &node : m_client->traced)
            nodes.push_back(node.get());
        return recipes::makeLock(m_recipe, nodes, m_key, options, std::move(random));
    }

private:
    const QByteArray m_recipe;
    const RedisKey m_key;
    const int m_limit;
    std::shared_ptr<RedisClient> m_client;
};

class RedisStage final : public Stage {
public:
    explicit RedisStage(const StageContext &context) : m_context(context), m_operator(context.world, operatorProcess)
    {
        const auto nodes = std::max<std::size_t>(1, context.plan.before.nodes.size());
        for (std::size_t i = 0; i < nodes; ++i)
            m_servers.push_back(std::make_unique<world::RedisServer>(context.network, static_cast<int>(i)));
        for (const auto &server : m_servers)
            m_connections.push_back(world::openRedis(m_operator, *server));
    }
    ~RedisStage() override { m_operator.kill(); }

    [[nodiscard]] std::unique_ptr<contention::ContenderAccess> open(world::Process &process, int contender) override
    {
        auto &shared = m_clients[process.number()];
        auto client = shared.lock();
        if (!client) {
            client = std::make_shared<RedisClient>();
            for (const auto &server : m_servers) {
                client->connections.push_back(world::openRedis(process, *server));
                client->traced.push_back(std::make_unique<contention::TracedConnection>(*client->connections.back(),
                                                                                        m_context.trace, contender));
            }
            shared = client;
        }
        return std::make_unique<RehearsedRedis>(std::move(client), m_context);
    }

    [[nodiscard]] Task<Result<operate::Sent>> release(operate::ForceReleasePlan plan, int /*contender*/,
                                                      recipes::Grant grant) override
    {
        setGuard(plan, grant);
        std::vector<redis::Connection *> nodes;
        for (const auto &connection : m_connections)
            nodes.push_back(connection.get());
        const auto deadline = Deadline::after(m_context.world, std::chrono::seconds(5));
        auto sent = co_await operate::sendRelease(plan, nodes, deadline);
        co_return sent;
    }

private:
    // By what the hold is known on these servers.
    void setGuard(operate::ForceReleasePlan &plan, const recipes::Grant &grant)
    {
        const auto key = plan.before.lock.name;
        auto &server = *m_servers.front();
        switch (recipes::recipeOf(m_context.recipe).shape) {
        case recipes::Shape::Key:
            plan.guard.value = server.execute({"GET", key}).text;
            if (plan.guard.expiryMs)
                plan.guard.expiryMs = server.execute({"PEXPIRETIME", key}).integer;
            break;
        case recipes::Shape::Counter: plan.guard.value = QByteArray::fromHex(grant.id); break;
        default: plan.guard.value = grant.id; break;
        }
    }

    const StageContext m_context;
    std::vector<std::unique_ptr<world::RedisServer>> m_servers;
    std::map<int, std::weak_ptr<RedisClient>> m_clients; // by process
    world::Process m_operator;
    Connections m_connections;
};

} // namespace

std::unique_ptr<Stage> makeRedisStage(const StageContext &context)
{
    return std::make_unique<RedisStage>(context);
}

} // namespace lockscope::rehearse
