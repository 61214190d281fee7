// SPDX-License-Identifier: Apache-2.0
// Contenders' ways to a lock on simulated Redis servers, in a run or in a rehearsal.
#pragma once

#include "core/contention/mutants/mutants.h"
#include "core/contention/servers.h"
#include "core/simservers/redis/server.h"

namespace lockscope::contention {

// What the contenders of one process share: a connection to each server, and its subscriptions.
struct RedisClient {
    std::vector<std::unique_ptr<redis::Connection>> connections;
    std::vector<std::unique_ptr<TracedConnection>> traced;
};

// As redis-cli shows an answer, in one line.
inline QByteArray redisWords(const redis::Value &value)
{
    switch (value.kind) {
    case redis::Value::Kind::Nil: return "(nil)";
    case redis::Value::Kind::Integer: return QByteArray::number(value.integer);
    case redis::Value::Kind::Array: break;
    default: return value.text;
    }
    QByteArrayList all;
    for (const auto &item : value.items)
        all << redisWords(item);
    return all.join(", ");
}

// The scenario outlives it.
class RedisAccess final : public ContenderAccess {
public:
    RedisAccess(std::shared_ptr<RedisClient> client, const Scenario &scenario, RedisKey key)
        : m_scenario(scenario), m_key(std::move(key)), m_client(std::move(client))
    {
    }
    [[nodiscard]] bool isReady() const override
    {
        return std::ranges::all_of(m_client->connections, [](const auto &connection) {
            return connection->state() == redis::ConnectionState::Connected;
        });
    }
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(bool readMode, Random random) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        const auto *mutant = findMutant(m_scenario.recipe);
        const auto &id = mutant ? mutant->of : m_scenario.recipe;
        if (!recipes::recipeOf(id).quorum)
            return recipes::makeLock(id, *m_client->traced.front(), m_key, options, random);
        std::vector<redis::Connection *> nodes;
        for (const auto &node : m_client->traced)
            nodes.push_back(node.get());
        return recipes::makeLock(id, nodes, m_key, options, random);
    }
    // A command, sent to each of the servers; the first one's answer.
    [[nodiscard]] std::optional<Completion<QByteArray>> act(const QByteArray &command) override
    {
        Completion<QByteArray> words(m_client->traced.front()->loop());
        for (const auto &traced : m_client->traced) {
            traced->command(command.simplified().split(' '), Deadline::never())
                .then([words](const Result<redis::Value> &answer) {
                    words.complete(answer ? redisWords(*answer) : answer.error().message.toUtf8());
                });
        }
        return words;
    }

private:
    const Scenario &m_scenario;
    const RedisKey m_key;
    std::shared_ptr<RedisClient> m_client;
};

using RedisServerList = std::vector<std::unique_ptr<sim::RedisServer>>;

class RedisClients {
public:
    [[nodiscard]] std::unique_ptr<ContenderAccess> open(sim::Process &process, int contender,
                                                        const RedisServerList &servers, const Scenario &scenario,
                                                        Trace &trace, const RedisKey &key)
    {
        auto &shared = m_clients[process.number()];
        auto client = shared.lock();
        if (!client) {
            client = std::make_shared<RedisClient>();
            for (const auto &server : servers) {
                client->connections.push_back(sim::openRedis(process, *server));
                client->traced.push_back(tracedFor(scenario.recipe, *client->connections.back(), trace, contender));
            }
            shared = client;
        }
        return std::make_unique<RedisAccess>(std::move(client), scenario, key);
    }

private:
    std::map<int, std::weak_ptr<RedisClient>> m_clients; // by process
};

} // namespace lockscope::contention
