// SPDX-License-Identifier: Apache-2.0
#include "core/contention/simulation.h"

#include "core/base/text.h"
#include "core/contention/faults.h"
#include "core/contention/mutants/mutants.h"
#include "core/contention/round.h"

namespace lockscope::contention {

namespace {

constexpr std::size_t mostEventsOfARun = 2'000'000;

// Some instant that is no special number: scripts take 0 for "never".
Instant begin(VirtualLoop &world)
{
    world.advance(std::chrono::hours(24 * 365 * 56));
    return world.now();
}

// Streams of their own, so that a fault more does not change the latencies before it.
Random stream(quint64 seed, quint64 number)
{
    return Random(seed * 0x9e3779b97f4a7c15 + number);
}

// Of at most so many contenders.
constexpr int mostContendersFollowed = 24;

// A minute of polling by a dozen; more than that nobody steps through.
constexpr std::size_t mostKept = 60'000;

// What a run's servers had when, and the messages between them and the contenders: beside the events, for whoever
// looks at a run. Only of few contenders, whose picture a person can follow; nothing of it changes the run.
class ServerHistory {
public:
    // All outlive it.
    ServerHistory(const Scenario &scenario, const Servers &servers, const sim::Network &network,
                  std::function<Moment()> now)
        : m_scenario(scenario), m_servers(servers), m_network(network), m_now(std::move(now)),
          m_isDown(std::size_t(servers.count()))
    {
        m_history.isKept = true;
        m_history.servers = servers.count();
    }

    // Something may have changed.
    void look()
    {
        if (m_history.until || isFull()) {
            if (!m_history.until)
                m_history.until = m_now();
            return;
        }
        for (std::size_t i = 0; i < m_isDown.size(); ++i) {
            const bool isDown = m_network.isDown(static_cast<int>(i));
            if (m_isDown[i] == isDown)
                continue;
            m_isDown[i] = isDown;
            note({{}, {static_cast<int>(i), {}, isDown ? "down" : "up", {}}, false});
        }
        std::map<std::pair<int, QByteArray>, ServerLine> now;
        for (auto &line : m_servers.state())
            now.emplace(std::pair(line.server, line.name), std::move(line));
        for (const auto &[key, line] : m_known) {
            if (!now.contains(key))
                note({{}, {key.first, key.second, {}, {}}, true});
        }
        for (const auto &[key, line] : now) {
            const auto known = m_known.find(key);
            if (known == m_known.end() || !(known->second == line))
                note({{}, line, false});
        }
        m_known = std::move(now);
    }

    // `arrives` counts from the start of the run, as all moments.
    void sent(const sim::Message &message, std::optional<Moment> arrives)
    {
        if (m_history.until)
            return;
        const bool toServer = message.direction == sim::Direction::ToServer;
        m_history.messages.push_back(
            {m_now(), arrives, message.process * m_scenario.perProcess, message.server, toServer});
    }

    // Leaves it empty.
    [[nodiscard]] History take() { return std::exchange(m_history, {}); }

private:
    void note(ServerChange &&change)
    {
        change.at = m_now();
        m_history.changes.push_back(std::move(change));
    }
    [[nodiscard]] bool isFull() const { return m_history.changes.size() + m_history.messages.size() >= mostKept; }

    const Scenario m_scenario;
    const Servers &m_servers;
    const sim::Network &m_network;
    std::function<Moment()> m_now;
    std::map<std::pair<int, QByteArray>, ServerLine> m_known;
    std::vector<bool> m_isDown;
    History m_history;
};

} // namespace

// One run of a scenario in the simulated world: its processes, its rounds, its faults, and what is checked at
// the end. simulate() drives it.
//
// Whoever died comes back in the next round. After the faults everything must come to an end.
class SimulatedRun : private Clients {
public:
    explicit SimulatedRun(const Scenario &scenario)
        : m_scenario(scenario), m_start(begin(m_world)), m_random(stream(scenario.seed, 1)),
          m_network(m_world, stream(scenario.seed, 2), {scenario.leastLatency, scenario.mostLatency}),
          m_trace(
              scenario, [this] { return now(); }, mostEventsOfARun),
          m_checkers(scenario, m_trace), m_resource(m_trace, scenario.checksFencingTokens, scenario.rows),
          m_scope(m_world)
    {
        m_servers = makeServers({m_scenario, m_world, m_network, m_trace, stream(scenario.seed, 3)});
        m_processes.resize(std::size_t((scenario.contenders + scenario.perProcess - 1) / scenario.perProcess));
        m_accesses.resize(std::size_t(scenario.contenders));
        if (!m_servers)
            return;
        Clients &clients = *this;
        m_faults = std::make_unique<Faults>(m_scenario, m_world, m_network, *m_servers, clients, m_trace,
                                            stream(scenario.seed, 4));
        m_trace.onEvent([this](const Event &event) {
            m_checkers.see(event);
            m_faults->see(event);
            if (event.mark == Mark::Holds)
                m_lastGrant = event.at;
        });
        if (scenario.keepsEvents && scenario.contenders <= mostContendersFollowed)
            followServers();
    }
    ~SimulatedRun() override
    {
        // Locks that go would otherwise still be given back.
        for (const auto &process : m_processes) {
            if (process)
                process->kill();
        }
        m_network.setWatcher({}, {});
        m_scope.cancelAll();
        m_round.reset();
        m_accesses.clear();
    }

