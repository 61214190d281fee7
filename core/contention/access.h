// SPDX-License-Identifier: Apache-2.0
// Contenders' ways to a lock on the simulated servers of each backend, in a run or in a rehearsal. Those of one
// process share what a real client shares.
#pragma once

#include "core/contention/mutants/mutants.h"
#include "core/contention/servers.h"
#include "core/contention/sqlservers.h"
#include "core/contention/traced/tracedport.h"
#include "core/recipes/make.h"
#include "core/recipes/lockbase.h"
#include "core/rules/rowlayouts.h"
#include "core/simservers/etcd/server.h"
#include "core/simservers/postgresql/session.h"
#include "core/simservers/redis/server.h"
#include "core/simservers/zookeeper/ensemble.h"

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

// What a client of ZooKeeper does beside its lock, in the words of ZooKeeper's own shell (zkCli.sh):
//
//     create [-e] [-s] PATH [DATA]   set PATH DATA   delete PATH   sync PATH
//     get [-w] PATH   stat [-w] PATH   ls [-w] PATH          (-w leaves a watch)
//
// and, for data nobody wants to write out, `-size N` bytes in the place of DATA.

// BadInput says what can be done.
[[nodiscard]] Result<void> checkZooKeeperAct(const QByteArray &command);
// What came of it, in a few words; of what cannot be done, why. The session outlives it.
[[nodiscard]] Completion<QByteArray> doOnZooKeeper(zk::Session &session, const QByteArray &command);

class ZooKeeperAccess final : public ContenderAccess, public OnFreeList {
public:
    using Paths = std::shared_ptr<const std::vector<ZPath>>;
    // Of several paths it takes all, in their order. The scenario outlives it.
    ZooKeeperAccess(std::shared_ptr<zk::Session> session, const Scenario &scenario, Trace &trace, int contender,
                    Paths paths)
        : m_scenario(scenario), m_paths(std::move(paths)), m_trace(trace), m_contender(contender),
          m_session(std::move(session)), m_traced(tracedFor(m_scenario.recipe, *m_session, trace, contender))
    {
    }
    [[nodiscard]] bool isReady() const override { return m_session->state() == zk::SessionState::Connected; }
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(bool readMode, Random random) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        if (m_paths->size() == 1)
            return makePlayableLock(m_scenario.recipe, *m_traced, m_paths->front(), options, random);
        std::vector<std::unique_ptr<recipes::Lock>> all;
        for (const auto &path : *m_paths) {
            TRY(auto &made, makePlayableLock(m_scenario.recipe, *m_traced, path, options, Random(random.next())));
            all.push_back(std::move(made));
        }
        auto both = std::make_unique<recipes::MultiLock>(m_session->loop(), std::move(all));
        both->onMember([this](std::size_t place) {
            m_trace.add({{}, m_contender, Mark::Gets, false, 0, (*m_paths)[place].bytes(), {}});
        });
        return std::unique_ptr<recipes::Lock>(std::move(both));
    }
    [[nodiscard]] std::optional<Completion<QByteArray>> act(const QByteArray &command) override
    {
        return doOnZooKeeper(*m_traced, command);
    }

private:
    const Scenario &m_scenario;
    const Paths m_paths;
    Trace &m_trace;
    const int m_contender;
    std::shared_ptr<zk::Session> m_session; // its process's
    std::unique_ptr<TracedSession> m_traced;
};

// Those of one process share its client; the leases are their own. The scenario outlives it.
class EtcdAccess final : public ContenderAccess {
public:
    EtcdAccess(std::shared_ptr<etcd::Client> client, const Scenario &scenario, Trace &trace, int contender,
               QByteArray lock)
        : m_scenario(scenario), m_lock(std::move(lock)), m_client(std::move(client)),
          m_traced(*m_client, trace, contender)
    {
    }
    [[nodiscard]] bool isReady() const override { return m_client->state() == etcd::ClientState::Connected; }
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(bool readMode, Random random) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        return recipes::makeLock(m_scenario.recipe, m_traced, m_lock, options, random);
    }

private:
    const Scenario &m_scenario;
    const QByteArray m_lock;
    std::shared_ptr<etcd::Client> m_client; // its process's
    TracedEtcd m_traced;
};

