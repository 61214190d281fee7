#include "core/simulate/expectations.h"

#include "core/simulate/variants/variants.h"

namespace lockscope::simulate {

using namespace Qt::StringLiterals;
using recipes::RecipeBackend;

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
    case FaultKind::ForceRelease:
        return u"whoever lost the lock by force believes to hold it until it looks"_s;
    default:
        return {};
    }
}

QString ofMariaDb(const QByteArray &recipe, FaultKind fault)
{
    if (recipe == "sql-version")
        return {}; // nobody holds anything; a write under an old version is refused
    switch (fault) {
    case FaultKind::Expire:
    case FaultKind::ForceRelease:
        return u"the connection was killed: its locks are gone at once, and its client hears of it when it asks"_s;
    default:
        return {};
    }
}

QString ofRedis(const QByteArray &recipe, FaultKind fault)
{
    switch (fault) {
    case FaultKind::Pause:
        return u"a pause longer than the lease: the key expires, and who is paused cannot know"_s;
    case FaultKind::ForceRelease:
        return u"whoever lost the lock by force believes to hold it until it prolongs its lease"_s;
    case FaultKind::ClockJump:
        return recipe == "redis-getset" ? u"its times are the clients' own: one clock that is ahead takes the lock over"_s
                                        : u"a server's clock that jumps ahead ends leases early"_s;
    case FaultKind::RestartEmpty:
        return u"the key is gone with the data, and its holder believes on until it prolongs its lease"_s;
    case FaultKind::Failover:
        return u"the replica that took over never saw the key"_s;
    default:
        return {};
    }
}

// The one flaw of SETNX and EXPIRE: between the two the key has no end.
QString endless(const QByteArray &recipe, FaultKind fault)
{
    if (recipe != "redis-setnx-expire" || !isAny(nameOf(fault), {"crash", "lose-request", "lose-reply", "partition"}))
        return {};
    return u"SETNX without its EXPIRE: the key never goes"_s;
}

// Who does not prolong its lease counts on its clock.
QString ofSlowClock(const QByteArray &recipe, FaultKind fault)
{
    if (fault != FaultKind::Drift || !isAny(recipe, {"redis-setnx-expire", "redis-getset"}))
        return {};
    return u"a slow clock believes longer than the lease lasts, which nothing prolongs"_s;
}

QString leftBehind(const QByteArray &recipe, FaultKind fault)
{
    if (recipe == "redis-getset" && isAny(nameOf(fault), {"crash", "lose-request", "lose-reply"}))
        return u"its key has no TTL: what nobody gives back stays, with a time that has passed"_s;
    if (recipe == "redisson-semaphore" && isAny(nameOf(fault), {"crash", "dead-thread"}))
        return u"a dead holder's permit is cleared away by the next who asks"_s;
    if (recipe == "redisson-fair-lock" && isAny(nameOf(fault), {"crash", "failover"}))
        return u"its queue and timeout keys have no TTL"_s;
    return {};
}

bool hasToken(const QByteArray &recipe, RecipeBackend backend, FaultKind fault)
{
    if (backend == RecipeBackend::ZooKeeper)
        return true;
    // Its counter is lost with the data.
    return recipe == "redisson-fenced-lock" && fault != FaultKind::RestartEmpty && fault != FaultKind::Failover;
}

} // namespace

Expectation expectationOf(const QByteArray &recipe, FaultKind fault, const QByteArray &invariant, bool fenced)
{
    const auto *info = playable(recipe);
    if (!info)
        return {};
    const auto backend = info->backend;
    if (invariant == "exclusion" || invariant == "effect") {
        if (invariant == "effect" && fenced && hasToken(recipe, backend, fault))
            return {};
        if (const auto why = ofSlowClock(recipe, fault); !why.isEmpty() && invariant == "exclusion")
            return {why};
        switch (backend) {
        case RecipeBackend::ZooKeeper: return {ofZooKeeper(fault)};
        case RecipeBackend::Redis: return {ofRedis(recipe, fault)};
        case RecipeBackend::MariaDb: return {ofMariaDb(recipe, fault)};
        }
    }
    if (const auto why = endless(recipe, fault); !why.isEmpty() && (invariant == "progress" || invariant == "cleanliness"))
        return {why};
    if (invariant == "cleanliness")
        return {leftBehind(recipe, fault)};
    if (invariant == "tokens" && recipe == "redisson-fenced-lock"
        && (fault == FaultKind::RestartEmpty || fault == FaultKind::Failover))
        return {u"its counter is lost with the data"_s};
    return {};
}

} // namespace lockscope::simulate
