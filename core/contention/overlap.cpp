// SPDX-License-Identifier: Apache-2.0
#include "core/contention/overlap.h"

#include "core/contention/faults.h"
#include "core/contention/mutants/mutants.h"

#include <algorithm>

namespace lockscope::contention {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

// The pause before a client connects again, the round trips of that, and of one question more.
constexpr Duration connectsAgain = 250ms;
// A session on MariaDB asks every second whether its connection stands, and takes ten of silence for its end.
constexpr Duration asksEvery = 1s, silence = 11s;

Duration less(Duration span, Duration by)
{
    return std::max(span - by, Duration::zero());
}

// How much longer the first one works: where all queue first, until they have, a millisecond apart, and it is quiet.
Duration joining(const Scenario &scenario)
{
    return scenario.arrival == Arrival::Queued ? (scenario.contenders + 20) * Duration(1ms) : Duration::zero();
}

std::optional<OverlapBound> ofZooKeeper(const Scenario &scenario, FaultKind fault)
{
    switch (fault) {
    case FaultKind::Pause:
        return OverlapBound{less(longestOf(scenario, fault), scenario.sessionTimeout) + connectsAgain,
                            u"the pause, less the session's timeout, and a new connection"_s};
    case FaultKind::Expire: return OverlapBound{connectsAgain, u"a new connection"_s};
    case FaultKind::Drift:
        return OverlapBound{scaled(scenario.sessionTimeout, 1 / slowClock - 1),
                            u"what the clock is late by at the end of the session"_s};
    case FaultKind::ForceRelease: return OverlapBound{scenario.hold + joining(scenario), u"as long as it works"_s};
    default: return {};
    }
}

bool isOnTheWay(FaultKind fault)
{
    return fault == FaultKind::Partition || fault == FaultKind::Delay || fault == FaultKind::LoseRequest
           || fault == FaultKind::LoseReply;
}

std::optional<OverlapBound> ofRedis(const Scenario &scenario, FaultKind fault)
{
    const Duration lease = scenario.ttl;
    const bool isLong = playable(scenario.recipe)->renewed;
    const OverlapBound untilAsked{lease / 3 + connectsAgain, u"a third of the lease, when it is prolonged next"_s};
    const OverlapBound untilOver{lease, u"the lease"_s};
    if (!isLong && isOnTheWay(fault))
        return untilOver;
    switch (fault) {
    case FaultKind::Pause:
        return isLong ? OverlapBound{less(longestOf(scenario, fault), lease * 2 / 3) + connectsAgain,
                                     u"the pause, less two thirds of the lease"_s}
                      : OverlapBound{longestOf(scenario, fault), u"the pause"_s};
    case FaultKind::Drift:
        return OverlapBound{scaled(lease, 1 / slowClock - 1), u"what the clock is late by at the end of the lease"_s};
    case FaultKind::ForceRelease:
    case FaultKind::ClockJump: return isLong ? untilAsked : untilOver;
    case FaultKind::RestartEmpty:
    case FaultKind::Failover:
        // While the server is away it asks again at every twentieth.
        return isLong ? OverlapBound{untilAsked.atMost + lease / 20, untilAsked.words} : untilOver;
    default: return {};
    }
}

std::optional<OverlapBound> ofMariaDb(const Scenario &scenario, FaultKind fault)
{
    switch (fault) {
    case FaultKind::Expire:
    case FaultKind::ForceRelease:
        return OverlapBound{asksEvery + connectsAgain, u"a second, when it asks whether its connection stands"_s};
    case FaultKind::Pause:
        return OverlapBound{longestOf(scenario, fault) + asksEvery + connectsAgain, u"the pause, and a second"_s};
    default: return {};
    }
}

} // namespace

std::optional<OverlapBound> overlapBound(const Scenario &scenario, FaultKind fault)
{
    switch (playable(scenario.recipe)->backend) {
    case BackendKind::ZooKeeper: return ofZooKeeper(scenario, fault);
    case BackendKind::Redis: return ofRedis(scenario, fault);
    case BackendKind::MariaDb: return ofMariaDb(scenario, fault);
    }
    return {};
}

Duration overlapBound(const Scenario &scenario)
{
    auto faults = scenario.faults;
    for (const auto &planned : scenario.planned)
        faults.push_back(planned.kind);
    if (faults.size() == 1 && scenario.rounds == 1) {
        const auto alone = overlapBound(scenario, faults.front());
        return alone ? alone->atMost : Duration::zero();
    }
    // Together one may keep from hearing what another did: then its own clock is what ends the belief, be it slow
    // and be it stopped for a while.
    const auto backend = playable(scenario.recipe)->backend;
    Duration own = scenario.ttl;
    if (backend == BackendKind::ZooKeeper)
        own = std::max<Duration>(scenario.sessionTimeout, scenario.hold);
    else if (backend == BackendKind::MariaDb)
        own = silence;
    return scaled(own, 1 / slowClock) + longestOf(scenario, FaultKind::Pause) + connectsAgain;
}

} // namespace lockscope::contention
