#include "core/simulate/run.h"

#include "core/async/sleep.h"
#include "core/base/text.h"
#include "core/recipes/catalogue.h"

namespace lockscope::simulate {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t mostEventsKept = 2'000'000;

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

} // namespace

Run::Run(const Scenario &scenario)
    : m_scenario(scenario), m_start(begin(m_world)), m_random(stream(scenario.seed, 1)),
      m_network(m_world, stream(scenario.seed, 2), {}),
      m_trace(scenario, [this] { return now(); }, mostEventsKept), m_checkers(scenario, m_trace),
      m_resource(m_trace, scenario.checksFencingTokens), m_scope(m_world)
{
    m_servers = makeServers({m_scenario, m_world, m_network, m_trace, stream(scenario.seed, 3)});
    m_processes.resize(std::size_t((scenario.contenders + scenario.perProcess - 1) / scenario.perProcess));
    m_clients.resize(std::size_t(scenario.contenders));
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
}

Run::~Run()
{
    // Locks that go would otherwise still be given back.
    for (const auto &process : m_processes) {
        if (process)
            process->kill();
    }
    m_scope.cancelAll();
    m_clients.clear();
}

Moment Run::now() const
{
    return m_world.now() - m_start;
}

Result<bool> Run::start()
{
    if (!m_servers)
        return Error{ErrorCode::Unsupported,
                     u"the simulated world has no server yet for recipe %1"_s.arg(label(m_scenario.recipe))};
    m_scope.launch(play());
    return true;
}

void Run::advance()
{
    const auto next = m_world.next();
    m_world.advance(std::max<Duration>(5ms, next ? *next - m_world.now() : Duration::zero()));
}

// --- the clients -----------------------------------------------------------------------------------

Process *Run::processOf(int contender)
{
    const auto &process = m_processes[std::size_t(contender / m_scenario.perProcess)];
    return process && process->isAlive() ? process.get() : nullptr;
}

bool Run::holds(int contender) const
{
    const auto &client = m_clients[std::size_t(contender)];
    return client.contender && client.contender->holds();
}

void Run::kill(int contender)
{
    auto *process = processOf(contender);
    if (!process)
        return;
    process->kill();
    const auto first = contender / m_scenario.perProcess * m_scenario.perProcess;
    const auto last = std::min(first + m_scenario.perProcess, m_scenario.contenders);
    for (int i = first; i < last; ++i) {
        auto &client = m_clients[std::size_t(i)];
        if (!client.access)
            continue;
        m_trace.add({{}, i, Mark::Dies, false, 0, {}, {}});
        client.contender.reset();
        client.access.reset();
        whenDone(i);
    }
}

void Run::stopWorking(int contender)
{
    m_clients[std::size_t(contender)].contender->stopWorking();
}

void Run::whenDone(int number)
{
    auto &client = m_clients[std::size_t(number)];
    if (std::exchange(client.isDone, true))
        return;
    if (--m_notDone == 0 && m_allDone)
        m_allDone->complete(true);
}

bool Run::reads(int number) const
{
    // Spread evenly, and the same for every seed; the first writes.
    return number * m_scenario.readersPercent / 100 != (number - 1) * m_scenario.readersPercent / 100 && number > 0;
}

void Run::makeContender(int number)
{
    auto &client = m_clients[std::size_t(number)];
    auto lock = client.access->makeLock(reads(number), Random(m_random.next()));
    if (!lock) {
        m_trace.add({{}, number, Mark::GivesUp, false, 0, lock.error().message.toUtf8(), {}});
        whenDone(number);
        return;
    }
    ContenderPlan plan;
    plan.number = number;
    plan.reads = reads(number);
    plan.isShared = plan.reads || m_scenario.limit > 1;
    plan.hold = m_scenario.hold;
    plan.wait = m_scenario.wait;
    client.contender = std::make_unique<Contender>(*processOf(number), *std::move(lock), plan, m_trace, m_resource,
                                                   [this, number] { whenDone(number); });
}

// --- the rounds ------------------------------------------------------------------------------------

Task<void> Run::play()
{
    for (int round = 0; round < m_scenario.rounds; ++round) {
        co_await playRound();
        if (m_notDone > 0)
            break; // stuck: said already
    }
    co_await cleanUp();
    m_isOver = true;
}

Task<void> Run::playRound()
{
    co_await connectAll();
    m_trace.beginRound();
    m_notDone = m_scenario.contenders;
    m_allDone.emplace(m_world);
    for (auto &client : m_clients)
        client.isDone = false;
    for (int i = 0; i < m_scenario.contenders; ++i)
        makeContender(i);
    m_faults->beginRound();
    if (m_scenario.arrival == Arrival::Queued) {
        const OneShot<bool> mayRelease(m_world);
        co_await joinQueued(mayRelease);
    } else {
        co_await joinSpread();
    }
    co_await untilDone();
    for (auto &client : m_clients)
        client.contender.reset();
}

