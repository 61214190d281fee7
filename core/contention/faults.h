// SPDX-License-Identifier: Apache-2.0
// What goes wrong in a run, and when: the faults drawn by the seed, once per round each, and the planned ones.
//
// A drawn fault waits for a moment of the round (so many grants), then either happens to somebody, or lies in
// wait for that contender's next message: that is how a client dies between any two of its requests.
#pragma once

#include "core/contention/servers.h"

namespace lockscope::contention {

// How fast a clock that drifts goes.
constexpr double slowClock = 0.8, fastClock = 1.25;
[[nodiscard]] inline Duration scaled(Duration span, double factor)
{
    return Duration(static_cast<Duration::rep>(static_cast<double>(span.count()) * factor));
}
// The longest that such a fault (a pause, a partition) can last in that scenario; planned ones as they are planned.
[[nodiscard]] Duration longestOf(const Scenario &scenario, FaultKind kind);

// What faults can do to a run's clients.
class Clients {
public:
    virtual ~Clients() = default;
    // Null when it is dead.
    [[nodiscard]] virtual sim::Process *processOf(int contender) = 0;
    [[nodiscard]] virtual bool holds(int contender) const = 0;
    virtual void kill(int contender) = 0; // with everybody who shares its process
    // Its thread is gone, its process is not; until the next round.
    virtual void stopWorking(int contender) = 0;
};

class Faults {
public:
    Faults(const Scenario &scenario, VirtualLoop &world, sim::Network &network, Servers &servers, Clients &clients,
           Trace &trace, Random random);

    void beginRound();
    // Nothing is wrong now, and nothing will be unless the lock goes on being granted; since when.
    [[nodiscard]] bool areOver() const { return m_pending == int(m_waiting.size()); }
    [[nodiscard]] Moment lastEnd() const { return m_lastEnd; }
    void see(const Event &event);

private:
    struct Drawn {
        Random random{0}; // its own: without the others it happens as it did beside them
        FaultKind kind = FaultKind::Pause;
        int afterGrants = 0;
        bool onHolder = true;
        Duration after{};
        Duration lasts{};
        int skips = 0;       // so many messages go well before
        int victim = nobody; // while it lies in wait; nobody: whoever comes
        bool isPlanned = false;
        bool lastsAsPlanned = false; // not as long as the seed drew
        int tries = 0;
        PlannedFault planned; // while it is
    };
    using Shared = std::shared_ptr<Drawn>;

    // `number` tells it from all others of the run.
    [[nodiscard]] Drawn draw(FaultKind kind, quint64 number);
    void schedule(const Shared &fault, Duration after);
    void happen(const Shared &fault);
    [[nodiscard]] bool applyFault(const Shared &fault, int victim);
    [[nodiscard]] bool strikeServer(Drawn &fault, int victim);
    [[nodiscard]] bool jumpClock(Drawn &fault, int &victim, QByteArray &how);
    void applyOnNextChance(const Shared &fault);
    [[nodiscard]] sim::Delivery judge(const sim::Message &message);
    void pause(const Drawn &fault, int victim);
    void partition(Drawn &fault, int victim);
    void drift(Drawn &fault, int victim);
    [[nodiscard]] int pickVictim(Drawn &fault);
    [[nodiscard]] Duration lease() const { return leaseOf(m_scenario); }
    void tell(const Drawn &fault, int victim, const QByteArray &how = {});
    void endsAfter(Duration span, std::function<void()> end);

    const Scenario m_scenario;
    VirtualLoop &m_world;
    sim::Network &m_network;
    Servers &m_servers;
    Clients &m_clients;
    Trace &m_trace;
    const quint64 m_seed;
    int m_round = 0;
    int m_grantsOfRound = 0;
    int m_drawn = 0; // of the scenario's faults
    int m_pending = 0;
    Moment m_lastEnd{};
    std::vector<Shared> m_waiting;  // for their number of grants
    std::vector<Shared> m_ambushes; // for a message
};

} // namespace lockscope::contention
