// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/watching.h"

#include "core/inspect/zookeeper/contender.h"

namespace lockscope::inspect {

Watching::Watching(const std::vector<Placed> &queue, ZPath directory, const RecogniseContext &context)
    : m_queue(queue), m_directory(std::move(directory)), m_servers(context)
{
    for (const auto &one : queue)
        ++m_nodesOf[one.member.node->stat.ephemeralOwner];
    for (size_t i = 0; i < queue.size(); ++i) {
        for (const auto session : m_servers.watchers(m_directory.child(queue[i].member.node->name)))
            m_watchedBy[session].push_back(i);
    }
}

bool Watching::isProvable(const ZnodeView &node) const
{
    const auto owner = node.stat.ephemeralOwner;
    return !owner.isNone() && !m_servers.isOurs(owner) && m_nodesOf.at(owner) == 1;
}

bool Watching::isProvableSince(const ZnodeView &node, std::chrono::milliseconds settled) const
{
    const auto made = madeAt(node);
    return isProvable(node) && made && m_servers.wasAskedAfter(*made + settled);
}

std::vector<size_t> Watching::watchedBy(const ZnodeView &node) const
{
    const auto found = m_watchedBy.find(node.stat.ephemeralOwner);
    if (!isProvable(node) || found == m_watchedBy.end())
        return {};
    std::vector<size_t> others = found->second;
    std::erase_if(others, [&](size_t i) { return m_queue[i].member.node->name == node.name; });
    return others;
}

bool Watching::watches(const ZnodeView &node, const NodeName &child) const
{
    return m_servers.watches(node.stat.ephemeralOwner, m_directory.child(child));
}

} // namespace lockscope::inspect
