// SPDX-License-Identifier: Apache-2.0
#include "core/contention/guaranteerules.h"

#include "core/contention/mutants/mutants.h"
#include "core/contention/overlap.h"

namespace lockscope::contention {

using namespace Qt::StringLiterals;
using recipes::EndsBy;
using recipes::RecipeInfo;
using recipes::Shape;

namespace {

bool isAny(const QByteArray &name, std::initializer_list<const char *> names)
{
    for (const auto *one : names) {
        if (name == one)
            return true;
    }
    return false;
}

// Why two may believe to hold it.
QString ofZooKeeper(FaultKind fault)
{
    switch (fault) {
    case FaultKind::Pause:
        return u"a pause longer than the session: the server gives the lock on, and who is paused cannot know"_s;
    case FaultKind::Expire:
        return u"the server ends the session, and its client hears of it only when it has connected again"_s;
    case FaultKind::ForceRelease: return u"whoever lost the lock by force believes to hold it until it looks"_s;
    default: return {};
    }
}

QString ofMariaDb(const RecipeInfo &recipe, FaultKind fault)
{
    if (recipe.optimistic)
        return {}; // nobody holds anything; a write under an old version is refused
    switch (fault) {
    case FaultKind::Expire:
    case FaultKind::ForceRelease:
        return u"the connection was killed: its locks are gone at once, and its client hears of it when it asks"_s;
    default: return {};
    }
}

QString ofRedis(const RecipeInfo &recipe, FaultKind fault)
{
    switch (fault) {
    case FaultKind::Pause: return u"a pause longer than the lease: the key expires, and who is paused cannot know"_s;
    case FaultKind::ForceRelease:
        if (recipe.counted)
            return {}; // its key holds the number of free permits, not those that are out
        return u"whoever lost the lock by force believes to hold it until it prolongs its lease"_s;
    case FaultKind::ClockJump:
        return recipe.endsBy == EndsBy::Timestamp
                   ? u"its times are the clients' own: one clock that is ahead takes the lock over"_s
                   : u"a server's clock that jumps ahead ends leases early"_s;
    case FaultKind::RestartEmpty:
        return u"the key is gone with the data, and its holder believes on until it prolongs its lease"_s;
    case FaultKind::Failover: return u"the replica that took over never saw the key"_s;
    default: return {};
    }
}

// The one flaw of SETNX and EXPIRE: between the two the key has no end.
GuaranteeRule endless(FaultKind fault)
{
    if (!isAny(nameOf(fault), {"crash", "lose-request", "lose-reply", "partition", "failover", "pause"}))
        return {};
    return {u"SETNX without its EXPIRE: the key never goes"_s, fault == FaultKind::Pause};
}

// Beside what breaks by one fault alone: what takes two of them.
GuaranteeRule twoBelieve(const RecipeInfo &recipe, FaultKind fault, const QByteArray &invariant)
{
    const auto backend = recipe.backend;
    const bool isRedis = backend == BackendKind::Redis;
    if (isRedis && fault == FaultKind::Drift)
        return {u"a slow clock believes longer than the lease lasts, "_s
                    + (recipe.renewed ? u"when nothing gets through to prolong it"_s : u"which nothing prolongs"_s),
                recipe.renewed || invariant == "effect"};
    if (isRedis && !recipe.namesHolder && isAny(nameOf(fault), {"partition", "delay"}))
        return {u"its DEL comes late, after its lease, and deletes the key of its successor"_s, true};
    if (recipe.endsBy == EndsBy::Timestamp && isAny(nameOf(fault), {"lose-request", "lose-reply"}))
        return {
            u"two that ask in the same millisecond write the same time, and who did not hear takes it for its own"_s,
            true};
    if (backend == BackendKind::MariaDb && !recipe.optimistic && fault == FaultKind::Pause)
        return {u"a pause longer than the server keeps an idle connection (8 hours): its locks are gone with that"_s,
                true};
    if (backend == BackendKind::ZooKeeper && fault == FaultKind::Drift)
        return {u"a slow clock that is cut off believes longer than its session lives"_s, true};
    switch (backend) {
    case BackendKind::ZooKeeper: return {ofZooKeeper(fault)};
    case BackendKind::Redis: return {ofRedis(recipe, fault)};
    case BackendKind::MariaDb: return {ofMariaDb(recipe, fault)};
    }
    return {};
}

GuaranteeRule heardLate(const RecipeInfo &recipe, FaultKind fault, const QByteArray &invariant)
{
    const auto because =
        u"who hears of its grant only when that is over already believes in it after its successor"_s;
    const bool hasOrder = recipe.fair && !recipe.counted;
    if (isAny(nameOf(fault), {"pause", "partition"}) && (invariant == "tokens" || hasOrder))
        return {because, true};
    // Forced between its look and its delete, it deletes the node of its successor, who hears of its grant late from
    // a follower that lags. (Forced before that it sees whose node it is, and deletes nothing.)
    if (fault == FaultKind::ForceRelease && recipe.shape == Shape::Node && invariant == "tokens")
        return {because, true};
    return {};
}

GuaranteeRule leftBehind(const RecipeInfo &recipe, FaultKind fault)
{
    const auto name = nameOf(fault);
    if (recipe.endsBy == EndsBy::Timestamp
        && isAny(name, {"crash", "lose-request", "lose-reply", "partition", "dead-thread"}))
        return {u"its key has no TTL: what nobody gives back stays, with a time that has passed"_s};
    if (recipe.endsBy == EndsBy::PermitDeadline && isAny(name, {"crash", "dead-thread", "partition"}))
        return {u"a dead holder's permit is cleared away by the next who asks"_s, fault == FaultKind::Partition};
    if (recipe.lastingQueue && isAny(name, {"crash", "failover"}))
        return {u"its queue and timeout keys have no TTL"_s, fault == FaultKind::Failover};
    return {};
}

QString forHowLong(const QByteArray &recipe, FaultKind fault)
{
    Scenario scenario;
    scenario.recipe = recipe;
    const auto bound = overlapBound(scenario, fault);
    return bound ? u"; for at most "_s + bound->words : QString();
}

bool losesTokens(const RecipeInfo &recipe, FaultKind fault)
{
    return recipe.losesTokensWithData && (fault == FaultKind::RestartEmpty || fault == FaultKind::Failover);
}

} // namespace

const std::vector<Invariant> &invariants()
{
    static const std::vector<Invariant> all{
        {"exclusion", u"never two holders"_s},     {"effect", u"no write of a former holder after its successor's"_s},
        {"order", u"first come, first served"_s},  {"progress", u"no lost wake-up: everybody comes to an end"_s},
        {"cleanliness", u"nothing left behind"_s}, {"tokens", u"fencing tokens only grow"_s},
    };
    return all;
}

GuaranteeRule guaranteeRule(const QByteArray &recipe, FaultKind fault, const QByteArray &invariant, bool fenced)
{
    const auto *info = playable(recipe);
    if (!info)
        return {};
    if (invariant == "exclusion" || invariant == "effect") {
        if (invariant == "effect" && fenced && info->fenced && !losesTokens(*info, fault))
            return {};
        auto expected = twoBelieve(*info, fault, invariant);
        if (invariant == "exclusion" && expected.mayBreak())
            expected.because += forHowLong(recipe, fault);
        return expected;
    }
    if (invariant == "progress" || invariant == "cleanliness") {
        if (!info->atomicAcquire)
            return endless(fault);
        return invariant == "cleanliness" ? leftBehind(*info, fault) : GuaranteeRule();
    }
    if (invariant == "tokens" && losesTokens(*info, fault))
        return {u"its counter is lost with the data"_s};
    if (info->backend == BackendKind::ZooKeeper && (invariant == "tokens" || invariant == "order"))
        return heardLate(*info, fault, invariant);
    return {};
}

} // namespace lockscope::contention
