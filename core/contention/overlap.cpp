// SPDX-License-Identifier: Apache-2.0
#include "core/contention/overlap.h"

#include "core/contention/backendrules.h"
#include "core/contention/mutants/mutants.h"

namespace lockscope::contention {

std::optional<OverlapBound> overlapBound(const Scenario &scenario, FaultKind fault)
{
    return rulesOf(playable(scenario.recipe)->backend).overlap(scenario, fault);
}

Duration overlapBound(const Scenario &scenario)
{
    auto faults = scenario.faults;
    for (const auto &planned : scenario.planned)
        faults.push_back(planned.kind);
    if (faults.size() == 1 && scenario.rounds == 1) {
        const auto alone = overlapBound(scenario, faults.front());
        return alone ? alone->atMost : Duration::zero();
    }
    // Together one may keep from hearing what another did: then its own clock is what ends the belief, be it slow
    // and be it stopped for a while.
    const Duration own = rulesOf(playable(scenario.recipe)->backend).believesFor(scenario);
    return scaled(own, 1 / slowClock) + longestOf(scenario, FaultKind::Pause) + connectsAgain;
}

} // namespace lockscope::contention
