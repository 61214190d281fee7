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

} // namespace lockscope::contention
