// SPDX-License-Identifier: Apache-2.0
// The simulated world in the state of a snapshot, and a release in it (rehearsal.h says how it gets there).
#pragma once

#include "core/rehearse/cast.h"

#include <set>

namespace lockscope::rehearse {

struct Outcome {
    // Who holds in the snapshot is who came to hold in the fork. If not, nothing was played.
    bool isAlike = false;
    std::vector<std::size_t> granted; // contenders of the snapshot
    std::set<std::size_t> woken;
};

// Fails where the release is refused in the fork, or a contender cannot be made.
[[nodiscard]] Result<Outcome> playRelease(const operate::ForceReleasePlan &plan, const Cast &cast);

} // namespace lockscope::rehearse
