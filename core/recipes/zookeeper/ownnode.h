// SPDX-License-Identifier: Apache-2.0
// The holder's notice: the node a hold stands on is watched, so that its holder learns at once when it was released
// by force. Beside the recipe, and not counted as part of it.
#pragma once

#include "core/recipes/lock.h"
#include "core/zookeeper/session.h"

namespace lockscope::recipes {

// Watches the node of this grant through every reconnect, until it is gone or another stands in its place: then the
// lock is told (Lock::noteTakenAway). Ends in silence with the session, of which the lock knows itself. Lock and
// session outlive it.
[[nodiscard]] Task<void> watchOwnNode(zk::Session *session, Lock *lock, Grant grant);

} // namespace lockscope::recipes
