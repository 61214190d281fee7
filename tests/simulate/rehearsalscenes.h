// SPDX-License-Identifier: Apache-2.0
// Scenes on simulated servers that stand for the real ones: contenders of one recipe, what the inspector sees of
// them, and the release as it is really sent.
#pragma once

#include "foreignlocks.h"
#include "redisworld.h"
#include "zookeeperworld.h"

#include "core/inspect/etcd/observer.h"
#include "core/inspect/mariadb/poll.h"
#include "core/inspect/redis/recognise.h"
#include "core/inspect/zookeeper/observer.h"
#include "core/operate/etcd.h"
#include "core/operate/redis.h"
#include "core/operate/zookeeper.h"
#include "core/recipes/make.h"
#include "core/simservers/etcd/server.h"
#include "core/simservers/mariadb/server.h"
#include "core/zookeeper/evidence.h"
#include "tests/support/keepingsink.h"

namespace lockscope::testing {

template <class T>
Task<void> kept(Task<Result<T>> task, std::shared_ptr<std::optional<Result<T>>> result)
{
    auto came = co_await task;
    *result = std::move(came);
}

using MadeLock = Result<std::unique_ptr<recipes::Lock>>;

class SceneServers {
public:
    virtual ~SceneServers() = default;
    virtual VirtualLoop &loop() = 0;
    // A contender of a client of its own. They are numbered from 0.
    virtual MadeLock open(const recipes::AcquireOptions &options) = 0;
    // By what the snapshot calls the client, or who got it.
    virtual QByteArray clientOf(int contender, const recipes::Grant &grant) = 0;
    virtual Result<inspect::LockSnapshot> look() = 0;
    virtual Result<operate::Sent> release(const operate::ForceReleasePlan &plan) = 0;
    // Its process ends at once, without a word to the server. False where that is not played.
    virtual bool kill(int /*contender*/) { return false; }

    template <class T>
    Result<T> perform(Task<Result<T>> task)
    {
        auto result = std::make_shared<std::optional<Result<T>>>();
        Scope scope(loop());
        scope.launch(kept(std::move(task), result));
        for (int i = 0; i < 20'000 && !*result; ++i)
            loop().advance(1ms);
        return *result ? **result : Result<T>(Error{ErrorCode::TimedOut, QStringLiteral("in vain")});
    }
    [[nodiscard]] Deadline soon() { return Deadline::after(loop(), 10s); }
};

class ZooKeeperScene : public SceneServers {
public:
    ZooKeeperScene(QByteArray recipe, quint64 seed)
        : m_recipe(std::move(recipe)), m_world(seed), m_admin(m_world.open())
    {
    }
    ~ZooKeeperScene() override
    {
        for (const auto &client : m_clients)
            client.process->kill();
        m_admin.process->kill();
    }
    VirtualLoop &loop() override { return m_world.loop; }
    MadeLock open(const recipes::AcquireOptions &options) override
    {
        m_clients.push_back(m_world.open());
        return recipes::makeLock(m_recipe, *m_clients.back().session, path(), options, Random(m_clients.size()));
    }
    QByteArray clientOf(int contender, const recipes::Grant &) override
    {
        return m_clients[size_t(contender)].session->id().text().toUtf8();
    }
    Result<inspect::LockSnapshot> look() override
    {
        zk::EvidenceSource nobodyAnswers(*m_admin.process, {}, 0);
        NoSink sink;
        inspect::ZooKeeperObserver observer(*m_admin.session, nobodyAnswers, ConnectionName("zk"), {}, {}, sink);
        return perform(observer.readNow(path().bytes(), soon()));
    }
    Result<operate::Sent> release(const operate::ForceReleasePlan &plan) override
    {
        return perform(operate::sendRelease(plan, m_admin.session.get(), soon()));
    }

    bool kill(int contender) override
    {
        m_clients[size_t(contender)].process->kill();
        return true;
    }

private:
    static ZPath path() { return ZPath("/locks/orders"); }

