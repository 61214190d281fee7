// SPDX-License-Identifier: Apache-2.0
// The simulated ZooKeeper as the servers of a run: one server, or three where a follower is to lag.
#include "core/contention/access.h"
#include "core/rules/turn.h"
#include "core/contention/faults.h"
#include "core/base/text.h"

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
                m_owners[session->id()] = int(process) * m_context.scenario.perProcess;
        }
        std::vector<ServerLine> lines;
        for (int member = 0; member < count(); ++member) {
            for (const auto &path : m_ensemble.below(ZPath("/sim"), member)) {
                const auto node = m_ensemble.node(path, member);
                lines.push_back({member, path.bytes(), wordsOf(path, node), {}});
                if (node)
                    lines.back().owner = ownerOf(node->stat.ephemeralOwner);
                for (const auto session : m_ensemble.watchersOf(path, false)) {
                    if (const int watcher = ownerOf(session); watcher != nobody)
                        lines.back().watchers.push_back(watcher);
                }
                std::ranges::sort(lines.back().watchers);
            }
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
        const int owner = ownerOf(session);
        return owner == nobody ? session.text().toLatin1() : contenderName(owner, m_context.scenario.contenders);
    }
    [[nodiscard]] int ownerOf(zk::SessionId session) const
    {
        const auto known = m_owners.find(session);
        return known == m_owners.end() ? nobody : known->second;
    }
    [[nodiscard]] QByteArray namesOf(const std::vector<zk::SessionId> &sessions) const
    {
        auto names = mapped<QByteArrayList>(sessions, [&](const auto session) { return ownerName(session); });
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
    mutable std::map<zk::SessionId, int> m_owners; // as they were seen, the dead ones too
};

} // namespace

std::unique_ptr<Servers> makeZooKeeperServers(const ServersContext &context)
{
    return std::make_unique<ZooKeeperServers>(context);
}

// Which faults can happen there, and what they may break.
using recipes::RecipeInfo;
using recipes::Shape;

namespace {

std::optional<OverlapBound> overlapOnZooKeeper(const Scenario &scenario, FaultKind fault)
{
    switch (fault) {
    case FaultKind::Pause:
        return OverlapBound{less(longestOf(scenario, fault), scenario.sessionTimeout) + connectsAgain,
                            u"the pause less the session's timeout, plus the time to reconnect"_s};
    case FaultKind::Expire: return OverlapBound{connectsAgain, u"the time to reconnect"_s};
    case FaultKind::Drift:
        return OverlapBound{scaled(scenario.sessionTimeout, 1 / slowClock - 1),
                            u"the time by which its clock is slow at the end of the session"_s};
    case FaultKind::ForceRelease: return OverlapBound{scenario.hold + joining(scenario), u"the rest of its work"_s};
    default: return {};
    }
}

GuaranteeRule heardLate(const RecipeInfo &recipe, FaultKind fault, const QByteArray &invariant)
{
    const auto because =
        u"a client that hears of its grant only after the grant has ended believes in it after its successor did"_s;
    const bool hasOrder = recipe.fair && !recipe.counted;
    if (isAny(fault, {"pause", "partition"}) && (invariant == "tokens" || hasOrder))
        return {because, true};
    // Forced between its look and its delete, it deletes the node of its successor, who hears of its grant late from
    // a follower that lags. (Forced before that it sees whose node it is, and deletes nothing.)
    if (fault == FaultKind::ForceRelease && recipe.shape == Shape::Node && invariant == "tokens")
        return {because, true};
    return {};
}

} // namespace

BackendRules rulesOfZooKeeper()
{
    return {.never = {FaultKind::RestartEmpty, FaultKind::Failover, FaultKind::LostPublish},
            .twoBelieve = [](const RecipeInfo &, FaultKind fault,
                             const QByteArray &) { return twoBelieve("ZooKeeper session", fault); },
            .overlap = &overlapOnZooKeeper,
            .believesFor =
                [](const Scenario &scenario) { return std::max<Duration>(scenario.sessionTimeout, scenario.hold); },
            .outOfOrder = &heardLate,
            .leasesAreSessions = true,
            .playsTwoLocks = true,
            .canHave = [](const RecipeInfo &, int servers) { return servers % 2 == 1; },
            .checkAct = &checkZooKeeperAct,
            .serversStop = true};
}

