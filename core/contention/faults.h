// SPDX-License-Identifier: Apache-2.0
// What goes wrong in a run, and when: the faults drawn by the seed, once per round each, and the planned ones.
//
// A drawn fault waits for a moment of the round (so many grants), then either happens to somebody, or lies in
// wait for that contender's next message: that is how a client dies between any two of its requests.
#pragma once

#include "core/contention/guarantees.h"
#include "core/contention/servers.h"
#include "core/rules/catalogue.h"

namespace lockscope::contention {

// What a run on the simulated servers of one backend may come to: which faults can happen there, what each may
// break, and for how long. One implementation per backend, as a table of functions.

// For how long two may believe to hold it, where a fault makes them: a span that a run never exceeds.
//
// What bounds it is always the same: the time until whoever lost the lock hears of it, or until it stops believing by
// its own clock.
struct OverlapBound {
    Duration atMost{};
    QString words; // "the pause, less the session's timeout"
};

// Of that fault alone; whether it makes two believe at all is in guarantees.h. None where it never does.
[[nodiscard]] std::optional<OverlapBound> overlapBound(const Scenario &scenario, FaultKind fault);
// The same of a lease that its holder renews at every third of it, whatever server keeps it.
[[nodiscard]] std::optional<OverlapBound> overlapOfRenewedLease(const Scenario &scenario, FaultKind fault);
// The same of what an SQL connection holds. Its session asks every second whether the connection stands, and takes
// ten of silence for its end.
[[nodiscard]] std::optional<OverlapBound> overlapOfSqlConnection(const Scenario &scenario, FaultKind fault);
constexpr Duration sqlSilence = std::chrono::seconds(11);
// Of all that is to happen in it.
[[nodiscard]] Duration overlapBound(const Scenario &scenario);

struct BackendRules {
    std::vector<FaultKind> never; // cannot happen there
    // Why two may believe to hold it, and for how long at most.
    GuaranteeRule (*twoBelieve)(const recipes::RecipeInfo &recipe, FaultKind fault, const QByteArray &invariant);
    std::optional<OverlapBound> (*overlap)(const Scenario &scenario, FaultKind fault);
    // How long one that hears nothing believes by its own clock.
    Duration (*believesFor)(const Scenario &scenario);
    // What the order of grants and tokens may lose beside.
    GuaranteeRule (*outOfOrder)(const recipes::RecipeInfo &recipe, FaultKind fault,
                                const QByteArray &invariant) = nullptr;
    bool leasesAreSessions = false; // a hold ends with a session, whose timeout is what faults are drawn by
    bool playsTwoLocks = false;
    // Whether the recipe can be played on so many servers; null: on as many as it is always.
    bool (*canHave)(const recipes::RecipeInfo &recipe, int servers) = nullptr;
    // Whether a client can do it there; BadInput says what can be done. Null: nothing can.
    Result<void> (*checkAct)(const QByteArray &command) = nullptr;
    bool serversStop = false; // one by one, by an operator
    bool playsRows = false;   // several of a table, by an index or without one

    [[nodiscard]] bool canHappen(FaultKind fault) const { return std::ranges::find(never, fault) == never.end(); }
};
[[nodiscard]] const BackendRules &rulesOf(BackendKind backend);

#define LOCKSCOPE_RULES(Name) [[nodiscard]] BackendRules rulesOf##Name();
LOCKSCOPE_BACKENDS(LOCKSCOPE_RULES)
#undef LOCKSCOPE_RULES

// The pause before a client connects again, the round trips of that, and of one question more.
constexpr Duration connectsAgain = std::chrono::milliseconds(250);

[[nodiscard]] inline Duration less(Duration span, Duration by)
{
    return std::max(span - by, Duration::zero());
}
// How much longer the first one works: where all queue first, until they have, a millisecond apart, and it is quiet.
[[nodiscard]] inline Duration joining(const Scenario &scenario)
{
    return scenario.arrival == Arrival::Queued ? (scenario.contenders + 20) * Duration(std::chrono::milliseconds(1))
                                               : Duration::zero();
}
// Why two may believe to hold it, by what holds it there (resources/guarantees.json).
[[nodiscard]] GuaranteeRule twoBelieve(const QByteArray &held, FaultKind fault);
[[nodiscard]] bool isAny(FaultKind fault, std::initializer_list<const char *> names);

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