    const QByteArray m_recipe;
    ZooKeeperWorld m_world;
    ZooKeeperWorld::Client m_admin;
    std::vector<ZooKeeperWorld::Client> m_clients;
};

class RedisScene : public SceneServers {
public:
    RedisScene(QByteArray recipe, quint64 seed) : m_recipe(std::move(recipe)), m_world(1, seed), m_admin(connected())
    {
    }
    ~RedisScene() override
    {
        for (const auto &process : m_world.processes)
            process->kill();
    }
    VirtualLoop &loop() override { return m_world.world; }
    MadeLock open(const recipes::AcquireOptions &options) override
    {
        auto &connection = m_world.connect(m_world.addProcess());
        m_world.world.advance(10ms);
        return recipes::makeLock(m_recipe, connection, RedisKey(key()), options, Random(m_world.processes.size()));
    }
    QByteArray clientOf(int, const recipes::Grant &grant) override { return grant.id; }
    // The simulated server has not all that an observer asks for: read at its console, and told as it reads.
    Result<inspect::LockSnapshot> look() override
    {
        const auto main = viewOf(key());
        std::vector<inspect::KeyView> companions;
        for (const auto &key : inspect::companionsToRead(main))
            companions.push_back(viewOf(key.bytes()));
        inspect::RedisContext context{.connection = ConnectionName("redis")};
        const auto time = server().execute({"TIME"});
        context.observed = inspect::ServerTime(std::chrono::milliseconds(time.items[0].text.toLongLong() * 1000));
        const auto &channels = server().publisher().topics(sim::Publisher::Kind::Channel);
        for (const auto &channel : inspect::channelsToCount(main)) {
            const auto at = channels.find(channel);
            context.subscribers[channel] = at == channels.end() ? 0 : qint64(at->second.size());
        }
        auto lock = inspect::recognise(main, companions, context);
        if (!lock)
            return Error{ErrorCode::NoNode, QStringLiteral("no lock is recognised")};
        return *std::move(lock);
    }
    Result<operate::Sent> release(const operate::ForceReleasePlan &plan) override
    {
        const std::vector<redis::Connection *> nodes{&m_admin};
        return perform(operate::sendRelease(plan, nodes, soon()));
    }

    bool kill(int contender) override
    {
        m_world.processes[size_t(contender) + 1]->kill(); // the first one looks
        return true;
    }

private:
    // A number of free permits under the name of a lock would be a mark.
    [[nodiscard]] QByteArray key() const
    {
        return recipes::recipeOf(m_recipe).counted ? QByteArray("orders") : QByteArray("lock:orders");
    }
    sim::RedisServer &server() { return m_world.server(); }
    inspect::KeyView viewOf(const QByteArray &key)
    {
        using inspect::KeyType;
        inspect::KeyView view{.key = RedisKey(key)};
        if (server().execute({"EXISTS", key}).integer == 0)
            return view;
        if (const auto left = server().execute({"PTTL", key}).integer; left >= 0)
            view.ttl = std::chrono::milliseconds(left);
        if (const auto text = server().execute({"GET", key}); !text.isError()) {
            view.type = KeyType::String;
            view.value = text.text;
        } else if (const auto hash = server().execute({"HGETALL", key}); !hash.isError()) {
            view.type = KeyType::Hash;
            for (size_t i = 0; i + 1 < hash.items.size(); i += 2)
                view.fields.emplace_back(hash.items[i].text, hash.items[i + 1].text);
        } else if (const auto list = server().execute({"LRANGE", key, "0", "-1"}); !list.isError()) {
            view.type = KeyType::List;
            for (const auto &item : list.items)
                view.items.push_back(item.text);
        } else {
            view.type = KeyType::SortedSet;
            const auto scored = server().execute({"ZRANGE", key, "0", "-1", "WITHSCORES"});
            for (size_t i = 0; i + 1 < scored.items.size(); i += 2)
                view.scored.emplace_back(scored.items[i].text, scored.items[i + 1].text.toDouble());
        }
        return view;
    }
    redis::Connection &connected()
    {
        m_world.world.advance(std::chrono::hours(24 * 365 * 56)); // scripts take 0 for "never"
        return m_world.connect(m_world.addProcess());
    }