namespace {

struct ShellCommand {
    QByteArray verb, path, data;
    bool isEphemeral = false, isSequential = false, watches = false;
};

constexpr int mostDataBytes = 16 << 20;

// Options first, as the shell has them.
Result<ShellCommand> read(const QByteArray &command)
{
    auto words = command.simplified().split(' ');
    ShellCommand read;
    read.verb = words.takeFirst();
    std::optional<int> size;
    while (!words.isEmpty() && words.first().startsWith('-')) {
        const auto option = words.takeFirst();
        bool isKnown = true;
        if (option == "-e" && read.verb == "create")
            read.isEphemeral = true;
        else if (option == "-s" && read.verb == "create")
            read.isSequential = true;
        else if (option == "-w" && (read.verb == "get" || read.verb == "stat" || read.verb == "ls"))
            read.watches = true;
        else if (option == "-size" && (read.verb == "create" || read.verb == "set") && !words.isEmpty())
            size = words.takeFirst().toInt(&isKnown);
        else
            isKnown = false;
        if (!isKnown || (size && (*size < 0 || *size > mostDataBytes)))
            return Error{ErrorCode::BadInput, u"%1 has no option %2"_s.arg(label(read.verb), label(option))};
    }
    read.path = words.isEmpty() ? QByteArray() : words.takeFirst();
    read.data = size ? QByteArray(*size, 'x') : words.join(' ');
    return read;
}

// "v2, zxid 5": the change it is of.
QByteArray zxidWords(qint64 zxid)
{
    return "zxid " + QByteArray::number(zxid & 0xffffffff);
}

QByteArray wordsOf(const zk::Created &created)
{
    return created.path.bytes();
}
QByteArray wordsOf(bool)
{
    return "ok";
}
QByteArray wordsOf(const zk::Node &node)
{
    constexpr qsizetype most = 40;
    return node.data.left(most) + ", " + zxidWords(node.stat.mzxid);
}
QByteArray wordsOf(const zk::Stat &stat)
{
    return "version " + QByteArray::number(stat.version) + ", " + zxidWords(stat.mzxid);
}
QByteArray wordsOf(const zk::Children &children)
{
    auto names = mapped<QByteArrayList>(children.names, [&](const auto &name) { return name.bytes(); });
    std::ranges::sort(names);
    return names.isEmpty() ? QByteArray("none") : names.join(", ");
}

template <class T>
Completion<QByteArray> wordsWhenThere(Loop &loop, const Reply<T> &reply)
{
    Completion<QByteArray> words(loop);
    reply.then([words](const Result<T> &result) {
        words.complete(result ? wordsOf(*result) : result.error().message.toUtf8());
    });
    return words;
}

zk::CreateMode modeOf(const ShellCommand &command)
{
    if (command.isSequential)
        return command.isEphemeral ? zk::CreateMode::EphemeralSequential : zk::CreateMode::PersistentSequential;
    return command.isEphemeral ? zk::CreateMode::Ephemeral : zk::CreateMode::Persistent;
}

} // namespace

Result<void> checkZooKeeperAct(const QByteArray &command)
{
    TRY(const auto &parsed, read(command));
    const QByteArrayList verbs{"create", "set", "delete", "sync", "get", "stat", "ls"};
    const bool hasPath = parsed.path.startsWith('/') || parsed.path.startsWith('{');
    const bool isTooLong = !parsed.data.isEmpty() && parsed.verb != "create" && parsed.verb != "set";
    if (verbs.contains(parsed.verb) && hasPath && !isTooLong)
        return {};
    return Error{ErrorCode::BadInput, u"unknown command \"%1\"; commands: %2, each with a path"_s.arg(
                                          label(command), QString::fromLatin1(verbs.join(", ")))};
}

Completion<QByteArray> doOnZooKeeper(zk::Session &session, const QByteArray &command)
{
    auto &loop = session.loop();
    const auto parsed = read(command);
    if (!parsed || parsed->path.startsWith('{')) {
        Completion<QByteArray> why(loop);
        why.complete(parsed ? QByteArray("it has no node") : parsed.error().message.toUtf8());
        return why;
    }
    const ZPath path(parsed->path);
    const auto never = Deadline::never();
    const auto watch = parsed->watches ? std::optional(zk::Watch(loop)) : std::nullopt;
    if (parsed->verb == "create")
        return wordsWhenThere(loop, session.create(path, parsed->data, modeOf(*parsed), zk::openAcl(), never));
    if (parsed->verb == "set")
        return wordsWhenThere(loop, session.set(path, parsed->data, zk::anyVersion, never));
    if (parsed->verb == "delete")
        return wordsWhenThere(loop, session.remove(path, zk::anyVersion, never));
    if (parsed->verb == "get")
        return wordsWhenThere(loop, session.get(path, watch, never));
    if (parsed->verb == "stat")
        return wordsWhenThere(loop, session.exists(path, watch, never));
    if (parsed->verb == "ls")
        return wordsWhenThere(loop, session.children(path, watch, never));
    return wordsWhenThere(loop, session.sync(path, never));
}

} // namespace lockscope::contention
