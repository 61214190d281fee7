// SPDX-License-Identifier: Apache-2.0
// Moments as JSON and logs write them.
#pragma once

#include <QString>

#include <chrono>

namespace lockscope {

// "2026-03-01T10:00:00.123Z"
[[nodiscard]] QString isoTime(std::chrono::milliseconds sinceEpoch);
// "2026-03-01T10:00:00Z"
[[nodiscard]] QString isoSeconds(std::chrono::seconds sinceEpoch);

} // namespace lockscope
