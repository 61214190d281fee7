// SPDX-License-Identifier: Apache-2.0
// The simulated Redis as the servers of a run: one, or five for redlock.
#include "core/contention/servers.h"

#include "core/contention/redisaccess.h"
#include "core/rules/redissonkeys.h"

namespace lockscope::contention {

namespace {

const RedisKey lockKey("sim-lock");

QByteArray wordsOf(const sim::RedisContent &content)
{
    struct Words {
        QByteArray operator()(const sim::RedisText &text) const { return "= " + text; }
        QByteArray operator()(const sim::RedisList &list) const
        {
            QByteArrayList all;
            for (const auto &entry : list)
                all << entry;
            return "list: " + all.join(", ");
        }
        QByteArray operator()(const sim::RedisSortedSet &set) const
        {
            QByteArrayList all;
            for (const auto &[score, member] : set.order)
                all << member;
            return "in order: " + all.join(", ");
        }
        QByteArray operator()(const sim::RedisHash &hash) const
        {
            QByteArrayList all;
            for (const auto &[field, value] : hash)
                all << field + ": " + value;
            return "{ " + all.join(", ") + " }";
        }
    };
    return std::visit(Words(), content);
}
constexpr int redlockNodes = 5;

bool failsOver(const Scenario &scenario)
{
    const auto isIt = [](const PlannedFault &fault) { return fault.kind == FaultKind::Failover; };
    return std::count(scenario.faults.begin(), scenario.faults.end(), FaultKind::Failover) > 0
           || std::any_of(scenario.planned.begin(), scenario.planned.end(), isIt);
}

class RedisServers : public Servers {
public:
    explicit RedisServers(const ServersContext &context) : m_context(context), m_random(context.random)
    {
        const bool isQuorum = playable(context.scenario.recipe)->quorum;
        const int count = !isQuorum ? 1 : context.scenario.servers > 0 ? context.scenario.servers : redlockNodes;
        for (int i = 0; i < count; ++i) {
            m_servers.push_back(std::make_unique<sim::RedisServer>(context.network, i));
            // Of a write or two, or of half a lease. Only for who will fail over: it copies what is changed.
            const auto lag = m_random.below(2) == 0 ? Duration(20ms) : Duration(context.scenario.ttl / 2);
            if (failsOver(context.scenario))
                m_servers.back()->setReplicaLag(lag);
            m_servers.back()->setAppendOnlyFile(context.scenario.aof != Aof::None,
                                                context.scenario.aof == Aof::EverySecond ? Duration(1s) : Duration());
        }
    }

    [[nodiscard]] std::unique_ptr<ContenderAccess> open(sim::Process &process, int contender) override
    {
        return m_clients.open(process, contender, m_servers, m_context.scenario, m_context.trace, lockKey);
    }
    [[nodiscard]] int count() const override { return static_cast<int>(m_servers.size()); }

    bool forceRelease(bool ofWaiter) override
    {
        if (ofWaiter)
            return false;
        bool any = false;
        for (const auto &server : m_servers)
            any = server->forceDelete(lockKey.bytes()) || any;
        return any;
    }
    bool jumpClock(std::chrono::milliseconds by) override
    {
        for (const auto &server : m_servers)
            server->jumpClock(by);
        return true;
    }
    bool jumpClockOf(int server, std::chrono::milliseconds by) override
    {
        if (server < 0 || server >= count())
            return false;
        m_servers[std::size_t(server)]->jumpClock(by);
        return true;
    }
    bool restartEmpty(Duration downFor, int only) override
    {
        return ofThose(only, [downFor](sim::RedisServer &server) { server.restart(downFor); });
    }
    bool failover(int only) override
    {
        return ofThose(only, [](sim::RedisServer &server) { server.failOver(20ms); });
    }
    bool loseNextPublish() override
    {
        m_servers.front()->loseNextPublishes(1);
        return true;
    }

    [[nodiscard]] std::vector<ServerLine> state() const override
    {
        std::vector<ServerLine> lines;
        for (const auto &server : m_servers) {
            for (const auto &seen : server->look()) {
                const auto ends = seen.left ? std::optional(m_context.trace.now() + *seen.left) : std::nullopt;
                lines.push_back({server->number(), seen.key, wordsOf(seen.content), ends});
            }
        }
        return lines;
    }
    // Without what a recipe keeps on purpose: a semaphore's number of permits, a fenced lock's counter, and the
    // latches of unlocks, which go with their time to live (longer than that where a clock jumped back).
    [[nodiscard]] std::vector<QByteArray> leftBehind() const override
    {
        const redis::RedissonKeys beside(lockKey.bytes());
        const bool isSemaphore = playable(m_context.scenario.recipe)->counted;
        std::vector<QByteArray> left;
        for (const auto &server : m_servers) {
            for (const auto &key : server->keys()) {
                const bool isKept = !key.contains(lockKey.bytes()) || (isSemaphore && key == lockKey.bytes())
                                    || key == beside.fencingToken() || key.startsWith(beside.unlockLatch({}));
                if (!isKept)
                    left.push_back(key);
            }
        }
        return left;
    }
    // A waiter of a fair lock that died is given its 5 minutes first, as Redisson does; several can have died.
    [[nodiscard]] Duration longestGap() const override
    {
        const bool isFair = playable(m_context.scenario.recipe)->lastingQueue;
        const auto waiters = isFair ? m_context.scenario.contenders : 0;
        return 2 * m_context.scenario.ttl + 10s + waiters * 5min;
    }
    [[nodiscard]] Duration longestLife() const override { return m_context.scenario.ttl + 10s; }

private:
    // Of a set, as many as it takes to matter: a majority of its nodes.
    template <class Does>
    bool ofThose(int only, Does does)
    {
        for (int i = 0; i < count(); ++i) {
            if (only < 0 ? i < (count() + 1) / 2 : i == only)
                does(*m_servers[std::size_t(i)]);
        }
        return only < count();
    }

    const ServersContext m_context;
    Random m_random;
    RedisServerList m_servers;
    RedisClients m_clients;
};

} // namespace

std::unique_ptr<Servers> makeRedisServers(const ServersContext &context)
{
    return std::make_unique<RedisServers>(context);
}

} // namespace lockscope::contention
