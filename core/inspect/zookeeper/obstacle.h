// SPDX-License-Identifier: Apache-2.0
// What the first of a queue waits for all the same: then no client of that queue holds the lock.
//
// A client holds when its own order says so, which need not be ours. Two things tell: a server that lists the watch
// its session has on another node, and the order of a client that counts every child of the directory.
#pragma once

#include "core/inspect/zookeeper/watching.h"

namespace lockscope::inspect {

struct Obstacle {
    NodeName node;
    Evidence evidence = Evidence::Inferred;
    bool isContender = false;
    bool isCertain = true; // no earlier wait of the session can have left the watch
};

// Empty where nothing shows that queue[i], whose turn it is by the recipe, waits.
[[nodiscard]] std::optional<Obstacle> obstacleOf(const std::vector<Placed> &queue, size_t i, const Watching &watching,
                                                 const QueueFolder &folder);

// A contender whose turn it is and what it waits for, by its place in the queue.
using Obstacles = std::map<size_t, Obstacle>;
// What is to be said of them, once it is known who holds.
void addObstacleFindings(LockSnapshot &lock, const std::vector<Placed> &queue, const Obstacles &obstacles);

} // namespace lockscope::inspect
