// SPDX-License-Identifier: Apache-2.0
// The words of the lessons' page itself, in the languages of the lessons.
#pragma once

#include "core/workspace/values.h"
#include "ui/simulator/comparison.h"

#include <functional>

class QMenu;

namespace lockscope::ui {

using lessons::Language;

struct LessonWords {
    QString heading, hint; // of the list
    QString back, next, answer, finish, list;
    QString step;  // "Step %1 of %2"
    QString score; // "%1 of %2 right"
    QString right, wrong;
    QString proof, measured; // "%1 measured"
    QString replay, playing;
    QString refused;                                       // "%n file(s) …" with %1
    QString holds, doesNotHold;                            // for who cannot see ✓ and ✗
    QString tryIt;                                         // in the simulator
    QString never;                                         // what a step waits for
    QString handout, withAnswers, withoutAnswers, chapter; // of "%1"
    QString saved;                                         // "%1 saved"
};
[[nodiscard]] const LessonWords &lessonWords(Language language);

class PlayedRun;

// What a lesson plays, as the simulator would: as it is, and with a fault where somebody points.

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
