// SPDX-License-Identifier: Apache-2.0
// How patient the parts of the observer are with a server.
#pragma once

#include "core/async/loop.h"
#include "core/inspect/pace.h"

namespace lockscope::inspect {

// A question to a server that is not answered within this time failed.
inline constexpr std::chrono::milliseconds redisAnswersWithin{5000};
inline constexpr Duration redisRetryAfter = std::chrono::milliseconds(500);

} // namespace lockscope::inspect
