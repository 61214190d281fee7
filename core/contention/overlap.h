// SPDX-License-Identifier: Apache-2.0
// For how long two may believe to hold it, where a fault makes them: a span that a run never exceeds.
//
// What bounds it is always the same: the time until whoever lost the lock hears of it, or until it stops believing by
// its own clock.
#pragma once

#include "core/contention/scenario.h"

#include "core/async/loop.h"

namespace lockscope::contention {

struct OverlapBound {
    Duration atMost{};
    QString words; // "the pause, less the session's timeout"
};

// Of that fault alone; whether it makes two believe at all is in guaranteerules.h. None where it never does.
[[nodiscard]] std::optional<OverlapBound> overlapBound(const Scenario &scenario, FaultKind fault);
// The same of a lease that its holder renews at every third of it, whatever server keeps it.
[[nodiscard]] std::optional<OverlapBound> overlapOfRenewedLease(const Scenario &scenario, FaultKind fault);
// Of all that is to happen in it.
[[nodiscard]] Duration overlapBound(const Scenario &scenario);

} // namespace lockscope::contention
