// SPDX-License-Identifier: Apache-2.0
// Redis, a cluster of them, the primary that sentinels name, or a Redlock set: one connection to each for all locks
// of a client.
#include "core/client/server.h"
#include "core/recipes/make.h"
#include "core/recipes/redis/keywatch.h"
#include "core/redis/client.h"
#include "core/rules/turn.h"

namespace lockscope::client {

namespace {

using RedisNodes = std::vector<redis::Connection *>;

class RedisContender : public Contender {
public:
    RedisContender(RedisNodes nodes, Request request)
        : m_nodes(std::move(nodes)), m_request(std::move(request)), m_watch(m_nodes, m_request.lock)
    {
    }

    Result<std::unique_ptr<recipes::Lock>> makeLock() override
    {
        const RedisKey key(m_request.lock);
        const auto random = Random::fromSystem();
        if (m_nodes.size() == 1)
            return recipes::makeLock(m_request.recipe, *m_nodes.front(), key, m_request.options, random);
        return recipes::makeLock(m_request.recipe, m_nodes, key, m_request.options, random);
    }
    void watchOver(const recipes::Holding &holding, const recipes::Grant &grant) override
    {
        m_watch.begin(holding, grant);
    }

private:
    const RedisNodes m_nodes;
    const Request m_request;
    recipes::KeyWatch m_watch;
};

class RedisServer : public Server {
public:
    explicit RedisServer(Reach reach) : m_reach(std::move(reach))
    {
        const auto &spec = m_reach.spec;
        redis::ConnectionOptions options;
        if (spec.transport.isTunnelled())
            options.door = [transport = m_reach.transport](const HostPort &server) {
                return transport->through(server);
            };
        options.tls = spec.transport.tls;
        options.user = spec.user.toUtf8();
        options.password = spec.password.toUtf8();
        options.passwords = m_reach.passwords;
        options.database = spec.database;
        const bool isSet = spec.hosts.size() > 1 && areNodesApart(spec.scheme);
        for (const auto &host : isSet ? spec.hosts : std::vector{spec.hosts.front()}) {
            options.host = host;
            m_nodes.push_back(open(options, isSet));
        }
    }

    // Of a set, to a majority, whichever nodes these are.
    Task<Result<void>> connect(Deadline deadline) override
    {
        const auto mostDown = m_nodes.size() - static_cast<std::size_t>(recipes::quorumOf(int(std::ssize(m_nodes))));
        while (m_nodes.size() > 1) {
            std::size_t down = 0, failures = 0;
            redis::Connection *missing = nullptr;
            for (const auto &node : m_nodes) {
                if (node->state() == redis::ConnectionState::Connected)
                    continue;
                const bool hasFailed = !node->lastError().isEmpty();
                if (down++ == 0 || hasFailed)
                    missing = node.get();
                failures += hasFailed ? 1 : 0;
            }
            if (down <= mostDown)
                co_return Result<void>();
            if (failures > mostDown || deadline.hasPassed(m_reach.loop)) {
                auto why = co_await untilUp(&m_reach, missing, Deadline::at(m_reach.loop.now()));
                co_return why;
            }
            co_await sleepFor(m_reach.loop, 5ms);
        }
        auto connected = co_await untilUp(&m_reach, m_nodes.front().get(), deadline);
        co_return connected;
    }
    std::unique_ptr<Contender> open(const Request &request) override
    {
        RedisNodes nodes;
        for (const auto &node : m_nodes)
            nodes.push_back(node.get());
        return std::make_unique<RedisContender>(std::move(nodes), request);
    }
    // Of a set, a node that is gone is not waited for.
    [[nodiscard]] bool isCleaningUp() const override
    {
        return std::ranges::any_of(m_nodes, [this](const auto &node) {
            const bool isUp = node->state() == redis::ConnectionState::Connected;
            return !node->background().isIdle() && (isUp || m_nodes.size() == 1);
        });
    }

private:
    [[nodiscard]] std::unique_ptr<redis::Connection> open(const redis::ConnectionOptions &options, bool isSet) const
    {
        const auto &spec = m_reach.spec;
        if (spec.scheme == Scheme::RedisCluster)
            return redis::openCluster(m_reach.loop, spec.hosts, options);
        if (spec.scheme == Scheme::RedisSentinel)
            return redis::openBySentinels(m_reach.loop, spec.hosts, spec.service.toUtf8(), options);
        if (isSet)
            return redis::openConnection(m_reach.loop, options);
        return redis::openFinding(m_reach.loop, options, [](const redis::ServerPlace &) {});
    }

    const Reach m_reach;
    std::vector<std::unique_ptr<redis::Connection>> m_nodes;
};

std::unique_ptr<Server> makeRedisServer(Reach reach)
{
    return std::make_unique<RedisServer>(std::move(reach));
}

} // namespace

} // namespace lockscope::client

namespace lockscope::v0::detail {

// <lockscope/redis.h> declares it.
bool linkRedis()
{
    return client::addBackend(BackendKind::Redis, client::makeRedisServer);
}

} // namespace lockscope::v0::detail
