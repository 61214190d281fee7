// SPDX-License-Identifier: Apache-2.0
// Durations as people write and read them.
#pragma once

#include "core/base/result.h"

#include <QString>

#include <chrono>

namespace lockscope {

// "500ms", "30s", "2m" (also "h" and "d"); not negative.
[[nodiscard]] Result<std::chrono::milliseconds> parseDuration(const QString &text);
// "640 ms", "1.8 s", "4 m 12 s", "9 h 02 m", "3 d".
[[nodiscard]] QString formatDuration(std::chrono::milliseconds span);
// The nearest of what somebody else wrote, who may have written anything: at most 10,000 years either way, so that
// two of them can be subtracted; zero of what is no number.
[[nodiscard]] std::chrono::milliseconds millisecondsOf(double milliseconds);

// Moments as JSON and logs write them.

// "2026-03-01T10:00:00.123Z"
[[nodiscard]] QString isoTime(std::chrono::milliseconds sinceEpoch);
// "2026-03-01T10:00:00Z"
[[nodiscard]] QString isoSeconds(std::chrono::seconds sinceEpoch);

} // namespace lockscope
