// SPDX-License-Identifier: Apache-2.0
// The wire layout of the textbook's shared lock: <host>-R-<seq> for a reader, <host>-W-<seq> for a writer.
#pragma once

#include "core/base/random.h"
#include "core/recipes/zookeeper/joinqueue.h"

namespace lockscope::recipes {

// A new node of this host in that directory. Its data tells it from the others of this host.
[[nodiscard]] NodeClaim sharedClaim(const ZPath &directory, Access access, Random &random);

// Readers and writers among the children, whatever their host. Sorted.
[[nodiscard]] std::vector<Queued> sharedQueue(const Listed &children);

} // namespace lockscope::recipes
