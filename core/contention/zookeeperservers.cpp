// SPDX-License-Identifier: Apache-2.0
// The simulated ZooKeeper as the servers of a run: one server, or three where a follower is to lag.
#include "core/contention/servers.h"

#include "core/contention/mutants/mutants.h"
#include "core/recipes/multilock.h"
#include "core/rules/turn.h"
#include "core/world/zookeeper/session.h"

#include <algorithm>

namespace lockscope::contention {

namespace {

using namespace std::chrono_literals;

const ZPath lockPath("/sim/lock"), otherPath("/sim/other");

class ZooKeeperAccess : public ContenderAccess {
public:
    ZooKeeperAccess(std::shared_ptr<zk::Session> session, const ServersContext &context, int contender)
        : m_scenario(context.scenario), m_contender(contender), m_session(std::move(session)),
          m_traced(tracedFor(m_scenario.recipe, *m_session, context.trace, contender))
    {
    }
    [[nodiscard]] bool isReady() const override { return m_session->state() == zk::SessionState::Connected; }
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(bool readMode, Random random) override
    {
        const recipes::AcquireOptions options{readMode, m_scenario.limit, m_scenario.ttl};
        if (m_scenario.locks == 1)
            return makePlayableLock(m_scenario.recipe, *m_traced, lockPath, options, random);
        std::vector<ZPath> paths{lockPath, otherPath};
        if (m_scenario.isOppositeOrder && m_contender % 2 == 1)
            std::swap(paths[0], paths[1]);
        std::vector<std::unique_ptr<recipes::Lock>> both;
        for (const auto &path : paths) {
            auto made = makePlayableLock(m_scenario.recipe, *m_traced, path, options, Random(random.next()));
            if (!made)
                return made.error();
            both.push_back(*std::move(made));
        }
        return std::unique_ptr<recipes::Lock>(
            std::make_unique<recipes::MultiLock>(m_session->loop(), std::move(both)));
    }
    [[nodiscard]] zk::SessionId id() const { return m_session->id(); }

private:
    const Scenario &m_scenario;
    const int m_contender;
    std::shared_ptr<zk::Session> m_session; // its process's
    std::unique_ptr<TracedSession> m_traced;
};

bool has(const Scenario &scenario, FaultKind kind)
{
    return std::find(scenario.faults.begin(), scenario.faults.end(), kind) != scenario.faults.end()
           || std::any_of(scenario.planned.begin(), scenario.planned.end(),
                          [kind](const PlannedFault &fault) { return fault.kind == kind; });
}

class ZooKeeperServers : public Servers {
public:
    explicit ZooKeeperServers(const ServersContext &context)
        : m_context(context), m_random(context.random), m_ensemble(context.network, options(context.scenario)),
          m_contenders(std::size_t(context.scenario.contenders))
    {
        m_context.trace.onEvent([this](const Event &event) {
            if (event.mark == Mark::Holds)
                m_contenders[std::size_t(event.contender)].granted = NodeName(event.what);
        });
    }

    [[nodiscard]] std::unique_ptr<ContenderAccess> open(world::Process &process, int contender) override
    {
        auto &shared = m_sessions[process.number()];
        auto session = shared.lock();
        if (!session || session->state() == zk::SessionState::Expired) {
            world::zookeeper::SessionOptions options;
            options.timeout = m_context.scenario.sessionTimeout;
            options.random = Random(m_random.next());
            session = world::zookeeper::openSession(process, m_ensemble, std::move(options));
            shared = session;
        }
        auto access = std::make_unique<ZooKeeperAccess>(session, m_context, contender);
        m_contenders[std::size_t(contender)].session = session;
        return access;
    }
    [[nodiscard]] int count() const override { return m_ensemble.memberCount(); }

    bool expire(int contender) override
    {
        const auto session = m_contenders[std::size_t(contender)].session.lock();
        return session && m_ensemble.expire(session->id());
    }
    bool forceRelease(bool ofWaiter) override
    {
        for (const auto &path : m_ensemble.below(ZPath("/sim"))) {
            const bool wasGranted = std::any_of(m_contenders.begin(), m_contenders.end(), [&](const auto &contender) {
                return contender.granted == path.name();
            });
            const bool isWaiters = !wasGranted && recipes::readSequence(path.name());
            if ((ofWaiter ? isWaiters : wasGranted) && m_ensemble.removeByForce(path))
                return true;
        }
        return false;
    }
    bool lag(Duration by, Duration lasts) override
    {
        for (int member = 1; member < m_ensemble.memberCount(); ++member)
            m_ensemble.setLag(member, by);
        m_context.world.runAt(m_context.world.now() + lasts, [this] {
            for (int member = 1; member < m_ensemble.memberCount(); ++member)
                m_ensemble.setLag(member, Duration::zero());
        });
        return m_ensemble.memberCount() > 1;
    }
    bool jumpClock(std::chrono::milliseconds by) override
    {
        m_ensemble.jumpClock(by);
        return true;
    }

    // A contender's node is ephemeral or has a number; the rest are directories, which stay on purpose.
    [[nodiscard]] std::vector<QByteArray> leftBehind() const override
    {
        std::vector<QByteArray> left;
        for (const auto &path : m_ensemble.below(ZPath("/sim"))) {
            const auto node = m_ensemble.node(path);
            if (recipes::readSequence(path.name()) || (node && !node->stat.ephemeralOwner.isNone()))
                left.push_back(path.bytes());
        }
        return left;
    }
    [[nodiscard]] Duration longestGap() const override { return 2 * m_context.scenario.sessionTimeout + 10s; }
    [[nodiscard]] Duration longestLife() const override
    {
        return m_context.scenario.sessionTimeout + world::zookeeper::EnsembleOptions().tick + 1s;
    }

private:
    struct Known {
        std::weak_ptr<zk::Session> session;
        NodeName granted;
    };
    static world::zookeeper::EnsembleOptions options(const Scenario &scenario)
    {
        world::zookeeper::EnsembleOptions options;
        options.members = has(scenario, FaultKind::Lag) ? 3 : 1; // one alone cannot lag
        return options;
    }

    const ServersContext m_context;
    Random m_random;
    world::zookeeper::Ensemble m_ensemble;
    std::map<int, std::weak_ptr<zk::Session>> m_sessions; // by process
    std::vector<Known> m_contenders;
};

} // namespace

std::unique_ptr<Servers> makeZooKeeperServers(const ServersContext &context)
{
    return std::make_unique<ZooKeeperServers>(context);
}

} // namespace lockscope::contention
