// SPDX-License-Identifier: Apache-2.0
#include "core/contention/faults.h"

#include "core/contention/mutants/mutants.h"

namespace lockscope::contention {

namespace {

bool waitsForMessage(FaultKind kind)
{
    return kind == FaultKind::Crash || kind == FaultKind::LoseRequest || kind == FaultKind::LoseReply
           || kind == FaultKind::Delay;
}

bool hasSessions(const QByteArray &recipe)
{
    const auto *info = playable(recipe);
    return info && rulesOf(info->backend).leasesAreSessions;
}

// As parts of a lease: shorter than that, or longer. Both are different stories.
constexpr double shortestPart = 0.02, shortSpread = 0.6, longer = 1.2, longSpread = 1.5;

} // namespace

std::chrono::milliseconds leaseOf(const Scenario &scenario)
{
    return hasSessions(scenario.recipe) ? scenario.sessionTimeout : scenario.ttl;
}

Duration longestOf(const Scenario &scenario, FaultKind kind)
{
    const auto drawn = scaled(leaseOf(scenario), longer + longSpread);
    Duration longest{};
    if (std::find(scenario.faults.begin(), scenario.faults.end(), kind) != scenario.faults.end())
        longest = drawn;
    for (const auto &fault : scenario.planned) {
        if (fault.kind == kind)
            longest = std::max<Duration>(longest, fault.lasts.count() > 0 ? Duration(fault.lasts) : drawn);
    }
    return longest;
}

Faults::Faults(const Scenario &scenario, VirtualLoop &world, sim::Network &network, Servers &servers,
               Clients &clients, Trace &trace, Random random)
    : m_scenario(scenario), m_world(world), m_network(network), m_servers(servers), m_clients(clients),
      m_trace(trace), m_seed(random.next())
{
    if (!scenario.faults.empty() || !scenario.planned.empty())
        m_network.setJudge([this](const sim::Message &message) { return judge(message); });
    quint64 number = 0;
    for (const auto &planned : scenario.planned) {
        auto fault = std::make_shared<Drawn>(draw(planned.kind, number++));
        fault->isPlanned = true;
        fault->planned = planned;
        fault->victim = planned.contender;
        fault->skips = 0;
        fault->lastsAsPlanned = planned.lasts.count() > 0;
        if (fault->lastsAsPlanned)
            fault->lasts = planned.lasts;
        ++m_pending;
        schedule(fault, planned.at);
    }
}

Faults::Drawn Faults::draw(FaultKind kind, quint64 number)
{
    Drawn fault;
    fault.random = Random(m_seed + 0x9e3779b97f4a7c15 * (number + 1));
    auto &random = fault.random;
    fault.kind = kind;
    fault.afterGrants = static_cast<int>(random.below(static_cast<quint64>(m_scenario.contenders + 1) / 2 + 1));
    fault.onHolder = random.below(3) != 0;
    fault.after = Duration(static_cast<Duration::rep>(
        random.below(static_cast<quint64>(std::chrono::duration_cast<Duration>(m_scenario.hold).count()) + 1)));
    fault.skips = static_cast<int>(random.below(4));
    const auto percent = static_cast<double>(random.below(100)) / 100;
    const bool isShort = random.below(2) == 0;
    fault.lasts = scaled(lease(), isShort ? shortestPart + shortSpread * percent : longer + longSpread * percent);
    return fault;
}

void Faults::beginRound()
{
    m_grantsOfRound = 0;
    const auto ofRound = static_cast<quint64>(++m_round) << 32; // beyond the planned ones
    for (const auto kind : m_scenario.faults) {
        const auto fault = std::make_shared<Drawn>(draw(kind, ofRound + static_cast<quint64>(kind)));
        const auto &withheld = m_scenario.withheld;
        if (std::find(withheld.begin(), withheld.end(), m_drawn++) != withheld.end())
            continue;
        ++m_pending;
        if (fault->afterGrants == 0)
            schedule(fault, fault->after);
        else
            m_waiting.push_back(fault);
    }
}

void Faults::see(const Event &event)
{
    if (event.mark != Mark::Holds)
        return;
    ++m_grantsOfRound;
    std::erase_if(m_waiting, [this](const Shared &fault) {
        if (fault->afterGrants > m_grantsOfRound)
            return false;
        schedule(fault, fault->after);
        return true;
    });
}

void Faults::schedule(const Shared &fault, Duration after)
{
    m_world.runAt(m_world.now() + after, [this, fault] { happen(fault); });
}

int Faults::pickVictim(Drawn &fault)
{
    if (fault.isPlanned)
        return fault.victim;
    std::vector<int> holders, others;
    for (int i = 0; i < m_scenario.contenders; ++i) {
        if (m_clients.processOf(i) && m_clients.holds(i))
            holders.push_back(i);
        else if (m_clients.processOf(i) && m_trace.isWaiting(i))
            others.push_back(i);
    }
    const bool needsHolder = fault.kind == FaultKind::DeadThread;
    auto &chosen = (fault.onHolder || needsHolder || others.empty()) && !holders.empty() ? holders : others;
    if (chosen.empty() || (needsHolder && holders.empty()))
        return nobody;
    return chosen[fault.random.below(chosen.size())];
}

void Faults::happen(const Shared &fault)
{
    const auto victim = pickVictim(*fault);
    if (victim != nobody && applyFault(fault, victim))
        return;
    // Nobody holds just now, or nobody is there: a moment later, and not for ever.
    if (++fault->tries < 400) {
        schedule(fault, 1ms);
    } else {
        --m_pending;
        m_lastEnd = m_trace.now();
    }
}

bool Faults::applyFault(const Shared &fault, int victim)
{
    if (waitsForMessage(fault->kind)) {
        fault->victim = victim;
        applyOnNextChance(fault);
        return true;
    }
    auto *process = m_clients.processOf(victim);
    switch (fault->kind) {
    case FaultKind::Pause:
        if (!process || process->isPaused())
            return false;
        pause(*fault, victim);
        return true;
    case FaultKind::Partition: partition(*fault, victim); return true;
    case FaultKind::Drift:
        if (!process)
            return false;
        drift(*fault, victim);
        return true;
    case FaultKind::DeadThread:
        if (!m_clients.holds(victim))
            return false;
        tell(*fault, victim);
        m_clients.stopWorking(victim);
        endsAfter(Duration::zero(), [] {}); // nobody ends the process: what it keeps alive it keeps
        return true;
    default: return strikeServer(*fault, victim);
    }
}

bool Faults::strikeServer(Drawn &fault, int victim)
{
    bool isDone = false;
    QByteArray how;
    Duration over{};
    switch (fault.kind) {
    case FaultKind::Expire: isDone = m_servers.expire(victim); break;
    case FaultKind::ForceRelease:
        // Mostly the holder's; by mistake a waiter's.
        isDone = (!fault.onHolder && m_servers.forceRelease(true)) || m_servers.forceRelease(false);
        victim = nobody;
        break;
    case FaultKind::Lag:
        over = fault.lasts;
        isDone = m_servers.lag(scaled(lease(), 0.01 + static_cast<double>(fault.random.below(20)) / 100), over);
        victim = nobody;
        break;
    case FaultKind::ClockJump: isDone = jumpClock(fault, victim, how); break;
    case FaultKind::RestartEmpty:
        over = fault.lastsAsPlanned ? fault.lasts : 20ms;
        isDone = m_servers.restartEmpty(over, fault.planned.only);
        victim = nobody;
        break;
    case FaultKind::Failover:
        isDone = m_servers.failover(fault.planned.only);
        victim = nobody;
        break;
    case FaultKind::LostPublish:
        isDone = m_servers.loseNextPublish();
        victim = nobody;
        break;
    default: break;
    }
    if (!isDone)
        return false;
    tell(fault, victim, how);
    endsAfter(over, [] {});
    return true;
}

bool Faults::jumpClock(Drawn &fault, int &victim, QByteArray &how)
{
    using Clock = PlannedFault::Clock;
    const auto chosen = fault.planned.clock;
    const bool isBackDrawn = fault.random.below(2) == 0;
    const bool isServersDrawn = fault.random.below(2) == 0;
    const bool isBack = chosen == Clock::Drawn ? isBackDrawn : fault.planned.isBack;
    const auto by = std::chrono::duration_cast<std::chrono::milliseconds>(isBack ? -fault.lasts : fault.lasts);
    const bool isOfOne = chosen == Clock::Server;
    if (isOfOne ? m_servers.jumpClockOf(fault.planned.server, by)
                : chosen == Clock::Drawn && isServersDrawn && m_servers.jumpClock(by)) {
        how = isOfOne && m_servers.count() > 1 ? "server " + QByteArray::number(fault.planned.server + 1) + "'s"
                                               : QByteArrayLiteral("the server's");
        victim = nobody;
        return true;
    }
    auto *process = isOfOne ? nullptr : m_clients.processOf(victim);
    how = "a client's";
    if (process)
        process->jumpWallClock(by);
    return process;
}

void Faults::pause(const Drawn &fault, int victim)
{
    tell(fault, victim);
    m_trace.add({{}, victim, Mark::Pauses, false, 0, {}, {}});
    m_clients.processOf(victim)->pause();
    endsAfter(fault.lasts, [this, victim] {
        auto *process = m_clients.processOf(victim);
        if (!process || !process->isPaused())
            return;
        m_trace.add({{}, victim, Mark::Resumes, false, 0, {}, {}});
        process->resume();
    });
}

void Faults::partition(Drawn &fault, int victim)
{
    const auto which = fault.random.below(3); // one way, the other, both
    const auto number = m_clients.processOf(victim)->number();
    static constexpr const char *words[] = {"to the server", "from the server", "both ways"};
    tell(fault, victim, words[which]);
    for (int server = 0; server < m_servers.count(); ++server) {
        if (which != 1)
            m_network.block(number, server, sim::Direction::ToServer);
        if (which != 0)
            m_network.block(number, server, sim::Direction::ToClient);
    }
    endsAfter(fault.lasts, [this, number] {
        for (int server = 0; server < m_servers.count(); ++server) {
            m_network.open(number, server, sim::Direction::ToServer);
            m_network.open(number, server, sim::Direction::ToClient);
        }
    });
}

void Faults::drift(Drawn &fault, int victim)
{
    tell(fault, victim);
    auto *process = m_clients.processOf(victim);
    process->setRate(fault.random.below(2) == 0 ? slowClock : fastClock);
    endsAfter(3 * lease(), [this, victim, process] {
        if (m_clients.processOf(victim) == process)
            process->setRate(1);
    });
}

void Faults::applyOnNextChance(const Shared &fault)
{
    m_ambushes.push_back(fault);
    // Its victim may have nothing to say any more.
    m_world.runAt(m_world.now() + m_scenario.hold + 100ms, [this, fault] {
        if (std::find(m_ambushes.begin(), m_ambushes.end(), fault) != m_ambushes.end() && !fault->isPlanned)
            fault->victim = nobody;
    });
    // And at last nobody may.
    m_world.runAt(m_world.now() + m_scenario.hold + 5s, [this, fault] {
        if (std::erase(m_ambushes, fault) > 0) {
            --m_pending;
            m_lastEnd = m_trace.now();
        }
    });
}

sim::Delivery Faults::judge(const sim::Message &message)
{
    for (std::size_t i = 0; i < m_ambushes.size(); ++i) {
        const auto fault = m_ambushes[i];
        auto *process = fault->victim == nobody ? nullptr : m_clients.processOf(fault->victim);
        if (fault->victim != nobody && (!process || process->number() != message.process))
            continue;
        const auto wanted = fault->kind == FaultKind::LoseReply ? sim::Direction::ToClient : sim::Direction::ToServer;
        if (message.direction != wanted || fault->skips-- > 0)
            continue;
        m_ambushes.erase(m_ambushes.begin() + static_cast<std::ptrdiff_t>(i));
        const auto victim = message.process * m_scenario.perProcess;
        tell(*fault, victim);
        endsAfter(Duration::zero(), [] {});
        if (fault->kind == FaultKind::Delay)
            return {false, std::min<Duration>(fault->lasts, lease() / 2)};
        if (fault->kind != FaultKind::Crash)
            return {true, {}};
        // In its place in the world, not in the middle of the client's call.
        const bool isSent = fault->random.below(2) == 0;
        m_world.post([this, victim] { m_clients.kill(victim); });
        return {!isSent, {}};
    }
    return {};
}

void Faults::tell(const Drawn &fault, int victim, const QByteArray &how)
{
    m_trace.add({{}, victim, Mark::Fault, false, 0, nameOf(fault.kind), how});
}

void Faults::endsAfter(Duration span, std::function<void()> end)
{
    m_world.runAt(m_world.now() + span, [this, end = std::move(end)] {
        end();
        --m_pending;
        m_lastEnd = m_trace.now();
    });
}

} // namespace lockscope::contention
