// SPDX-License-Identifier: Apache-2.0
// The simulated world in the state of a snapshot, and a release in it (rehearsal.h says how it gets there).
#pragma once

#include "core/operate/forcereleaseplan.h"

#include <set>

namespace lockscope::rehearse {

// Who plays whom in a rehearsal, and what is taken for granted by that.
struct Part {
    std::size_t contender = 0; // in the snapshot
    int process = 0;
    bool reads = false;
    bool isGone = false; // its client has no connection: it keeps its place until its session ends, and hears nothing
    int times = 1;       // that it holds it
};

struct RecipeMapping {
    QByteArray recipe; // the one that is played
    int limit = 1;
    std::vector<Part> parts;       // as they come
    bool hasUnseenWatches = false; // of its waiters: they are the recipe's
    bool hasUnknownModes = false;  // of its waiters: whether they want to read is not on the server
    QStringList assumed;
};

// Waiters whose mode is not known read, or write. Unsupported where we have no recipe like it.
[[nodiscard]] Result<RecipeMapping> castOf(const operate::ForceReleasePlan &plan, bool unknownRead);

struct Outcome {
    // Who holds in the snapshot is who came to hold in the fork. If not, nothing was played.
    bool isAlike = false;
    std::vector<std::size_t> granted; // contenders of the snapshot
    std::set<std::size_t> woken;
};

// Fails where the release is refused in the fork, or a contender cannot be made.
[[nodiscard]] Result<Outcome> playRelease(const operate::ForceReleasePlan &plan, const RecipeMapping &cast);

} // namespace lockscope::rehearse
