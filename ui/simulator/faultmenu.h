// SPDX-License-Identifier: Apache-2.0
// What can be made to go wrong from a moment on: the menu of a lane, of a message in it, and of "Fork here".
#pragma once

#include "core/workspace/values.h"

class QMenu;

namespace lockscope::ui {

class PlayedRun;
struct Comparison;

struct ForkPlace {
    std::chrono::microseconds at{};
    int contender = 0;
    QString name; // of the contender
    int servers = 1;
    std::optional<int> server{}; // the one alone that was pointed at
};
// Adds what applies to the comparison's recipes; those that befall a contender first.
void addFaults(QMenu &menu, const Comparison &comparison, const ForkPlace &place,
               std::function<void(const contention::PlannedFault &)> chosen);

// The last of what is planned; that contender's name is `lane`.
void addTakeBack(QMenu &menu, const Comparison &comparison, const QString &lane, std::function<void()> chosen);

// The request, or what a lane is told, nearest to the middle of a stretch of time; its index among the events.
[[nodiscard]] std::optional<std::size_t> messageBetween(const PlayedRun &run, int lane,
                                                        std::chrono::microseconds from, std::chrono::microseconds to);
// Adds what can befall this very message; each happens right before it.
void addMessageFaults(QMenu &menu, const Comparison &comparison, const PlayedRun &run, std::size_t event,
                      std::function<void(const contention::PlannedFault &)> chosen);

} // namespace lockscope::ui
