// SPDX-License-Identifier: Apache-2.0
// Counts what reading one input takes: blocks of code, allocations, memory.
#pragma once

#include "tests/fuzz/parser.h"

namespace lockscope::fuzz {

struct Work {
    quint64 blocks = 0; // 0 where the build does not trace them
    quint64 allocations = 0;
    quint64 peakBytes = 0; // more than there were at the beginning
    bool isNew = false;    // it came where no input had come before
};

// Once, before the others.
void prepareCounting();
void beginCounting(const Limits &limits, qsizetype inputSize);
// Ends the program in the middle, through abort(), as soon as a limit is passed: see whatWasTooMuch().
[[nodiscard]] Work endCounting();
[[nodiscard]] const char *whatWasTooMuch();
[[nodiscard]] quint64 placesReached();

} // namespace lockscope::fuzz
