// SPDX-License-Identifier: Apache-2.0
// By what a loop's observers and recorders date what they see: its wall clock, less what that was set by meanwhile.
#pragma once

#include "core/async/loop.h"
#include "core/base/clock.h"

namespace lockscope {

// Goes on evenly when somebody sets the wall clock: ages and spans are differences of such moments. What is written
// for others to compare with their clocks takes loop.wallNow().
[[nodiscard]] inline WallTime datedNow(const Loop &loop)
{
    for (;;) {
        const auto before = programClock().setBy();
        const auto wall = loop.wallNow();
        if (programClock().setBy() == before) // else it was set between the two
            return wall - before;
    }
}

} // namespace lockscope
