// One run of a scenario in the simulated world: its processes, its rounds, its faults, and what is checked at
// the end. simulate() drives it.
//
// A round: the first contender takes the lock, the others join while it holds, and when all of them have come
// to rest it begins to release. Whoever died comes back in the next round. After the faults everything must
// come to an end.
#pragma once

#include "core/simulate/checkers.h"
#include "core/simulate/contender.h"
#include "core/simulate/faults.h"

namespace lockscope::simulate {

class Run : private Clients {
public:
    explicit Run(const Scenario &scenario);
    ~Run() override;

    // Unsupported when there is no simulated server for the recipe.
    [[nodiscard]] Result<bool> start();
    [[nodiscard]] bool isOver() const { return m_isOver; }
    // Goes on for a while of its own time.
    void advance();
    [[nodiscard]] Moment now() const;
    [[nodiscard]] qint64 grants() const { return m_trace.grants(); }
    [[nodiscard]] Recording take();

private:
    struct Client {
        std::unique_ptr<Access> access;
        std::unique_ptr<Contender> contender;
        bool isDone = false;
    };

    [[nodiscard]] Process *processOf(int contender) override;
    [[nodiscard]] bool holds(int contender) const override;
    void kill(int contender) override;
    void stopWorking(int contender) override;

    Task<void> play();
    Task<void> playRound();
    Task<void> connectAll();
    Task<void> joinQueued(OneShot<bool> mayRelease);
    Task<void> joinSpread();
    Task<void> untilQuiet();
    Task<void> untilDone();
    Task<void> cleanUp();
    void makeContender(int number);
    void whenDone(int number);
    [[nodiscard]] bool reads(int number) const;
    [[nodiscard]] Duration patience() const;

    const Scenario m_scenario;
    VirtualLoop m_world;
    const Instant m_start;
    Random m_random;
    Network m_network;
    Trace m_trace;
    Checkers m_checkers;
    Resource m_resource;
    std::unique_ptr<Servers> m_servers;
    std::vector<std::unique_ptr<Process>> m_processes; // empty where one died
    std::vector<Client> m_clients;
    std::unique_ptr<Faults> m_faults;
    int m_notDone = 0;
    std::optional<OneShot<bool>> m_allDone;
    Moment m_lastGrant{};
    std::vector<QByteArray> m_leftBehind;
    bool m_isOver = false;
    Scope m_scope;
};

} // namespace lockscope::simulate
