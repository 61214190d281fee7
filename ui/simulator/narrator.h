// SPDX-License-Identifier: Apache-2.0
// What happened, in words that a person would say.
#pragma once

#include "ui/simulator/playback.h"

namespace lockscope::ui {

// One event: "c06 is told by a watch in vain: it is not its turn."
[[nodiscard]] QString eventSentence(const PlayedRun &run, std::size_t index);
// What the last hand-over led to so far: "c05 released; 94 were told, 93 of them in vain". Empty before the first.
[[nodiscard]] QString handOverSentence(const PlayedRun &run, std::size_t happened);
// "On the left", "in the middle", "on the right"; empty for a single run.
[[nodiscard]] QString sideOf(std::size_t run, std::size_t runs);
// At the cursor, over all runs.
[[nodiscard]] QString sentenceAt(const Playback &playback);

} // namespace lockscope::ui
