// SPDX-License-Identifier: Apache-2.0
#include "core/contention/backendrules.h"
#include "core/contention/mutants/mutants.h"

namespace lockscope::contention {

using recipes::EndsBy;
using recipes::RecipeInfo;

namespace {

bool isOnTheWay(FaultKind fault)
{
    return fault == FaultKind::Partition || fault == FaultKind::Delay || fault == FaultKind::LoseRequest
           || fault == FaultKind::LoseReply;
}

std::optional<OverlapBound> overlapOnRedis(const Scenario &scenario, FaultKind fault)
{
    if (playable(scenario.recipe)->renewed)
        return overlapOfRenewedLease(scenario, fault);
    const OverlapBound untilOver{Duration(scenario.ttl), u"the lease"_s};
    if (isOnTheWay(fault))
        return untilOver;
    switch (fault) {
    case FaultKind::Pause: return OverlapBound{longestOf(scenario, fault), u"the pause"_s};
    case FaultKind::Drift: return overlapOfRenewedLease(scenario, fault); // at its end, renewed or not
    case FaultKind::ForceRelease:
    case FaultKind::ClockJump:
    case FaultKind::RestartEmpty:
    case FaultKind::Failover: return untilOver;
    default: return {};
    }
}

QString redisFaultReason(const RecipeInfo &recipe, FaultKind fault)
{
    const auto untilItAsks = recipe.renewed ? u"until its next renewal"_s
                                            : u"until its work is done or its lease is over, as nothing renews it"_s;
    switch (fault) {
    case FaultKind::Pause:
        return u"the pause is longer than the lease: the key expires, and the paused client cannot know"_s;
    case FaultKind::ForceRelease:
        if (recipe.counted)
            return {}; // its key holds the number of free permits, not those that are out
        return u"a holder whose lock was released by force believes that it has it "_s + untilItAsks;
    case FaultKind::ClockJump:
        return recipe.endsBy == EndsBy::Timestamp
                   ? u"the time in the key is by the clients' clocks: a client whose clock is ahead takes the lock over early"_s
                   : u"a server whose clock jumps ahead ends leases early"_s;
    case FaultKind::RestartEmpty:
        return u"the key is lost with the data, and its holder believes that it has the lock "_s + untilItAsks;
    case FaultKind::Failover: return u"the key had not reached the replica that took over"_s;
    default: return {};
    }
}

// Beside what breaks by one fault alone: what takes two of them.
GuaranteeRule twoBelieveOnRedis(const RecipeInfo &recipe, FaultKind fault, const QByteArray &invariant)
{
    if (fault == FaultKind::Drift)
        return {(recipe.renewed ? u"if no renewal gets through, %1"_s : u"as nothing renews it, %1"_s)
                    .arg(u"a holder whose clock is slow assumes it holds the lock for longer than the lease lasts"_s),
                recipe.renewed || invariant == "effect"};
    if (!recipe.namesHolder && isAny(fault, {"partition", "delay"}))
        return {u"its DEL arrives after its lease has ended, and deletes the key of its successor"_s, true};
    if (recipe.endsBy == EndsBy::Timestamp && isAny(fault, {"lose-request", "lose-reply"}))
        return {
            u"two clients that ask in the same millisecond write the same time, and one that got no answer takes the lock for its own"_s,
            true};
    return {redisFaultReason(recipe, fault)};
}

Result<void> checkRedisAct(const QByteArray &command)
{
    if (!command.trimmed().isEmpty())
        return {};
    return Error{ErrorCode::BadInput, u"a contender that does something sends a command"_s};
}

} // namespace

BackendRules rulesOfRedis()
{
    return {.never = {FaultKind::Expire, FaultKind::Lag}, // it has no sessions
            .twoBelieve = &twoBelieveOnRedis,
            .overlap = &overlapOnRedis,
            .believesFor = [](const Scenario &scenario) -> Duration { return scenario.ttl; },
            .canHave = [](const RecipeInfo &recipe, int servers) { return recipe.quorum && servers % 2 == 1; },
            .checkAct = &checkRedisAct};
}

} // namespace lockscope::contention
