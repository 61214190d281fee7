// SPDX-License-Identifier: Apache-2.0
// The holder's notice: what a hold stands on is watched beside its recipe, so that its holder learns when it was
// released by force. One function per backend, each in its own folder. Loop thread only.
#pragma once

#include "core/async/scope.h"
#include "core/recipes/lock.h"

namespace lockscope::recipes {

// The time a lock is held. All outlive what is launched in the scope.
struct Holding {
    Scope &scope;
    Lock &lock;
    const bool &isReleasing;
    std::function<void(Loss)> lost;

    // What the watches do when the server answers that the hold is another's, or no longer exists.
    void takenAway(const Grant &grant) const
    {
        if (isReleasing)
            return;
        lock.noteTakenAway(grant);
        lost(Loss::TakenAway);
    }
};

} // namespace lockscope::recipes
