// SPDX-License-Identifier: Apache-2.0
#include "core/contention/backendrules.h"
#include "core/contention/mutants/mutants.h"
#include "core/simservers/mariadb/statements.h"
#include "core/base/text.h"

namespace lockscope::contention {

using recipes::RecipeInfo;

namespace {

// A session on MariaDB asks every second whether its connection stands, and takes ten of silence for its end.
constexpr Duration asksEvery = 1s, silence = 11s;

bool isLeased(const RecipeInfo &recipe)
{
    return recipe.endsBy == recipes::EndsBy::Lease;
}

bool isMarked(const RecipeInfo &recipe)
{
    return recipe.endsBy == recipes::EndsBy::Never;
}

std::optional<OverlapBound> overlapOnMariaDb(const Scenario &scenario, FaultKind fault)
{
    if (isLeased(*playable(scenario.recipe)))
        return overlapOfRenewedLease(scenario, fault);
    if (isMarked(*playable(scenario.recipe)))
        return fault == FaultKind::ForceRelease
                   ? std::optional(OverlapBound{Duration(scenario.hold) + connectsAgain, u"its work"_s})
                   : std::nullopt;
    switch (fault) {
    case FaultKind::Expire:
    case FaultKind::ForceRelease:
        return OverlapBound{asksEvery + connectsAgain,
                            u"a second, until it asks again whether its connection stands"_s};
    case FaultKind::Pause:
        return OverlapBound{longestOf(scenario, fault) + asksEvery + connectsAgain, u"the pause, plus a second"_s};
    default: return {};
    }
}

QString mariaDbFaultReason(const RecipeInfo &recipe, FaultKind fault)
{
    if (recipe.optimistic)
        return {}; // nobody holds anything; a write under an old version is refused
    switch (fault) {
    case FaultKind::Expire:
    case FaultKind::ForceRelease:
        return u"the connection was killed: its locks end immediately, and its client notices at its next request"_s;
    default: return {};
    }
}

// A row with a time in it: what ends a hold is the server's clock, whatever becomes of the connection.
GuaranteeRule twoBelieveByTheTime(FaultKind fault)
{
    switch (fault) {
    case FaultKind::Pause:
        return {u"the pause is longer than the lease: the row's time passes, and the paused client cannot know"_s};
    case FaultKind::ForceRelease:
        return {u"a holder whose row was force-released still acts as the holder until its next renewal"_s};
    case FaultKind::ClockJump: return {u"a server whose clock jumps ahead is past the row's time early"_s};
    case FaultKind::Drift:
        return {
            u"a holder whose clock is slow believes in its lock for longer than the lease lasts, if no renewal gets "
            u"through"_s,
            true};
    default: return {};
    }
}

GuaranteeRule twoBelieveOnMariaDb(const RecipeInfo &recipe, FaultKind fault, const QByteArray &)
{
    if (isLeased(recipe))
        return twoBelieveByTheTime(fault);
    if (isMarked(recipe))
        return {fault == FaultKind::ForceRelease
                    ? u"a holder whose row was force-released is not notified and works on to its end"_s
                    : QString()};
    if (!recipe.optimistic && fault == FaultKind::Pause)
        return {
            u"the pause is longer than the server keeps an idle connection (8 hours), and the locks go with the connection"_s,
            true};
    return {mariaDbFaultReason(recipe, fault)};
}

Result<void> checkSqlAct(const QByteArray &command)
{
    const auto what = sim::readSqlStatement(command);
    const bool isKill = what && what->kind >= sim::SqlStatement::Kind::KillQuery;
    if (what && what->parameters == 0 && !isKill)
        return {};
    return Error{
        ErrorCode::BadInput,
        u"the simulated server does not know \"%1\": SELECT * FROM sim.row WHERE id >= 3 FOR UPDATE (or code = '3', code = 3), UPDATE sim.row SET version = version + 1 WHERE id = 3, DELETE FROM sim.lock_marks WHERE created_at < UTC_TIMESTAMP(3) - INTERVAL 2 SECOND, or SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, START TRANSACTION, COMMIT, ROLLBACK"_s
            .arg(label(command))};
}

Duration untilSilent(const Scenario &scenario)
{
    const auto &recipe = *playable(scenario.recipe);
    if (isMarked(recipe)) // nothing tells it anything before its work is done
        return Duration(scenario.hold) + silence;
    return isLeased(recipe) ? Duration(scenario.ttl) : silence;
}

} // namespace

BackendRules rulesOfMariaDb()
{
    return {.never = {FaultKind::Lag, FaultKind::RestartEmpty, FaultKind::Failover, FaultKind::LostPublish},
            .twoBelieve = &twoBelieveOnMariaDb,
            .overlap = &overlapOnMariaDb,
            .believesFor = &untilSilent,
            .checkAct = &checkSqlAct,
            .playsRows = true};
}

} // namespace lockscope::contention
