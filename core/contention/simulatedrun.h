// SPDX-License-Identifier: Apache-2.0
// One run of a scenario in the simulated world: its processes, its rounds, its faults, and what is checked at
// the end. simulate() drives it.
//
// Whoever died comes back in the next round. After the faults everything must come to an end.
#pragma once

#include "core/contention/checkers.h"
#include "core/contention/faults.h"
#include "core/contention/round.h"
#include "core/contention/serverhistory.h"

namespace lockscope::contention {

class SimulatedRun : private Clients {
public:
    explicit SimulatedRun(const Scenario &scenario);
    ~SimulatedRun() override;

    // Unsupported when there is no simulated server for the recipe.
    [[nodiscard]] Result<void> start();
    [[nodiscard]] bool isOver() const { return m_isOver; }
    // Goes on for a while of its own time.
    void advance();
    [[nodiscard]] Moment now() const;
    [[nodiscard]] qint64 grants() const { return m_trace.grants(); }
    [[nodiscard]] Recording take();

private:
    [[nodiscard]] world::Process *processOf(int contender) override;
    [[nodiscard]] bool holds(int contender) const override;
    void kill(int contender) override;
    void stopWorking(int contender) override;

    Task<void> play();
    Task<void> playRound();
    Task<void> connectAll();
    Task<void> untilDone();
    Task<void> cleanUp();
    [[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makeLock(int number);
    void addContender(int number);
    void perform(const Act &act);
    void followServers();
    [[nodiscard]] Duration patience() const;
    [[nodiscard]] bool isHeldForEver() const;
    [[nodiscard]] QString whyNotDone(int contender) const;

    const Scenario m_scenario;
    VirtualLoop m_world;
    const Instant m_start;
    Random m_random;
    world::Network m_network;
    Trace m_trace;
    Checkers m_checkers;
    Resource m_resource;
    std::unique_ptr<Servers> m_servers;
    std::vector<std::unique_ptr<world::Process>> m_processes; // empty where one died
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

} // namespace lockscope::contention
