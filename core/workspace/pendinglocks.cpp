// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/iocontroller.h"

#include <algorithm>

namespace lockscope {

using inspect::ChangeKind;

void PendingLocks::add(inspect::SnapshotChange change, WallTime now)
{
    const auto at = m_newest.find(change.lock.lock);
    if (at == m_newest.end()) {
        m_order.push_back({change.lock.lock, now, m_next++});
        m_newest.emplace(change.lock.lock, std::move(change));
        return;
    }
    // Added and changed before it is told is still added; added and removed is still told (harmless).
    if (at->second.kind == ChangeKind::Added && change.kind == ChangeKind::Changed)
        change.kind = ChangeKind::Added;
    at->second = std::move(change);
}

std::vector<inspect::SnapshotChange> PendingLocks::take(std::size_t most)
{
    std::vector<inspect::SnapshotChange> taken;
    while (!m_order.empty() && taken.size() < most) {
        auto newest = m_newest.extract(m_order.front().lock);
        taken.push_back(std::move(newest.mapped()));
        m_order.pop_front();
    }
    return taken;
}

std::optional<PendingLocks::WallTime> PendingLocks::oldestOf(const ConnectionName &connection) const
{
    const auto at = std::ranges::find_if(
        m_order, [&connection](const Waiting &one) { return one.lock.connection == connection; });
    return at == m_order.end() ? std::nullopt : std::optional(at->since);
}

bool PendingLocks::isTakenBefore(quint64 number) const
{
    return m_order.empty() || m_order.front().number >= number;
}

} // namespace lockscope