class EtcdClients {
public:
    [[nodiscard]] std::unique_ptr<ContenderAccess> open(sim::Process &process, int contender, sim::EtcdServer &server,
                                                        sim::Network &network, const Scenario &scenario, Trace &trace,
                                                        const QByteArray &lock)
    {
        auto &shared = m_clients[process.number()];
        auto client = shared.lock();
        if (!client) {
            client = sim::openEtcd(process, server, network);
            shared = client;
        }
        return std::make_unique<EtcdAccess>(std::move(client), scenario, trace, contender, lock);
    }

private:
    std::map<int, std::weak_ptr<etcd::Client>> m_clients; // by process
};

// The row, the named lock and the leased row that contenders of a simulated MariaDB contend for.

inline const QByteArray simulatedName("sim"), simulatedLeases("sim.shedlock"), simulatedMarks("sim.lock_marks"),
    simulatedFlags("sim.lock_flags");

// From 0.
[[nodiscard]] inline QByteArray simulatedRowOf(int number)
{
    return QByteArray::number(number + 1);
}
// A row that says until when it is locked, rather than one that is locked.
[[nodiscard]] inline bool takesLeasedRow(const QByteArray &recipe)
{
    return recipes::recipeOf(recipe).endsBy == recipes::EndsBy::Lease;
}

// A row that is there while it is held, or has a flag: nothing ends it.
[[nodiscard]] inline bool takesMarkedRow(const QByteArray &recipe)
{
    return recipes::recipeOf(recipe).endsBy == recipes::EndsBy::Never;
}
[[nodiscard]] inline sim::RowId markedRowOf(const QByteArray &recipe)
{
    const auto *layout = recipes::rowLayoutNamed(recipes::recipeOf(recipe).namePrefix);
    return {layout && !layout->flag.isEmpty() ? simulatedFlags : simulatedMarks, simulatedName};
}
inline void addMarkedRows(sim::SqlServer &server)
{
    server.markedRows().addMarks(simulatedMarks);
    server.markedRows().addFlag({simulatedFlags, simulatedName});
}
// `row`: which of those that are only locked.
[[nodiscard]] inline QByteArray simulatedLockOf(const QByteArray &recipe, int row)
{
    const auto &prefix = recipes::recipeOf(recipe).namePrefix;
    if (takesNamedLock(recipe))
        return prefix + simulatedName;
    if (takesLeasedRow(recipe))
        return prefix + simulatedLeases + '#' + simulatedName;
    if (takesMarkedRow(recipe))
        return prefix + markedRowOf(recipe).table + '#' + simulatedName;
    return simulatedTable + '#' + simulatedKey + '=' + simulatedRowOf(row);
}

[[nodiscard]] inline std::unique_ptr<SqlAccess> openMariaDbAccess(const SqlAccessContext &context)
{
    const auto &scenario = context.scenario;
    const auto lock = simulatedLockOf(scenario.recipe, context.contender % scenario.rows);
    const recipes::AcquireOptions options{false, 1, scenario.ttl};
    return std::make_unique<SqlAccess>(
        sim::openSession(context.process, context.server, context.network), context.trace, context.contender,
        [recipe = scenario.recipe, lock, options](mariadb::Session &session, Random random) {
            return recipes::makeLock(recipe, session, lock, options, std::move(random));
        });
}

// The row and the advisory lock that contenders of a simulated PostgreSQL contend for.

inline const QByteArray simulatedAdvisory("42");

[[nodiscard]] inline std::unique_ptr<SqlAccess> openPostgreSqlAccess(const SqlAccessContext &context)
{
    const auto &recipe = context.scenario.recipe;
    const auto lock = takesNamedLock(recipe) ? "ADVISORY#" + simulatedAdvisory
                                             : simulatedTable + '#' + simulatedKey + '=' + simulatedRow;
    return std::make_unique<SqlAccess>(sim::openPostgreSqlSession(context.process, context.server, context.network),
                                       context.trace, context.contender,
                                       [recipe, lock](mariadb::Session &session, Random /*random*/) {
                                           return recipes::makePostgreSqlLock(recipe, session, lock, {});
                                       });
}

} // namespace lockscope::contention
