// SPDX-License-Identifier: Apache-2.0
#include "core/contention/backendrules.h"

namespace lockscope::contention {

using recipes::RecipeInfo;

namespace {

std::optional<OverlapBound> overlapOnEtcd(const Scenario &scenario, FaultKind fault)
{
    switch (fault) {
    case FaultKind::Pause:
    case FaultKind::Drift: return overlapOfRenewedLease(scenario, fault);
    // Where all queue first, the first one works until they have.
    case FaultKind::ForceRelease: return OverlapBound{scenario.hold + joining(scenario), u"the rest of its work"_s};
    default: return {};
    }
}

} // namespace

// It keeps what it was told on a majority of its members, and leases run by a clock that nobody sets. A lease is one
// hold's own: none ends without its hold but by force, which is a fault of its own.
BackendRules rulesOfEtcd()
{
    return {.never = {FaultKind::Expire, FaultKind::Lag, FaultKind::RestartEmpty, FaultKind::Failover,
                      FaultKind::LostPublish},
            .twoBelieve = [](const RecipeInfo &, FaultKind fault,
                             const QByteArray &) { return twoBelieve("etcd key", fault); },
            .overlap = &overlapOnEtcd,
            .believesFor = [](const Scenario &scenario) { return std::max<Duration>(scenario.ttl, scenario.hold); }};
}

} // namespace lockscope::contention
