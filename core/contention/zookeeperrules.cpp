// SPDX-License-Identifier: Apache-2.0
#include "core/contention/backendrules.h"
#include "core/contention/zookeeperaccess.h"

namespace lockscope::contention {

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

} // namespace lockscope::contention
