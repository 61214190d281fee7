// SPDX-License-Identifier: Apache-2.0
#include "core/contention/guarantees.h"

#include "core/base/text.h"
#include "core/contention/faults.h"
#include "core/contention/mutants/mutants.h"

namespace lockscope::contention {

using recipes::EndsBy;
using recipes::RecipeInfo;

namespace {

// The one flaw of SETNX and EXPIRE: between the two the key has no end.
GuaranteeRule endless(FaultKind fault)
{
    if (!isAny(fault, {"crash", "lose-request", "lose-reply", "delay", "partition", "failover", "pause"}))
        return {};
    return {u"after SETNX the EXPIRE does not follow: the key never expires"_s, fault == FaultKind::Pause};
}

// What nothing ends stays where nobody gives it back.
GuaranteeRule staysForEver(const RecipeInfo &recipe, FaultKind fault, const QByteArray &invariant)
{
    if (isAny(fault, {"crash", "dead-thread"}))
        return {u"nothing ends the lock of a dead client: it remains until it is force-released"_s};
    if (!recipe.atomicAcquire && isAny(fault, {"lose-reply", "partition"}))
        return {u"the reply to the UPDATE was lost: the owner of the flag is unknown, and no client clears it"_s,
                fault == FaultKind::Partition};
    if (fault == FaultKind::Partition && invariant == "cleanliness")
        return {u"a request of a client that gave up arrives later and takes the lock for no client"_s, true};
    return {};
}

GuaranteeRule leftBehind(const RecipeInfo &recipe, FaultKind fault)
{
    if (recipe.endsBy == EndsBy::Timestamp
        && isAny(fault, {"crash", "lose-request", "lose-reply", "partition", "delay", "pause", "failover",
                         "clock-jump", "dead-thread"}))
        return {u"its key has no TTL: if no client deletes it, it remains with an expired time"_s,
                isAny(fault, {"pause", "clock-jump", "failover"})};
    if (recipe.endsBy == EndsBy::PermitDeadline && fault == FaultKind::Failover)
        return {u"a replica that missed a returned permit keeps it as taken until the next client asks for one"_s,
                true};
    if (recipe.endsBy == EndsBy::PermitDeadline && isAny(fault, {"crash", "dead-thread"}))
        return {u"a dead holder's permit stays until the next client asks for one"_s};
    if (recipe.lastingQueue && isAny(fault, {"crash", "failover"}))
        return {u"its queue and timeout keys have no TTL"_s, fault == FaultKind::Failover};
    return {};
}

// A process that lives keeps its session, its connection or its watchdog alive, whatever its threads do.
GuaranteeRule hungForEver(const RecipeInfo &recipe, FaultKind fault)
{
    const bool isKeptAlive = recipe.endsBy == EndsBy::Session || recipe.renewed;
    if (fault != FaultKind::DeadThread || !isKeptAlive || recipe.optimistic)
        return {};
    return {u"its thread has ended, but its process keeps the lock alive: it does not end by itself"_s};
}

QString forHowLong(const QByteArray &recipe, FaultKind fault)
{
    Scenario scenario;
    scenario.recipe = recipe;
    const auto bound = overlapBound(scenario, fault);
    return bound ? clause(u"this lasts at most %1"_s.arg(bound->words)) : QString();
}

bool losesTokens(const RecipeInfo &recipe, FaultKind fault)
{
    return recipe.losesTokensWithData && (fault == FaultKind::RestartEmpty || fault == FaultKind::Failover);
}

} // namespace

const std::vector<Invariant> &invariants()
{
    static const std::vector<Invariant> all{
        {"exclusion", u"never two holders"_s},
        {"effect", u"no former holder writes after its successor has written"_s},
        {"order", u"first come, first served"_s},
        {"progress", u"no lost wake-up: every contender gets its turn or gives up"_s},
        {"cleanliness", u"nothing left behind"_s},
        {"tokens", u"fencing tokens only grow"_s},
    };
    return all;
}

GuaranteeRule guaranteeRule(const QByteArray &recipe, FaultKind fault, const QByteArray &invariant, bool fenced)
{
    const auto *info = playable(recipe);
    if (!info)
        return {};
    const auto &rules = rulesOf(info->backend);
    if (invariant == "exclusion" || invariant == "effect") {
        if (invariant == "effect" && fenced && info->fenced && !losesTokens(*info, fault))
            return {};
        auto expected = rules.twoBelieve(*info, fault, invariant);
        if (invariant == "exclusion" && expected.mayBreak())
            expected.because += forHowLong(recipe, fault);
        return expected;
    }
    if (invariant == "progress" || invariant == "cleanliness") {
        if (info->endsBy == EndsBy::Never)
            return staysForEver(*info, fault, invariant);
        if (!info->atomicAcquire)
            return endless(fault);
        return invariant == "cleanliness" ? leftBehind(*info, fault) : hungForEver(*info, fault);
    }
    if (invariant == "tokens" && losesTokens(*info, fault))
        return {u"its counter is lost with the data"_s};
    if (rules.outOfOrder && (invariant == "tokens" || invariant == "order"))
        return rules.outOfOrder(*info, fault, invariant);
    return {};
}

bool isOffered(const QByteArray &recipe, const QByteArray &invariant)
{
    const auto *info = recipes::findRecipe(recipe);
    if (!info)
        return true; // a mistake made on purpose: held against what its recipe keeps
    // As the checkers look at it: those who get permits may overtake each other on their way back from the server.
    if (invariant == "order")
        return info->fair && !info->counted;
    if (invariant == "tokens")
        return info->fenced;
    return invariant != "exclusion" || !isOptimistic(info->id);
}

std::vector<QByteArray> guaranteedRecipes()
{
    std::vector<QByteArray> ids;
    for (const auto &recipe : recipes::catalogue()) {
        if (recipe.acquirable && recipe.simulated)
            ids.push_back(recipe.id);
    }
    return ids;
}

std::vector<Guarantee> guaranteesOf(const QByteArray &recipe, FaultKind fault, bool fenced)
{
    using Verdict = Guarantee::Verdict;
    const auto *info = recipes::findRecipe(recipe);
    if (!info || std::ranges::count(faultsFor(recipe), fault) == 0)
        return {};
    std::vector<Guarantee> all;
    for (const auto &invariant : invariants()) {
        if (!isOffered(recipe, invariant.name)) {
            all.push_back({invariant.name, Verdict::NotGuaranteed, {}});
            continue;
        }
        const auto expected = guaranteeRule(recipe, fault, invariant.name, fenced);
        const auto verdict = !expected.mayBreak() ? Verdict::Holds
                             : expected.isRare    ? Verdict::MayBreakRarely
                                                  : Verdict::MayBreak;
        all.push_back({invariant.name, verdict, expected.because});
    }
    return all;
}

} // namespace lockscope::contention
