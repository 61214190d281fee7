// SPDX-License-Identifier: Apache-2.0
// Waiting for a moment: `auto woken = sleepUntil(loop, when); co_await woken;`
#pragma once

#include "core/async/oneshot.h"

namespace lockscope {

[[nodiscard]] inline OneShot<bool> sleepUntil(Loop &loop, Instant when)
{
    OneShot<bool> woken(loop);
    woken.completeAt(Deadline::at(when), true);
    return woken;
}

[[nodiscard]] inline OneShot<bool> sleepFor(Loop &loop, Duration span)
{
    return sleepUntil(loop, loop.now() + span);
}

} // namespace lockscope
