// SPDX-License-Identifier: Apache-2.0
#include "core/contention/backendrules.h"
#include "core/contention/mutants/mutants.h"
#include "core/simservers/mariadb/statements.h"
#include "core/base/text.h"

namespace lockscope::contention {

using recipes::RecipeInfo;

namespace {

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
    return overlapOfSqlConnection(scenario, fault);
}

// What ends a hold by a row with a time is the server's clock, whatever becomes of the connection. Optimistic: nobody
// holds anything, and a write under an old version is refused.
GuaranteeRule twoBelieveOnMariaDb(const RecipeInfo &recipe, FaultKind fault, const QByteArray &)
{
    if (recipe.optimistic)
        return {};
    return twoBelieve(isLeased(recipe)   ? "row with a time"
                      : isMarked(recipe) ? "row that stays"
                                         : "MariaDB connection",
                      fault);
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
        return Duration(scenario.hold) + sqlSilence;
    return isLeased(recipe) ? Duration(scenario.ttl) : sqlSilence;
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
