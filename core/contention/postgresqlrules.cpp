// SPDX-License-Identifier: Apache-2.0
#include "core/contention/backendrules.h"

namespace lockscope::contention {

using recipes::RecipeInfo;

namespace {

// As on MariaDB: the session is the same. But for a server that keeps who is idle for as long as that is there.
constexpr Duration pgAsksEvery = 1s, pgSilence = 11s;

std::optional<OverlapBound> overlapOnPostgreSql(const Scenario &scenario, FaultKind fault)
{
    if (fault == FaultKind::Expire || fault == FaultKind::ForceRelease)
        return OverlapBound{pgAsksEvery + connectsAgain,
                            u"a second, until it asks again whether its connection stands"_s};
    if (fault == FaultKind::Pause)
        return OverlapBound{longestOf(scenario, fault) + pgAsksEvery + connectsAgain, u"the pause, plus a second"_s};
    return {};
}

GuaranteeRule twoBelieveOnPostgreSql(const RecipeInfo &, FaultKind fault, const QByteArray &)
{
    switch (fault) {
    case FaultKind::Expire:
    case FaultKind::ForceRelease:
        return {
            u"the backend was terminated: its locks end immediately, and its client notices at its next request"_s};
    case FaultKind::Pause:
        return {u"the connection breaks, or a limit for idle sessions ends it, while its client is paused. The locks "
                u"end with it, and the client does not know"_s,
                true};
    default: return {};
    }
}

} // namespace

BackendRules rulesOfPostgreSql()
{
    return {.never = {FaultKind::Lag, FaultKind::RestartEmpty, FaultKind::Failover, FaultKind::LostPublish},
            .twoBelieve = &twoBelieveOnPostgreSql,
            .overlap = &overlapOnPostgreSql,
            .believesFor = [](const Scenario &) { return pgSilence; }};
}

} // namespace lockscope::contention
