// SPDX-License-Identifier: Apache-2.0
// The simulated ZooKeeper as the servers of a run: one server, or three where a follower is to lag.
#include "core/contention/servers.h"

#include "core/contention/zookeeperaccess.h"
#include "core/rules/turn.h"

#include <algorithm>
#include <deque>

namespace lockscope::contention {

namespace {

// Literals: copies of the path that every request names count nothing.
const ZPath lockPath(QByteArrayLiteral("/sim/lock")), otherPath(QByteArrayLiteral("/sim/other"));
constexpr auto electionTime = 200ms; // the votes; then followers learn what they missed

bool has(const Scenario &scenario, FaultKind kind)
{
    return std::find(scenario.faults.begin(), scenario.faults.end(), kind) != scenario.faults.end()
           || std::any_of(scenario.planned.begin(), scenario.planned.end(),
                          [kind](const PlannedFault &fault) { return fault.kind == kind; });
}

// Data somebody set to be looked at, not what a client notes about itself.
bool isShown(const QByteArray &data)
{
    constexpr qsizetype most = 20;
    return !data.isEmpty() && data.size() <= most;
}

class ZooKeeperServers : public Servers {
public:
    explicit ZooKeeperServers(const ServersContext &context)
        : m_context(context), m_random(context.random), m_ensemble(context.network, options(context.scenario)),
          m_paths(paths(context.scenario.locks == 1 ? std::vector{lockPath} : std::vector{lockPath, otherPath})),
          m_opposite(context.scenario.locks == 1 ? m_paths : paths({otherPath, lockPath})),
          m_granted(std::size_t(context.scenario.contenders))
    {
        m_context.trace.onEvent([this](const Event &event) {
            if (event.mark == Mark::Holds)
                m_granted[std::size_t(event.contender)] = NodeName(event.what);
        });
    }

    [[nodiscard]] std::unique_ptr<ContenderAccess> open(sim::Process &process, int contender) override
    {
        const auto number = std::size_t(process.number());
        if (number >= m_sessions.size())
            m_sessions.resize(number + 1);
        auto &shared = m_sessions[number];
        auto session = shared.lock();
        if (!session || session->state() == zk::SessionState::Expired) {
            sim::zookeeper::SessionOptions options;
            options.timeout = m_context.scenario.sessionTimeout;
            options.random = Random(m_random.next());
            session = sim::zookeeper::openSession(process, m_ensemble, std::move(options));
            shared = session;
        }
        return std::make_unique<ZooKeeperAccess>(session, m_context.scenario, m_context.trace, contender,
                                                 pathsOf(contender));
    }
    [[nodiscard]] int count() const override { return m_ensemble.memberCount(); }

