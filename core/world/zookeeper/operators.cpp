// SPDX-License-Identifier: Apache-2.0
// What whoever directs the world does to the ensemble and sees of it; and the reaping of nodes whose time is over.
#include "core/world/zookeeper/ensemble.h"

#include <algorithm>

namespace lockscope::world::zookeeper {

std::optional<zk::Node> Ensemble::node(const ZPath &path) const
{
    const auto *const node = m_members.front().tree.find(path);
    if (!node)
        return {};
    return zk::Node{node->data, node->stat()};
}

std::vector<ZPath> Ensemble::below(const ZPath &path) const
{
    std::vector<ZPath> found;
    const auto *const top = m_members.front().tree.find(path);
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
    if (!leader().tree.mortals().empty())
        planReaping(world().now());
}

void Ensemble::presetCounter(const ZPath &path, qint32 creates)
{
    for (auto &member : m_members) {
        if (auto *const node = member.tree.find(path))
            node->creates = creates;
    }
}

qint64 Ensemble::nodeCount() const
{
    return m_members.front().tree.count();
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

// --- Reaping ----------------------------------------------------------------------------------------

namespace {

bool isSpent(const Znode &node)
{
    return node.kind == NodeKind::Container && node.childCount() == 0 && node.creates > 0;
}

} // namespace

// The servers look at their containers again and again; here they look when there may be something to do.
void Ensemble::reapLater(const Change &change)
{
    const auto look = [this](const Znode *node) {
        if (!node || node->childCount() > 0)
            return;
        if (isSpent(*node))
            planReaping(world().now());
        else if (node->kind == NodeKind::TimeToLive)
            planReaping(world().now() + (node->mtime + node->timeToLive - wallNow()));
    };
    if (change.kind == Change::Kind::Remove)
        look(leader().tree.find(change.path.parent()));
    else if (change.nodeKind == NodeKind::TimeToLive)
        look(leader().tree.find(change.path));
}

void Ensemble::planReaping(Instant due)
{
    const Duration interval = m_options.reapingInterval;
    const auto when = Instant((due.time_since_epoch() / interval + 1) * interval);
    if (m_reapingAt && *m_reapingAt <= when && *m_reapingAt > world().now())
        return;
    m_reapingAt = when;
    m_reaping = world().callAt(when, [this] { reap(); });
}

void Ensemble::reap()
{
    std::vector<ZPath> spent;
    std::optional<std::chrono::milliseconds> nextEnd;
    for (const auto &[serial, node] : leader().tree.mortals()) {
        if (isSpent(*node)) {
            spent.push_back(node->path());
        } else if (node->kind == NodeKind::TimeToLive && node->childCount() == 0) {
            const auto left = node->mtime + node->timeToLive - wallNow();
            if (left.count() < 0)
                spent.push_back(node->path());
            else
                nextEnd = std::min(nextEnd.value_or(left), left);
        }
    }
    m_reapingAt.reset();
    if (nextEnd)
        planReaping(world().now() + *nextEnd);
    // One transaction each: a container may have become the next one's only child.
    for (const auto &path : spent)
        commitRemovals({path});
}

} // namespace lockscope::world::zookeeper
