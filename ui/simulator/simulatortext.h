// SPDX-License-Identifier: Apache-2.0
// How the simulator says moments, faults and recipes.
#pragma once

#include "core/workspace/values.h"

#include <QCoreApplication>

namespace lockscope::ui {

// For those parts of the simulator that are no QObject, and have no tr() of their own.
struct Simulator {
    Q_DECLARE_TR_FUNCTIONS(Simulator)
};

// Numbers and units in the language that is spoken, as in the lessons' texts: "4,747", "5.01", "12.5 MiB".
[[nodiscard]] QString formatCount(qint64 count);
[[nodiscard]] QString formatNumber(double value, int digits);
[[nodiscard]] QString formatSize(qint64 bytes);
// One behind the other: Chinese has no spaces there.
[[nodiscard]] QString joinedSentences(const QStringList &sentences);
// "640 µs", "300.0 ms", "9.1 s", "4 m 12 s".
[[nodiscard]] QString momentText(contention::Moment at);
// As short as the axis wants it: "0", "250 ms", "2.5 s".
[[nodiscard]] QString axisText(contention::Moment at);
// "100 ms", "1.5 s": of a scenario.
[[nodiscard]] QString durationText(std::chrono::milliseconds span);
// "Watch the predecessor"; the recipe's id where there is no better word.
[[nodiscard]] QString recipeTitle(const QByteArray &recipe);
// One line: what it does, for the form and the menus.
[[nodiscard]] QString faultSummary(contention::FaultKind kind);
// "pause c07 at 300.0 ms".
[[nodiscard]] QString plannedText(const contention::PlannedFault &fault, const QString &lane);
// "of c00, watched by c01": what a server has, in the language that is spoken; recordings keep it in English.
[[nodiscard]] QString formatState(const QString &state);
// "c00: create /sim/config v1 at 20.0 ms", "stop s2 at 600.0 ms".
[[nodiscard]] QString actText(const contention::Act &act, int contenders);
// Whether a fault befalls one contender rather than the server or the world.
[[nodiscard]] bool isOfContender(contention::FaultKind kind);
// As a menu names it: "Pause", "Lose its next request".
[[nodiscard]] QString faultTitle(contention::FaultKind kind);

} // namespace lockscope::ui
