// SPDX-License-Identifier: Apache-2.0
// Who watches whom in one queue, as far as the servers' answers prove it.
#pragma once

#include "core/inspect/zookeeper/queue.h"
#include "core/inspect/zookeeper/serverview.h"

#include <map>

namespace lockscope::inspect {

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

} // namespace lockscope::inspect
