// SPDX-License-Identifier: Apache-2.0
// The wire layout of the queue mutexes: Curator's names, and whom they queue with.
#pragma once

#include "core/base/random.h"
#include "core/recipes/zookeeper/joinqueue.h"

namespace lockscope::recipes {

inline const QByteArray mutexBase = "lock-";

// A new node "_c_<uuid>-lock-<seq>" in that directory, as Curator's InterProcessMutex makes it. The
// name alone tells it from all others.
[[nodiscard]] NodeClaim mutexClaim(const ZPath &directory, Random &random);

// Curator's and go-zookeeper's contenders, and kazoo's: its Lock queues with them when told to. All of them, or as
// contendersBefore() has them.
[[nodiscard]] std::vector<Queued> mutexQueue(const Listed &children);
[[nodiscard]] std::vector<Queued> mutexQueue(const Listed &children, const NodeName &me, int ahead = 1);
// Whether that node is a contender in the directory's.
[[nodiscard]] bool isInMutexQueue(const ZPath &directory, const ZPath &node);

} // namespace lockscope::recipes
