// SPDX-License-Identifier: Apache-2.0
// How large the numbers of a scenario may be, wherever it comes from.
#pragma once

#include <QtGlobal>

#include <chrono>

namespace lockscope::contention {

// Numbers in JSON are doubles: a seed has to come back as it was.
constexpr quint64 seedLimit = quint64(1) << 53;
constexpr int mostContenders = 100'000;
constexpr int mostServersPlayed = 9;
constexpr int mostAcquires = 10;
constexpr int mostRows = 1000;
constexpr int mostTries = 1000;
constexpr std::chrono::microseconds longestLatency = std::chrono::milliseconds(100);

} // namespace lockscope::contention
