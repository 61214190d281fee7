// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/polling.h"

#include "core/async/sleep.h"

#include <algorithm>

namespace lockscope::recipes {

using namespace std::chrono_literals;

Completion<bool> pauseBetweenTries(Loop &loop, Random &random, Deadline deadline)
{
    const auto pause = 25ms + std::chrono::milliseconds(random.below(51));
    return sleepUntil(loop, std::min<Instant>(loop.now() + pause, deadline.when()));
}

} // namespace lockscope::recipes
