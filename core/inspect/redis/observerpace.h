// SPDX-License-Identifier: Apache-2.0
// How hard the parts of the observer press a server.
#pragma once

#include "core/async/loop.h"

namespace lockscope::inspect {

// A question to a server that is not answered within this time failed.
inline constexpr std::chrono::milliseconds redisAnswersWithin{5000};
inline constexpr Duration redisRetryAfter = std::chrono::milliseconds(500);
// After work a rest of nine times as long: at most a tenth of one server's (and our) time.
inline constexpr int redisRestPerWork = 9;

} // namespace lockscope::inspect
