// SPDX-License-Identifier: Apache-2.0
// How those wait who are told nothing: they ask again.
#pragma once

#include "core/async/completion.h"
#include "core/base/random.h"
#include "core/base/result.h"

#include <chrono>

namespace lockscope::recipes {

// Before what has failed for want of a connection is sent again: one that comes and goes is not to be spun on.
inline constexpr std::chrono::milliseconds pauseAfterTrouble(50);

// A pause between two tries for a taken lock: 25 to 75 ms at random, so that those who wait do not
// try in step; cut off at the deadline.
[[nodiscard]] Completion<bool> pauseBetweenTries(Loop &loop, Random &random, Deadline deadline);

// When trying again on a new connection can help.

// Nothing was sent, or nobody knows what became of it.
[[nodiscard]] inline bool isConnectionError(const Error &error)
{
    return error.code == ErrorCode::UnknownOutcome || error.code == ErrorCode::NotConnected;
}

} // namespace lockscope::recipes
