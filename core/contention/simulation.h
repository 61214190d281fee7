// SPDX-License-Identifier: Apache-2.0
// Plays a scenario in the simulated world, from its start to its end, on virtual time.
//
// Any thread, one run per thread: nothing is shared. A run depends on its scenario alone: the same seed and
// build give the same events, whatever was played before. To go on differently from some moment (a fork), play
// the scenario again with one more planned fault: until then it is the same run.
#pragma once

#include "core/contention/recording.h"

#include <functional>

namespace lockscope::contention {

struct Progress {
    Moment at{};
    qint64 grants = 0;
    qint64 grantsExpected = 0; // 0 when it cannot be known
};
// Called now and then, on the thread that plays; false ends the run with Cancelled.
using OnProgress = std::function<bool(const Progress &)>;

// BadInput as Scenario::check().
[[nodiscard]] Result<Recording> simulate(const Scenario &scenario, const OnProgress &onProgress = {});

// From a run in which something did not hold to a shorter one in which the same does not hold: fewer rounds, fewer
// contenders, fewer faults, nothing special. Whoever reads its events finds the cause sooner.
//
// Deterministic: the same scenario and number of replays give the same answer. Source of the way in which faults are
// left out: Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input" (2002), ddmin.

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
