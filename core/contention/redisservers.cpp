// SPDX-License-Identifier: Apache-2.0
// The simulated Redis as the servers of a run: one, or five for redlock.
#include "core/base/text.h"
#include "core/contention/access.h"
#include "core/rules/turn.h"
#include "core/contention/faults.h"

namespace lockscope::contention {

namespace {

const RedisKey lockKey("sim-lock");

QByteArray wordsOf(const sim::RedisContent &content)
{
    struct Words {
        QByteArray operator()(const sim::RedisText &text) const { return "= " + text; }
        QByteArray operator()(const sim::RedisList &list) const
        {
            auto all = mapped<QByteArrayList>(list, [&](const auto &entry) { return entry; });
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

// Which faults can happen there, and what they may break.
using recipes::EndsBy;
using recipes::RecipeInfo;

namespace {

bool isOnTheWay(FaultKind fault)
{
    return fault == FaultKind::Partition || fault == FaultKind::Delay || fault == FaultKind::LoseRequest
           || fault == FaultKind::LoseReply;
}

std::optional<OverlapBound> overlapOnRedis(const Scenario &scenario, FaultKind fault)
{
    if (playable(scenario.recipe)->renewed)
        return overlapOfRenewedLease(scenario, fault);
    const OverlapBound untilOver{Duration(scenario.ttl), u"the lease"_s};
    if (isOnTheWay(fault))
        return untilOver;
    switch (fault) {
    case FaultKind::Pause: return OverlapBound{longestOf(scenario, fault), u"the pause"_s};
    case FaultKind::Drift: return overlapOfRenewedLease(scenario, fault); // at its end, renewed or not
    case FaultKind::ForceRelease:
    case FaultKind::ClockJump:
    case FaultKind::RestartEmpty:
    case FaultKind::Failover: return untilOver;
    default: return {};
    }
}

QString redisFaultReason(const RecipeInfo &recipe, FaultKind fault)
{
    const auto untilItAsks = recipe.renewed ? u"until its next renewal"_s
                                            : u"until its work is done or its lease is over, as nothing renews it"_s;
    switch (fault) {
    case FaultKind::Pause:
        return u"the pause is longer than the lease: the key expires, and the paused client cannot know"_s;
    case FaultKind::ForceRelease:
        if (recipe.counted)
            return {}; // its key holds the number of free permits, not those that are out
        return u"a holder whose lock was released by force believes that it has it "_s + untilItAsks;
    case FaultKind::ClockJump:
        return recipe.endsBy == EndsBy::Timestamp
                   ? u"the time in the key is by the clients' clocks: a client whose clock is ahead takes the lock over early"_s
                   : u"a server whose clock jumps ahead ends leases early"_s;
    case FaultKind::RestartEmpty:
        return u"the key is lost with the data, and its holder believes that it has the lock "_s + untilItAsks;
    case FaultKind::Failover: return u"the key had not reached the replica that took over"_s;
    default: return {};
    }
}

// Beside what breaks by one fault alone: what takes two of them.
GuaranteeRule twoBelieveOnRedis(const RecipeInfo &recipe, FaultKind fault, const QByteArray &invariant)
{
    if (fault == FaultKind::Drift)
        return {(recipe.renewed ? u"if no renewal gets through, %1"_s : u"as nothing renews it, %1"_s)
                    .arg(u"a holder whose clock is slow assumes it holds the lock for longer than the lease lasts"_s),
                recipe.renewed || invariant == "effect"};
    if (!recipe.namesHolder && isAny(fault, {"partition", "delay"}))
        return {u"its DEL arrives after its lease has ended, and deletes the key of its successor"_s, true};
    if (recipe.endsBy == EndsBy::Timestamp && isAny(fault, {"lose-request", "lose-reply"}))
        return {
            u"two clients that ask in the same millisecond write the same time, and one that got no answer takes the lock for its own"_s,
            true};
    return {redisFaultReason(recipe, fault)};
}

Result<void> checkRedisAct(const QByteArray &command)
{
    if (!command.trimmed().isEmpty())
        return {};
    return Error{ErrorCode::BadInput, u"a contender that does something sends a command"_s};
}

} // namespace

BackendRules rulesOfRedis()
{
    return {.never = {FaultKind::Expire, FaultKind::Lag}, // it has no sessions
            .twoBelieve = &twoBelieveOnRedis,
            .overlap = &overlapOnRedis,
            .believesFor = [](const Scenario &scenario) -> Duration { return scenario.ttl; },
            .canHave = [](const RecipeInfo &recipe, int servers) { return recipe.quorum && servers % 2 == 1; },
            .checkAct = &checkRedisAct};
}

} // namespace lockscope::contention
