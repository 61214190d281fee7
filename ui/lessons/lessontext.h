// SPDX-License-Identifier: Apache-2.0
// What a lesson plays, as the simulator would: as it is, and with a fault where somebody points.
#pragma once

#include "core/workspace/values.h"
#include "ui/simulator/comparison.h"

#include <functional>

class QMenu;

namespace lockscope::ui {

using lessons::Language;
using lessons::pageWord;

class PlayedRun;

// All runs side by side; nothing where they differ in more than their recipe.
[[nodiscard]] std::optional<Comparison> comparisonOf(const lessons::Lesson &lesson);

struct LessonPlace {
    std::size_t run = 0;
    std::chrono::microseconds at{};
    int lane = 0;
    std::optional<int> server{}; // the one alone that was pointed at
};
// Adds the faults that apply there, below a heading. The lesson tells of its own runs: what is `chosen` is theirs
// with that fault, for the simulator to play.
void addLessonFaults(QMenu &menu, const QString &heading, const lessons::Lesson &lesson, const PlayedRun &played,
                     const LessonPlace &place, std::function<void(const Comparison &)> chosen);

} // namespace lockscope::ui