    bool expire(int contender) override
    {
        const auto session = sessionOf(contender);
        return session && m_ensemble.expire(session->id());
    }
    bool forceRelease(bool ofWaiter) override
    {
        for (const auto &path : m_ensemble.below(ZPath("/sim"))) {
            const bool wasGranted = std::ranges::find(m_granted, path.name()) != m_granted.end();
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
    // The rest goes on while it is a majority, after an election where the leader went.
    bool setStopped(int server, bool isStopped) override
    {
        if (server >= count() || m_stopped.contains(server) == isStopped)
            return false;
        if (isStopped)
            m_stopped.insert(server);
        else
            m_stopped.erase(server);
        if (!hasMajority() || m_stopped.contains(m_leader))
            m_ensemble.setServing(false);
        reachMembers();
        if (m_ensemble.isServing())
            return true;
        if (hasMajority())
            m_context.world.runAt(m_context.world.now() + electionTime, [this] { elect(); });
        return true;
    }
    [[nodiscard]] QByteArray resolved(const QByteArray &command) const override
    {
        auto text = command;
        for (int contender = 0; contender < m_context.scenario.contenders && text.contains('{'); ++contender) {
            const auto name = '{' + contenderName(contender, m_context.scenario.contenders) + '}';
            const auto node = text.contains(name) ? nodeOf(contender) : std::nullopt;
            if (node)
                text.replace(name, node->bytes());
        }
        return text;
    }

    [[nodiscard]] std::vector<ServerLine> state() const override
    {
        for (std::size_t process = 0; process < m_sessions.size(); ++process) {
            if (const auto session = m_sessions[process].lock(); session && !session->id().isNone())
                m_owners[session->id()] =
                    contenderName(int(process) * m_context.scenario.perProcess, m_context.scenario.contenders);
        }
        std::vector<ServerLine> lines;
        for (int member = 0; member < count(); ++member) {
            for (const auto &path : m_ensemble.below(ZPath("/sim"), member))
                lines.push_back({member, path.bytes(), wordsOf(path, m_ensemble.node(path, member)), {}});
            if (count() > 1) // how far it is; before all paths
                lines.push_back(
                    {member, "(zxid)", QByteArray::number(m_ensemble.appliedBy(member) & 0xffffffff), {}});
        }
        return lines;
    }

    // A contender's node is ephemeral or has a number; the rest are directories, which stay on purpose, and what was
    // made beside the lock.
    [[nodiscard]] std::vector<QByteArray> leftBehind() const override
    {
        std::vector<QByteArray> left;
        for (const auto &path : m_ensemble.below(ZPath("/sim"))) {
            const auto node = m_ensemble.node(path);
            const bool isOfLock =
                path.bytes().startsWith(lockPath.bytes()) || path.bytes().startsWith(otherPath.bytes());
            if (isOfLock && (recipes::readSequence(path.name()) || (node && !node->stat.ephemeralOwner.isNone())))
                left.push_back(path.bytes());
        }
        return left;
    }
    [[nodiscard]] Duration longestGap() const override { return 2 * m_context.scenario.sessionTimeout + 10s; }
    [[nodiscard]] Duration longestLife() const override
    {
        return m_context.scenario.sessionTimeout + sim::zookeeper::EnsembleOptions().tick + 1s;
    }

private:
    [[nodiscard]] bool hasMajority() const { return 2 * (count() - static_cast<int>(m_stopped.size())) > count(); }
    void elect()
    {
        if (!hasMajority() || m_ensemble.isServing())
            return;
        m_leader = 0;
        while (m_stopped.contains(m_leader))
            ++m_leader;
        m_ensemble.setServing(true);
        reachMembers();
    }
    void reachMembers()
    {
        for (int member = 0; member < count(); ++member)
            m_context.network.setDown(m_ensemble.serverOf(member),
                                      m_stopped.contains(member) || !m_ensemble.isServing());
    }
    [[nodiscard]] QByteArray wordsOf(const ZPath &path, const std::optional<zk::Node> &node) const
    {
        QByteArrayList words;
        if (node && !node->stat.ephemeralOwner.isNone())
            words << "of " + ownerName(node->stat.ephemeralOwner);
        if (const auto watchers = namesOf(m_ensemble.watchersOf(path, false)); !watchers.isEmpty())
            words << "watched by " + watchers;
        if (const auto watchers = namesOf(m_ensemble.watchersOf(path, true)); !watchers.isEmpty())
            words << "children watched by " + watchers;
        if (node && node->stat.ephemeralOwner.isNone() && isShown(node->data))
            words.push_front("= " + node->data);
        return words.join(", ");
    }
    [[nodiscard]] std::shared_ptr<zk::Session> sessionOf(int contender) const
    {
        const auto process = std::size_t(contender / m_context.scenario.perProcess);
        return process < m_sessions.size() ? m_sessions[process].lock() : nullptr;
    }
    // What stands for it in the tree, if anything does.
    [[nodiscard]] std::optional<ZPath> nodeOf(int contender) const
    {
        const auto session = sessionOf(contender);
        for (const auto &path : m_ensemble.below(ZPath("/sim"))) {
            const auto node = m_ensemble.node(path);
            if (session && node && node->stat.ephemeralOwner == session->id())
                return path;
        }
        return std::nullopt;
    }
    [[nodiscard]] ZooKeeperAccess::Paths pathsOf(int contender) const
    {
        const bool isOpposite = m_context.scenario.isOppositeOrder && contender % 2 == 1;
        return isOpposite ? m_opposite : m_paths;
    }
    static ZooKeeperAccess::Paths paths(std::vector<ZPath> all)
    {
        return std::make_shared<const std::vector<ZPath>>(std::move(all));
    }
    [[nodiscard]] QByteArray ownerName(zk::SessionId session) const
    {
        const auto known = m_owners.find(session);
        return known == m_owners.end() ? session.text().toLatin1() : known->second;
    }
    [[nodiscard]] QByteArray namesOf(const std::vector<zk::SessionId> &sessions) const
    {
        QByteArrayList names;
        for (const auto session : sessions)
            names << ownerName(session);
        std::sort(names.begin(), names.end());
        return names.join(' ');
    }
    static sim::zookeeper::EnsembleOptions options(const Scenario &scenario)
    {
        sim::zookeeper::EnsembleOptions options;
        const int needed = has(scenario, FaultKind::Lag) ? 3 : 1; // one alone cannot lag
        options.members = scenario.servers > 0 ? scenario.servers : needed;
        return options;
    }

    const ServersContext m_context;
    Random m_random;
    sim::zookeeper::Ensemble m_ensemble;
    std::deque<std::weak_ptr<zk::Session>> m_sessions; // by process
    const ZooKeeperAccess::Paths m_paths,
        m_opposite;                  // nearly all contenders have the same
    std::vector<NodeName> m_granted; // by contender
    std::set<int> m_stopped;         // members
    int m_leader = 0;
    mutable std::map<zk::SessionId, QByteArray> m_owners; // as they were seen, the dead ones too
};

} // namespace

std::unique_ptr<Servers> makeZooKeeperServers(const ServersContext &context)
{
    return std::make_unique<ZooKeeperServers>(context);
}

} // namespace lockscope::contention