    // Unsupported when there is no simulated server for the recipe.
    [[nodiscard]] Result<void> start()
    {
        if (!m_servers)
            return Error{ErrorCode::Unsupported,
                         u"the simulator has no server for recipe %1"_s.arg(label(m_scenario.recipe))};
        m_scope.launch(play());
        for (const auto &act : m_scenario.acts)
            m_world.runAt(m_start + act.at, [this, &act] { perform(act); });
        return {};
    }
    [[nodiscard]] bool isOver() const { return m_isOver; }
    // Goes on for a while of its own time.
    void advance()
    {
        const auto next = m_world.next();
        m_world.advance(std::max<Duration>(5ms, next ? *next - m_world.now() : Duration::zero()));
    }
    [[nodiscard]] Moment now() const { return m_world.now() - m_start; }
    [[nodiscard]] qint64 grants() const { return m_trace.grants(); }
    [[nodiscard]] Recording take()
    {
        auto recording = m_trace.take("sim");
        recording.elapsed = m_elapsed;
        recording.leftBehind = std::move(m_leftBehind);
        recording.counters.longestOverlap = m_checkers.longestOverlap();
        if (m_history)
            recording.history = m_history->take();
        return recording;
    }

private:
    // The clients.

    [[nodiscard]] sim::Process *processOf(int contender) override
    {
        const auto &process = m_processes[std::size_t(contender / m_scenario.perProcess)];
        return process && process->isAlive() ? process.get() : nullptr;
    }
    [[nodiscard]] bool holds(int contender) const override { return m_round && m_round->holds(contender); }
    void kill(int contender) override
    {
        auto *process = processOf(contender);
        if (!process)
            return;
        process->kill();
        const auto first = contender / m_scenario.perProcess * m_scenario.perProcess;
        const auto last = std::min(first + m_scenario.perProcess, m_scenario.contenders);
        for (int i = first; i < last; ++i) {
            if (!m_accesses[std::size_t(i)])
                continue;
            m_trace.add({{}, i, Mark::Dies, false, 0, {}, {}});
            if (m_round)
                m_round->remove(i);
            m_accesses[std::size_t(i)].reset();
        }
    }
    void stopWorking(int contender) override
    {
        if (!m_round)
            return;
        m_hung.insert(contender);
        m_round->stopWorking(contender);
    }

    // The rounds.

