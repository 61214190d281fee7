// SPDX-License-Identifier: Apache-2.0
// The waits that every ZooKeeper recipe is made of. Loop thread only; the session outlives them.
#pragma once

#include "core/async/task.h"
#include "core/recipes/lockbase.h"
#include "core/zookeeper/session.h"

namespace lockscope::recipes {

// Whether a session in this state is over for good: neither connected nor about to be.
[[nodiscard]] bool isOver(zk::SessionState state);

// Until when one request may take. A request that is out when a lock's deadline passes is given a little longer (a
// third of the session timeout), because knowing what it did is worth more than being punctual; and a request without
// limit is given up after a session timeout, because a server silent for so long has forgotten us.
[[nodiscard]] Deadline answerBy(const zk::Session &session, Deadline deadline);

// Returns at once when connected. SessionExpired or AuthFailed when it never will be again, TimedOut.
[[nodiscard]] Task<Result<void>> untilConnected(zk::Session *session, Deadline deadline);

// A short pause between two tries, then untilConnected.
[[nodiscard]] Task<Result<void>> untilReconnected(zk::Session *session, Deadline deadline);

// Until the watch fires. SessionExpired when it never will, TimedOut.
[[nodiscard]] Task<Result<void>> untilFired(zk::Session *session, zk::Watch watch, Deadline deadline);

// Until the node is gone, by a data watch on it; at once if it is gone already. get, not exists: that would leave a
// watch behind on a node that does not exist. NoPermission when we may not read it. The path outlives the wait.
[[nodiscard]] Task<Result<void>> untilGone(zk::Session *session, const ZPath &node, Deadline deadline);

// The same error, and if it is a time-out: which node was waited for.
[[nodiscard]] Error waitedFor(Error error, const ZPath &node);

} // namespace lockscope::recipes
