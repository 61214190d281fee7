// SPDX-License-Identifier: Apache-2.0
// What is played, in one line: "100 contenders, one lock", and the chips beside it.
#pragma once

#include "ui/simulator/comparison.h"
#include "ui/simulator/playedrun.h"

namespace lockscope::ui {

struct HeadingChip {
    QString text;
    bool isWarning = false;
    QString copies; // what a click puts on the clipboard; empty: no button
    bool isPlace = false; // where it ran; a click offers other places
    bool isReal = false;  // on real servers
};

[[nodiscard]] QString headingOf(const Comparison &comparison);
[[nodiscard]] std::vector<HeadingChip> chipsOf(const Comparison &comparison, const std::vector<PlayedRunPtr> &runs);

} // namespace lockscope::ui
