// SPDX-License-Identifier: Apache-2.0
// One place for another, in one transaction. Loop thread only.
#pragma once

#include "core/recipes/zookeeper/queueentry.h"

namespace lockscope::recipes::kazoo {

// Gives `old` up for the claim's node, which has a name of its own (not sequential): both or neither.
// A lost reply is followed up. NoNode when the old one stands no more, or the new one's directory.
[[nodiscard]] Task<Result<QueueEntry>> tradeEntry(BackgroundCleanup cleanup, QueueEntry *old, NodeClaim claim,
                                                  Deadline deadline);

} // namespace lockscope::recipes::kazoo
