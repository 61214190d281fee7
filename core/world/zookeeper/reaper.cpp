// SPDX-License-Identifier: Apache-2.0
#include "core/world/zookeeper/reaper.h"

#include <algorithm>

namespace lockscope::world::zookeeper {

namespace {

bool isSpent(const Znode &node)
{
    return node.kind == NodeKind::Container && node.childCount() == 0 && node.creates > 0;
}

} // namespace

void Reaper::noteChange(const Change &change)
{
    const auto look = [this](const Znode *node) {
        if (!node || node->childCount() > 0)
            return;
        if (isSpent(*node))
            plan(m_world.now());
        else if (node->kind == NodeKind::TimeToLive)
            plan(m_world.now() + (node->mtime + node->timeToLive - m_wallNow()));
    };
    if (change.kind == Change::Kind::Remove)
        look(m_tree.find(change.path.parent()));
    else if (change.nodeKind == NodeKind::TimeToLive)
        look(m_tree.find(change.path));
}

void Reaper::lookAgain()
{
    if (!m_tree.mortals().empty())
        plan(m_world.now());
}

void Reaper::plan(Instant due)
{
    const auto when = Instant((due.time_since_epoch() / m_interval + 1) * m_interval);
    if (m_dueAt && *m_dueAt <= when && *m_dueAt > m_world.now())
        return;
    m_dueAt = when;
    m_timer = m_world.callAt(when, [this] { reap(); });
}

void Reaper::reap()
{
    std::vector<ZPath> spent;
    std::optional<std::chrono::milliseconds> nextEnd;
    for (const auto &[serial, node] : m_tree.mortals()) {
        if (isSpent(*node)) {
            spent.push_back(node->path());
        } else if (node->kind == NodeKind::TimeToLive && node->childCount() == 0) {
            const auto left = node->mtime + node->timeToLive - m_wallNow();
            if (left.count() < 0)
                spent.push_back(node->path());
            else
                nextEnd = std::min(nextEnd.value_or(left), left);
        }
    }
    m_dueAt.reset();
    if (nextEnd)
        plan(m_world.now() + *nextEnd);
    // One transaction each: a container may have become the next one's only child.
    for (const auto &path : spent)
        m_remove(path);
}

} // namespace lockscope::world::zookeeper