    Task<void> play()
    {
        for (int round = 0; round < m_scenario.rounds; ++round) {
            co_await playRound();
            if (m_round->notDone() > 0)
                break; // stuck: said already
        }
        m_elapsed = now();
        m_trace.noteEnd();
        co_await cleanUp();
        m_isOver = true;
    }
    Task<void> playRound()
    {
        // Whose thread died is started anew, as who died.
        for (const auto contender : std::exchange(m_hung, {}))
            kill(contender);
        m_round.reset();
        co_await connectAll();
        // A millisecond apart is more than the network's differences; very many come together.
        const Duration slow = m_scenario.mostLatency > 300us ? 4 * m_scenario.mostLatency : 0us;
        const Duration apart = m_scenario.contenders <= 1000 ? std::max<Duration>(1ms, slow) : Duration(1us);
        m_round =
            std::make_unique<Round>(m_world, m_scenario, m_trace, m_resource, Round::Pace{apart, 4 * apart + 4ms});
        for (int i = 0; i < m_scenario.contenders; ++i)
            addContender(i);
        m_faults->beginRound();
        const Random arrivals(m_random.next());
        co_await m_round->join(arrivals);
        co_await untilDone();
    }
    void open(int contender)
    {
        auto &process = m_processes[std::size_t(contender / m_scenario.perProcess)];
        if (!process || !process->isAlive()) {
            if (process)
                m_trace.add({{}, contender, Mark::Comes, false, 0, {}, {}});
            process = std::make_unique<sim::Process>(m_world, contender / m_scenario.perProcess);
        }
        m_accesses[std::size_t(contender)] = m_servers->open(*process, contender);
    }
    // Those that died while they connected come again. False: some are not connected yet.
    bool openMissing()
    {
        for (int i = 0; i < m_scenario.contenders; ++i) {
            if (!m_accesses[std::size_t(i)])
                open(i);
        }
        return std::ranges::all_of(m_accesses, [](const auto &access) { return access->isReady(); });
    }
    Task<void> connectAll()
    {
        for (int i = 0; i < m_scenario.contenders; ++i) {
            auto &access = m_accesses[std::size_t(i)];
            if (access && access->isReady())
                continue;
            access.reset();
            open(i);
        }
        // With a server that is away they cannot; then they try as they are.
        for (int waited = 0; !openMissing() && waited < 5000; ++waited)
            co_await sleepFor(m_world, 1ms);
    }
    Task<void> untilDone()
    {
        while (m_round->notDone() > 0) {
            const Completion<bool> over(m_world);
            m_round->allDone().then([over](bool) { over.complete(true); });
            over.completeAt(Deadline::at(m_world.now() + patience() / 4), false);
            co_await over;
            const auto lastNews = std::max(m_lastGrant, m_faults->lastEnd());
            if (m_round->notDone() == 0 || !m_faults->areOver() || now() - lastNews <= patience())
                continue;
            for (int i = 0; i < m_scenario.contenders; ++i) {
                if (!m_round->isDone(i))
                    m_trace.breaks("progress", i, whyNotDone(i));
            }
            co_return;
        }
    }
    // Everybody goes, and one lease later nothing may be left.
    Task<void> cleanUp()
    {
        // All may have given up, or hang, while something is still wrong: what is late then comes late.
        for (int waited = 0; waited < 3000 && !m_faults->areOver(); ++waited) {
            co_await sleepFor(m_world, 100ms);
        }
        for (const auto contender : std::exchange(m_hung, {}))
            kill(contender); // else its lock would be given back
        m_round.reset();
        // For what goes on in the background: it may have to connect again first, which takes a Redis client up to
        // 5 s of pause and 5 s of trying.
        co_await sleepFor(m_world, 12s);
        for (const auto &process : m_processes) {
            if (process)
                process->kill();
        }
        for (auto &access : m_accesses)
            access.reset();
        co_await sleepFor(m_world, m_servers->longestLife());
        m_leftBehind = m_servers->leftBehind();
        if (m_leftBehind.empty())
            co_return;
        m_trace.breaks("cleanliness", nobody,
                       u"left behind: %1%2"_s.arg(
                           label(m_leftBehind.front()),
                           m_leftBehind.size() > 1 ? u" and %1 more"_s.arg(m_leftBehind.size() - 1) : QString()));
    }
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(int number)
    {
        const auto once = [&] {
            return m_accesses[std::size_t(number)]->makeLock(isReader(m_scenario, number), Random(m_random.next()));
        };
        if (m_scenario.acquires == 1)
            return once();
        TRY(auto &nested,
            nestedLock(*processOf(number), m_scenario.acquires, playable(m_scenario.recipe)->reentrant, once));
        (nested)->onMember([this, number](std::size_t place) {
            m_trace.add({{},
                         number,
                         Mark::Gets,
                         false,
                         0,
                         QByteArray::number(place + 1) + " of " + QByteArray::number(m_scenario.acquires),
                         {}});
        });
        return std::unique_ptr<recipes::Lock>(std::move(nested));
    }
    void addContender(int number)
    {
        auto lock = makeLock(number);
        if (lock) {
            m_round->add(number, *processOf(number), *std::move(lock));
            return;
        }
        m_trace.add({{}, number, Mark::GivesUp, false, 0, lock.error().message.toUtf8(), {}});
        m_round->remove(number);
    }
    // Who is dead does nothing, and who is paused does it later.
    void perform(const Act &act)
    {
        if (act.contender < 0) {
            const auto wanted = serverAct(act.command);
            const bool isDone = m_servers->setStopped(wanted->server, wanted->isStop);
            m_trace.add({{}, nobody, Mark::Acts, false, 0, act.command, isDone ? "ok" : "nothing to do"});
            return;
        }
        auto *process = processOf(act.contender);
        if (!process)
            return;
        process->post([this, &act] {
            const auto &access = m_accesses[std::size_t(act.contender)];
            const auto command = m_servers->resolved(act.command);
            const auto outcome = access ? access->act(command) : std::nullopt;
            if (!outcome)
                return;
            outcome->then([this, command, contender = act.contender](const QByteArray &words) {
                m_trace.add({{}, contender, Mark::Acts, false, 0, command, words});
            });
        });
    }
    void followServers()
    {
        m_history = std::make_unique<ServerHistory>(m_scenario, *m_servers, m_network, [this] { return now(); });
        m_network.setWatcher(
            [this](const sim::Message &message, std::optional<Instant> arrives) {
                m_history->sent(message, arrives ? std::optional<Moment>(*arrives - m_start) : std::nullopt);
            },
            [this] { m_history->look(); });
        m_trace.onEvent([this](const Event &) { m_history->look(); });
    }
    // How long the lock may stay without a new holder while somebody waits, when nothing goes wrong any more.
    [[nodiscard]] Duration patience() const
    {
        if (isHeldForEver()) // that need not be waited for
            return std::min<Duration>(m_scenario.ttl, m_scenario.sessionTimeout) / 2 + m_scenario.hold;
        return m_servers->longestGap() + m_scenario.hold;
    }
    // Whose process keeps a lock alive without a thread to give it back has it for ever.
    [[nodiscard]] bool isHeldForEver() const
    {
        const auto &recipe = *playable(m_scenario.recipe);
        const bool isKeptAlive = !recipe.optimistic
                                 && (recipe.renewed || recipe.endsBy == recipes::EndsBy::Session
                                     || recipe.endsBy == recipes::EndsBy::Never);
        return isKeptAlive && std::ranges::any_of(m_hung, [this](int contender) { return holds(contender); });
    }
    [[nodiscard]] QString whyNotDone(int contender) const
    {
        if (isHeldForEver())
            return holds(contender)
                       ? u"still holds: its process is alive, but the thread that would release it has ended"_s
                       : u"still waits: the holder's process keeps the lock, but the thread that would release it has ended"_s;
        return holds(contender) ? u"still holds, long after everything was well again"_s
                                : u"still waits, long after everything was well again"_s;
    }

