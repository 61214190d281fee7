// SPDX-License-Identifier: Apache-2.0
// What whoever directs the world does to the ensemble and sees of it.
#include "core/simservers/zookeeper/ensemble.h"

#include <algorithm>

namespace lockscope::sim::zookeeper {

std::optional<zk::Node> Ensemble::node(const ZPath &path, int member) const
{
    const auto *const node = m_members[std::size_t(member)].tree.find(path);
    if (!node)
        return {};
    return zk::Node{node->data, node->stat()};
}

std::vector<ZPath> Ensemble::below(const ZPath &path, int member) const
{
    std::vector<ZPath> found;
    const auto *const top = m_members[std::size_t(member)].tree.find(path);
    const std::function<void(const Znode &, const ZPath &)> walk = [&](const Znode &node, const ZPath &at) {
        for (const auto *child = node.eldestChild(); child; child = child->younger) {
            found.push_back(at.child(NodeName(child->name)));
            walk(*child, ZPath(found.back()));
        }
    };
    if (top)
        walk(*top, path);
    return found;
}

bool Ensemble::removeByForce(const ZPath &path)
{
    const auto *const node = leader().tree.find(path);
    if (!node || !node->parent || node->childCount() > 0)
        return false;
    commitRemovals({path});
    return true;
}

bool Ensemble::expire(zk::SessionId session)
{
    if (!m_sessions.contains(session.value))
        return false;
    endSession(session.value);
    return true;
}

std::vector<zk::SessionId> Ensemble::watchersOf(const ZPath &path, bool ofChildren) const
{
    std::vector<zk::SessionId> ids;
    for (const auto &member : m_members) {
        for (const auto number : (ofChildren ? member.children : member.data).of(path)) {
            if (const auto at = m_connections.find(number); at != m_connections.end())
                ids.push_back({at->second->m_session});
        }
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

std::vector<zk::SessionId> Ensemble::sessions() const
{
    std::vector<zk::SessionId> ids;
    for (const auto &[id, session] : m_sessions)
        ids.push_back({id});
    std::sort(ids.begin(), ids.end());
    return ids;
}

void Ensemble::setLag(int member, Duration lag)
{
    if (member < 1 || member >= memberCount()) // the leader does not lag behind itself
        return;
    m_members[static_cast<std::size_t>(member)].lag = lag;
    catchUp(member);
}

void Ensemble::jumpClock(std::chrono::milliseconds by)
{
    m_clockOffset += by;
    m_reaper->lookAgain();
}

void Ensemble::presetCounter(const ZPath &path, qint32 creates)
{
    for (auto &member : m_members) {
        if (auto *const node = member.tree.find(path))
            node->creates = creates;
    }
}

qint64 Ensemble::watchCount() const
{
    qint64 count = 0;
    for (const auto &member : m_members)
        count += member.data.count() + member.children.count();
    return count;
}

std::chrono::milliseconds Ensemble::wallNow() const
{
    const auto now = world().wallNow().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now) + m_clockOffset;
}

} // namespace lockscope::sim::zookeeper
