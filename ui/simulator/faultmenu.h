// What can be made to go wrong from a moment on: the menu of a lane, and of "Fork here".
#pragma once

#include "core/simulate/scenario.h"

#include <functional>

class QMenu;

namespace lockscope::ui {

class PlayedRun;
struct Comparison;

struct ForkPlace {
    std::chrono::microseconds at{};
    int contender = 0;
    QString name; // of the contender
};
// Adds what applies to the comparison's recipes; those that befall a contender first.
void addFaults(QMenu &menu, const Comparison &comparison, const ForkPlace &place,
               std::function<void(const simulate::PlannedFault &)> chosen);

} // namespace lockscope::ui
