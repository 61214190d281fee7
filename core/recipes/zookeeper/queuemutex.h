// SPDX-License-Identifier: Apache-2.0
// zk-mutex: the queue lock, each waiter watches its predecessor; interchangeable with Curator's
// InterProcessMutex.
#pragma once

#include "core/rules/turn.h"
#include "core/recipes/zookeeper/joinqueue.h"
#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::recipes {

// A queue of Curator's kind: they differ in the name of their nodes and in who may enter.
struct Line {
    ZPath directory;
    QByteArray base; // "lock-"
    Turn (*turnOf)(const Listed &queue, const NodeName &me);
};
// Stands in line and comes back with the place when it may enter.
[[nodiscard]] Task<Result<Place>> standInLine(Janitor janitor, Line line, Random *random, Deadline deadline);

// A line where only the first may enter.
[[nodiscard]] Line mutexLine(ZPath directory);

class QueueMutex : public SessionLock {
public:
    using SessionLock::SessionLock;

protected:
    Task<Result<Place>> enter(Deadline deadline) override;
};

} // namespace lockscope::recipes