    const QByteArray m_recipe;
    testing::RedisWorld m_world;
    redis::Connection &m_admin;
};

// The simulated server has no INNODB_LOCK_WAITS: what it knows is put into a look as the real one would say it.
class SqlScene : public SceneServers {
public:
    SqlScene(QByteArray recipe, quint64 seed)
        : m_recipe(std::move(recipe)), m_network(m_world, Random(seed), {}), m_server(m_world)
    {
        m_server.addRow("shop.stock", "id", "1", 1);
    }
    ~SqlScene() override
    {
        for (const auto &process : m_processes)
            process->kill();
    }
    VirtualLoop &loop() override { return m_world; }
    MadeLock open(const recipes::AcquireOptions &options) override
    {
        m_processes.push_back(std::make_unique<sim::Process>(m_world, int(m_processes.size())));
        m_sessions.push_back(sim::openSession(*m_processes.back(), m_server, m_network));
        for (int i = 0; i < 1000 && m_sessions.back()->state() != mariadb::SessionState::Connected; ++i)
            m_world.advance(1ms);
        m_connections.push_back(m_sessions.back()->connectionId());
        return recipes::makeLock(m_recipe, *m_sessions.back(), isNamed() ? "GET_LOCK#orders" : "shop.stock#id=1",
                                 options, Random(1));
    }
    QByteArray clientOf(int contender, const recipes::Grant &) override
    {
        return QByteArray::number(m_connections[size_t(contender)]);
    }
    // Who waits, in the order of their asking: the scene knows.
    std::vector<int> queue;
    Result<inspect::LockSnapshot> look() override
    {
        using inspect::ServerTime;
        inspect::SqlPoll look{.now = ServerTime(std::chrono::hours(24)),
                              .serverStarted = ServerTime(std::chrono::hours(1))};
        QByteArrayList before;
        for (const auto i : queue) {
            const auto connection = m_connections[size_t(i)];
            const auto number = QByteArray::number(connection);
            if (isNamed()) {
                look.namedLocks.push_back({"orders", connection, before.isEmpty()});
                const std::chrono::milliseconds waited(100'000 - 100 * before.size());
                look.processes.push_back({connection, "app", "host", {}, {}, false, waited});
            } else {
                inspect::SqlTransaction transaction{number, connection, look.now - 10s, {}, 1, 0};
                if (!before.isEmpty())
                    transaction.waitStarted = look.now - 5s; // all in one second
                look.transactions.push_back(transaction);
                for (const auto &earlier : before)
                    look.waits.push_back({number, earlier, "`shop`.`stock`", "PRIMARY", "1", "X", "X"});
            }
            before.prepend(number);
        }
        look.columns[{"`shop`.`stock`", "PRIMARY"}] = {"id"};
        const auto locks = inspect::snapshotsOf(look, ConnectionName("db"));
        if (locks.empty())
            return Error{ErrorCode::NoNode, QStringLiteral("an uncontended row is not shown")};
        return locks.front();
    }
    Result<operate::Sent> release(const operate::ForceReleasePlan &plan) override
    {
        const auto *holder = plan.before.find(plan.holder);
        m_server.kill(holder->session->toULongLong());
        return operate::Sent();
    }

private:
    [[nodiscard]] bool isNamed() const { return recipes::recipeOf(m_recipe).shape == recipes::Shape::NamedLock; }

    const QByteArray m_recipe;
    VirtualLoop m_world;
    sim::Network m_network;
    sim::SqlServer m_server;
    std::vector<std::unique_ptr<sim::Process>> m_processes;
    std::vector<std::unique_ptr<mariadb::Session>> m_sessions;
    std::vector<mariadb::ConnectionId> m_connections;
};

class EtcdScene : public SceneServers {
public:
    EtcdScene(QByteArray recipe, quint64 seed)
        : m_recipe(std::move(recipe)), m_network(m_world, Random(seed), {}), m_server(m_world)
    {
        connect();
    }
    ~EtcdScene() override
    {
        for (const auto &process : m_processes)
            process->kill();
    }
    VirtualLoop &loop() override { return m_world; }
    MadeLock open(const recipes::AcquireOptions &options) override
    {
        auto &client = connect();
        if (ForeignEtcdLock::plays(m_recipe))
            return std::unique_ptr<recipes::Lock>(std::make_unique<ForeignEtcdLock>(
                client, m_recipe, "locks/orders", options.readMode, m_processes.size()));
        return recipes::makeLock(m_recipe, client, name(), options, Random(m_processes.size()));
    }
    // The lease, which is one hold's.
    QByteArray clientOf(int, const recipes::Grant &grant) override { return grant.id.left(grant.id.indexOf('@')); }
    Result<inspect::LockSnapshot> look() override
    {
        NoSink sink;
        inspect::EtcdObserver observer(*m_clients.front(), ConnectionName("etcd"), {}, {}, sink);
        return perform(observer.readNow(name(), soon()));
    }
    Result<operate::Sent> release(const operate::ForceReleasePlan &plan) override
    {
        return perform(operate::sendRelease(plan, m_clients.front().get(), soon()));
    }

    bool kill(int contender) override
    {
        m_processes[size_t(contender) + 1]->kill(); // the first one looks
        return true;
    }

private:
    [[nodiscard]] QByteArray name() const
    {
        return m_recipe == "etcd-key-lock" ? "KEY#locks/orders" : "locks/orders";
    }
    etcd::Client &connect()
    {
        m_processes.push_back(std::make_unique<sim::Process>(m_world, int(m_processes.size())));
        m_clients.push_back(sim::openEtcd(*m_processes.back(), m_server, m_network));
        for (int i = 0; i < 1000 && m_clients.back()->state() != etcd::ClientState::Connected; ++i)
            m_world.advance(1ms);
        return *m_clients.back();
    }

    const QByteArray m_recipe;
    VirtualLoop m_world;
    sim::Network m_network;
    sim::EtcdServer m_server;
    std::vector<std::unique_ptr<sim::Process>> m_processes;
    std::vector<std::unique_ptr<etcd::Client>> m_clients; // the first one looks
};

inline std::unique_ptr<SceneServers> sceneOf(const QByteArray &recipe, quint64 seed)
{
    switch (recipes::recipeOf(recipe).backend) {
    case BackendKind::ZooKeeper: return std::make_unique<ZooKeeperScene>(recipe, seed);
    case BackendKind::Redis: return std::make_unique<RedisScene>(recipe, seed);
    case BackendKind::Etcd: return std::make_unique<EtcdScene>(recipe, seed);
    case BackendKind::PostgreSql: // whose simulated server is MariaDB's
    case BackendKind::MariaDb: break;
    }
    return std::make_unique<SqlScene>(recipe, seed);
}

} // namespace lockscope::testing
