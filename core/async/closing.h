// SPDX-License-Identifier: Apache-2.0
// Sessions that were destroyed say farewell in the background. At its end a program waits for that, so that what they
// hold is free; each port that has such sessions says here how.
#pragma once

#include <chrono>

namespace lockscope {

using WaitForClosing = void (*)(std::chrono::milliseconds atMost);

// Sessions are waited for first: what they go through carries their farewells.
enum class ClosePhase { Sessions, Ways };

// Any thread; the same one any number of times.
void addClosing(WaitForClosing wait, ClosePhase what = ClosePhase::Sessions);
// On a thread that is not the loop's: until all have closed, each port's at most that long.
void waitForClosing(std::chrono::milliseconds atMost);

} // namespace lockscope
