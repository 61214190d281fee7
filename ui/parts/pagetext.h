// SPDX-License-Identifier: Apache-2.0
// What the pages Simulator and Lessons say, in the language that is chosen for the lessons. All else is in English.
//
// The words are in resources/words, a Qt Linguist file per language; where the build found no lrelease they stay
// English.
#pragma once

#include "core/workspace/values.h"

class QWidget;

namespace lockscope::ui {

// From now on; what was said already changes where a widget hears of it (QEvent::LanguageChange). GUI thread.
void speak(lessons::Language language);
// Calls `say` now, and when the widget hears of another language.
void sayInEachLanguage(QWidget *widget, std::function<void()> say);
// Any thread: pictures are painted beside the window, too.
[[nodiscard]] lessons::Language displayLanguage();

} // namespace lockscope::ui
