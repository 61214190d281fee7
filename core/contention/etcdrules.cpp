// SPDX-License-Identifier: Apache-2.0
// There is no simulated etcd: its recipes are not played (RecipeInfo::simulated), so nothing can happen to them
// there.
#include "core/contention/backendrules.h"

namespace lockscope::contention {

namespace {

bool nothingHappens(FaultKind)
{
    return false;
}

GuaranteeRule neverPlayed(const recipes::RecipeInfo &, FaultKind, const QByteArray &)
{
    return {};
}

std::optional<OverlapBound> noOverlap(const Scenario &, FaultKind)
{
    return std::nullopt;
}

Duration leaseOnEtcd(const Scenario &scenario)
{
    return scenario.ttl;
}

} // namespace

BackendRules rulesOfEtcd()
{
    return {&nothingHappens, &neverPlayed, &noOverlap, &leaseOnEtcd, nullptr, false, false};
}

} // namespace lockscope::contention
