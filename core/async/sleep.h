// SPDX-License-Identifier: Apache-2.0
// Waiting for a moment: `auto woken = sleepUntil(loop, when); co_await woken;`
#pragma once

#include "core/async/completion.h"

namespace lockscope {

[[nodiscard]] inline Completion<bool> sleepUntil(Loop &loop, Instant when)
{
    Completion<bool> woken(loop);
    woken.completeAt(Deadline::at(when), true);
    return woken;
}

[[nodiscard]] inline Completion<bool> sleepFor(Loop &loop, Duration span)
{
    return sleepUntil(loop, loop.now() + span);
}

} // namespace lockscope
