// SPDX-License-Identifier: Apache-2.0
// The words of the lessons' page itself, in the languages of the lessons.
#pragma once

#include "core/workspace/values.h"

namespace lockscope::ui {

using lessons::Language;

struct LessonWords {
    QString heading, hint; // of the list
    QString back, next, answer, finish, list;
    QString step;    // "Step %1 of %2"
    QString predict; // above a question
    QString right, wrong;
    QString proof, measured; // "%1 measured"
    QString playing;
    QString refused;            // "%n file(s) …" with %1
    QString holds, doesNotHold; // for who cannot see ✓ and ✗
    QString tryIt;              // in the simulator
    QString never;              // what a step waits for
    QString handout, saved;     // "%1 saved"
};
[[nodiscard]] const LessonWords &lessonWords(Language language);

} // namespace lockscope::ui
