// SPDX-License-Identifier: Apache-2.0
// The waits that Redis recipes are made of. Loop thread only; the connection outlives them.
#pragma once

#include "core/async/task.h"
#include "core/recipes/lock.h"
#include "core/redis/connection.h"

namespace lockscope::recipes {

// Returns at once when connected. AuthFailed or NotConnected when it never will be, TimedOut.
[[nodiscard]] Task<Result<void>> untilConnected(redis::Connection *connection, Deadline deadline);

// Until when one command may take: what is out when a lock's deadline passes is given half a second
// more, because knowing what it did is worth more than being punctual; and no more than five.
[[nodiscard]] Deadline answerBy(const redis::Connection &connection, Deadline deadline);

// The answer of a script that says 1 for yes. It has been sent already.
[[nodiscard]] Task<Result<bool>> whetherOne(Reply<redis::Value> reply);

// Whether a hold is under keys beside the lock's own name, so that no recipe of ours meets it there.
[[nodiscard]] bool standsUnderOtherKeys(const SeenHold &hold);

} // namespace lockscope::recipes
