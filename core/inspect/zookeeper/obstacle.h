// SPDX-License-Identifier: Apache-2.0
// What the first of a queue waits for all the same: then no client of that queue holds the lock.
//
// A client holds when its own order says so, which need not be ours. Two things tell: a server that lists the watch
// its session has on another node, and the order of a client that counts every child of the directory.
#pragma once

#include "core/inspect/zookeeper/queue.h"
#include "core/inspect/zookeeper/serverview.h"

#include <map>

namespace lockscope::inspect {

// Who watches whom in one queue, as far as the servers' answers prove it.

// A view: lives no longer than the queue and the context it is made of.
class Watching {
public:
    Watching(const std::vector<Placed> &queue, ZPath directory, const RecogniseContext &context);

    // A session that has several nodes in the lock may be waiting with any of them.
    [[nodiscard]] bool isProvable(const ZnodeView &node) const;
    // The same, where the servers were asked at least so long after the node was made.
    [[nodiscard]] bool isProvableSince(const ZnodeView &node, std::chrono::milliseconds settled) const;
    // The other nodes of the queue that its session watches, in queue order.
    [[nodiscard]] std::vector<size_t> watchedBy(const ZnodeView &node) const;
    // Whether the node's session watches that child of the directory.
    [[nodiscard]] bool watches(const ZnodeView &node, const NodeName &child) const;
    [[nodiscard]] const ServerView &servers() const { return m_servers; }

private:
    const std::vector<Placed> &m_queue;
    ZPath m_directory;
    ServerView m_servers;
    std::map<zk::SessionId, int> m_nodesOf;
    std::map<zk::SessionId, std::vector<size_t>> m_watchedBy;
};

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
