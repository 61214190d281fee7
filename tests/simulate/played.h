// SPDX-License-Identifier: Apache-2.0
// A run that has to be playable, and what is asked of it.
#pragma once

#include "core/contention/simulation.h"

#include <algorithm>

namespace lockscope::testing {

// With leases of seconds, so that what ends one does not take a test's virtual minute.
[[nodiscard]] inline contention::Scenario scenarioFor(const QByteArray &recipe, int contenders)
{
    return contention::Scenario{.recipe = recipe,
                                .contenders = contenders,
                                .ttl = std::chrono::seconds(3),
                                .sessionTimeout = std::chrono::seconds(4)};
}

[[nodiscard]] inline contention::Recording play(const contention::Scenario &scenario)
{
    auto played = contention::simulate(scenario);
    if (!played)
        qFatal("%s", qPrintable(played.error().message));
    return *std::move(played);
}

[[nodiscard]] inline bool broke(const contention::Recording &run, const QByteArray &invariant)
{
    return std::ranges::any_of(
        run.violations, [&](const contention::Violation &violation) { return violation.invariant == invariant; });
}

} // namespace lockscope::testing
