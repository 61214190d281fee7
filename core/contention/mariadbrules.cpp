// SPDX-License-Identifier: Apache-2.0
#include "core/contention/backendrules.h"

namespace lockscope::contention {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using recipes::RecipeInfo;

namespace {

// A session on MariaDB asks every second whether its connection stands, and takes ten of silence for its end.
constexpr Duration asksEvery = 1s, silence = 11s;

std::optional<OverlapBound> overlapOnMariaDb(const Scenario &scenario, FaultKind fault)
{
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

bool canHappenOnMariaDb(FaultKind fault)
{
    return fault != FaultKind::Lag && fault != FaultKind::RestartEmpty && fault != FaultKind::Failover
           && fault != FaultKind::LostPublish;
}

QString whyOnMariaDb(const RecipeInfo &recipe, FaultKind fault)
{
    if (recipe.optimistic)
        return {}; // nobody holds anything; a write under an old version is refused
    switch (fault) {
    case FaultKind::Expire:
    case FaultKind::ForceRelease:
        return u"the connection was killed: its locks are gone at once, and its client learns of that when it asks next"_s;
    default: return {};
    }
}

GuaranteeRule twoBelieveOnMariaDb(const RecipeInfo &recipe, FaultKind fault, const QByteArray &)
{
    if (!recipe.optimistic && fault == FaultKind::Pause)
        return {
            u"the pause is longer than the server keeps an idle connection (8 hours), and the locks go with the connection"_s,
            true};
    return {whyOnMariaDb(recipe, fault)};
}

Duration untilSilent(const Scenario &)
{
    return silence;
}

} // namespace

BackendRules rulesOfMariaDb()
{
    return {&canHappenOnMariaDb, &twoBelieveOnMariaDb, &overlapOnMariaDb, &untilSilent, nullptr, false, false};
}

} // namespace lockscope::contention