    const Scenario m_scenario;
    VirtualLoop m_world;
    const Instant m_start;
    Random m_random;
    sim::Network m_network;
    Trace m_trace;
    Checkers m_checkers;
    Resource m_resource;
    std::unique_ptr<Servers> m_servers;
    std::vector<std::unique_ptr<sim::Process>> m_processes;   // empty where one died
    std::vector<std::unique_ptr<ContenderAccess>> m_accesses; // by contender; empty where one died
    std::unique_ptr<Faults> m_faults;
    std::unique_ptr<ServerHistory> m_history; // of few contenders
    std::unique_ptr<Round> m_round;
    std::set<int> m_hung; // contenders whose thread died in this round
    Moment m_lastGrant{};
    Moment m_elapsed{}; // without the cleaning up
    std::vector<QByteArray> m_leftBehind;
    bool m_isOver = false;
    Scope m_scope;
};

Result<Recording> simulate(const Scenario &scenario, const OnProgress &onProgress)
{
    TRY_VOID(scenario.check());
    constexpr int crowd = 1000;
    std::optional<freelist::Arena> arena;
    if (scenario.contenders >= crowd)
        arena.emplace();
    SimulatedRun run(scenario); // and whatever is of it goes before that
    TRY_VOID(run.start());
    const auto expected = qint64(scenario.contenders) * scenario.rounds;
    while (!run.isOver()) {
        run.advance();
        if (onProgress && !onProgress({run.now(), run.grants(), expected}))
            return Error{ErrorCode::Cancelled, u"the run was ended at %1 ms"_s.arg(run.now().count() / 1000)};
    }
    return run.take();
}

} // namespace lockscope::contention
