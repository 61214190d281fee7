// SPDX-License-Identifier: Apache-2.0
// The waits that Redis recipes are made of. Loop thread only; the connection outlives them.
#pragma once

#include "core/async/task.h"
#include "core/base/random.h"
#include "core/redis/connection.h"

namespace lockscope::recipes {

// Returns at once when connected. AuthFailed or NotConnected when it never will be, TimedOut.
[[nodiscard]] Task<Result<void>> untilConnected(redis::Connection *connection, Deadline deadline);

// Until when one command may take: what is out when a lock's deadline passes is given half a second
// more, because knowing what it did is worth more than being punctual; and no more than five.
[[nodiscard]] Deadline answerBy(const redis::Connection &connection, Deadline deadline);

// A pause between two tries for a taken lock: 25 to 75 ms at random, so that those who wait do not
// try in step; cut off at the deadline.
[[nodiscard]] Completion<bool> pauseBetweenTries(Loop &loop, Random &random, Deadline deadline);

} // namespace lockscope::recipes