Task<void> Run::connectAll()
{
    for (int i = 0; i < m_scenario.contenders; ++i) {
        auto &client = m_clients[std::size_t(i)];
        auto &process = m_processes[std::size_t(i / m_scenario.perProcess)];
        if (client.access && client.access->isReady())
            continue;
        client.access.reset();
        if (!process || !process->isAlive()) {
            if (process)
                m_trace.add({{}, i, Mark::Comes, false, 0, {}, {}});
            process = std::make_unique<Process>(m_world, i / m_scenario.perProcess);
        }
        client.access = m_servers->open(*process, i);
    }
    // With a server that is away they cannot; then they try as they are.
    for (int waited = 0; waited < 5000; ++waited) {
        bool areReady = true;
        for (const auto &client : m_clients)
            areReady = areReady && client.access->isReady();
        if (areReady)
            co_return;
        const auto pause = sleepFor(m_world, 1ms);
        co_await pause;
    }
}

Task<void> Run::joinQueued(OneShot<bool> mayRelease)
{
    auto &first = m_clients.front();
    if (first.contender) {
        first.contender->holdUntil(mayRelease);
        first.contender->join();
    }
    for (int waited = 0; waited < 5000 && first.contender && !first.contender->holds() && !first.isDone; ++waited) {
        const auto pause = sleepFor(m_world, 1ms);
        co_await pause;
    }
    // A millisecond apart, so that the queue stands in the order of the lanes; very many come together.
    const Duration apart = m_scenario.contenders <= 1000 ? Duration(1ms) : Duration(1us);
    for (int i = 1; i < m_scenario.contenders; ++i) {
        if (auto &contender = m_clients[std::size_t(i)].contender)
            contender->join();
        const auto pause = sleepFor(m_world, apart);
        co_await pause;
    }
    co_await untilQuiet();
    mayRelease.complete(true);
}

Task<void> Run::joinSpread()
{
    std::vector<std::pair<Duration, int>> arrivals;
    const auto within = std::chrono::duration_cast<Duration>(m_scenario.arriveWithin).count();
    for (int i = 0; i < m_scenario.contenders; ++i)
        arrivals.emplace_back(Duration(static_cast<Duration::rep>(m_random.below(static_cast<quint64>(within) + 1))), i);
    std::sort(arrivals.begin(), arrivals.end());
    const auto began = m_world.now();
    for (const auto &[when, number] : arrivals) {
        const auto moment = sleepUntil(m_world, began + when);
        co_await moment;
        if (auto &contender = m_clients[std::size_t(number)].contender)
            contender->join();
    }
}

// Everybody has had an answer and asks nothing more; or polls, which it does for ever.
Task<void> Run::untilQuiet()
{
    const auto began = now();
    for (;;) {
        const auto pause = sleepFor(m_world, 2ms);
        co_await pause;
        bool isQuiet = now() - m_trace.lastSent() >= 5ms;
        for (int i = 0; isQuiet && i < m_scenario.contenders; ++i)
            isQuiet = m_trace.requestsOut(i) == 0;
        if (isQuiet || now() - began > 500ms)
            co_return;
    }
}

// How long the lock may stay without a new holder while somebody waits, when nothing goes wrong any more.
Duration Run::patience() const
{
    return 2 * std::max<Duration>(m_scenario.ttl, m_scenario.sessionTimeout) + m_scenario.hold + 15s;
}

Task<void> Run::untilDone()
{
    while (m_notDone > 0) {
        OneShot<bool> over(m_world);
        m_allDone->then([over](bool) { over.complete(true); });
        over.completeAt(Deadline::at(m_world.now() + patience() / 4), false);
        co_await over;
        const auto lastNews = std::max(m_lastGrant, m_faults->lastEnd());
        if (m_notDone == 0 || !m_faults->areOver() || now() - lastNews <= patience())
            continue;
        for (int i = 0; i < m_scenario.contenders; ++i) {
            if (!m_clients[std::size_t(i)].isDone)
                m_trace.breaks("progress", i,
                               holds(i) ? u"still holds, long after everything was well again"_s
                                        : u"still waits, long after everything was well again"_s);
        }
        co_return;
    }
}

// Everybody goes, and one lease later nothing may be left.
Task<void> Run::cleanUp()
{
    for (auto &client : m_clients) {
        client.contender.reset();
    }
    const auto grace = sleepFor(m_world, 2s); // for what goes on in the background
    co_await grace;
    for (const auto &process : m_processes) {
        if (process)
            process->kill();
    }
    for (auto &client : m_clients)
        client.access.reset();
    const auto lease = sleepFor(m_world, m_servers->longestLife());
    co_await lease;
    m_leftBehind = m_servers->leftBehind();
    if (m_leftBehind.empty())
        co_return;
    m_trace.breaks("cleanliness", nobody,
                   u"left behind: %1%2"_s.arg(label(m_leftBehind.front()),
                                              m_leftBehind.size() > 1
                                                  ? u" and %1 more"_s.arg(m_leftBehind.size() - 1)
                                                  : QString()));
}

Recording Run::take()
{
    auto recording = m_trace.take("sim");
    recording.leftBehind = std::move(m_leftBehind);
    recording.counters.longestOverlap = m_checkers.longestOverlap();
    return recording;
}

} // namespace lockscope::simulate
