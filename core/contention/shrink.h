// SPDX-License-Identifier: Apache-2.0
// From a run in which something did not hold to a shorter one in which the same does not hold: fewer rounds, fewer
// contenders, fewer faults, nothing special. Whoever reads its events finds the cause sooner.
//
// Deterministic: the same scenario and number of replays give the same answer. Source of the way in which faults are
// left out: Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input" (2002), ddmin.
#pragma once

#include "core/contention/recording.h"

#include <functional>

namespace lockscope::contention {

// Whether what a run is searched for shows in it.
using Shows = std::function<bool(const Recording &)>;
[[nodiscard]] Shows breaks(QByteArray invariant);

struct Shortest {
    Recording recording; // with its scenario and its events
    int replays = 0;     // how many runs that took
};

// At most so many replays, none larger than the run itself. Any thread. BadInput when the scenario cannot be
// played, or does not show what is searched for.
[[nodiscard]] Result<Shortest> shrink(const Scenario &broken, const Shows &shows, int mostReplays);

} // namespace lockscope::contention
