// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/snapshotstore.h"

#include "core/inspect/coverage.h"
#include "core/inspect/equivalence.h"

#include <algorithm>

namespace lockscope::inspect {

std::vector<SnapshotChange> SnapshotStore::replace(const QByteArray &source, std::vector<LockSnapshot> now)
{
    std::vector<SnapshotChange> changes;
    std::vector<QByteArray> names;
    for (auto &snapshot : now) {
        const auto name = snapshot.lock.name;
        names.push_back(name);
        const auto at = m_locks.find(name);
        if (at == m_locks.end())
            changes.push_back({ChangeKind::Added, snapshot});
        else if (!isEquivalent(at->second.second, snapshot, m_wavering))
            changes.push_back({ChangeKind::Changed, snapshot});
        m_locks.insert_or_assign(name, std::pair(source, std::move(snapshot)));
    }
    for (const auto &name : std::exchange(m_names[source], names)) {
        const auto at = m_locks.find(name);
        const bool isGone =
            at != m_locks.end() && at->second.first == source && std::ranges::find(names, name) == names.end();
        if (!isGone)
            continue;
        changes.push_back({ChangeKind::Removed, std::move(at->second.second)});
        m_locks.erase(at);
    }
    if (names.empty())
        m_names.erase(source);
    return changes;
}

std::vector<LockSnapshot> SnapshotStore::withoutLow(const QByteArray &source, std::vector<LockSnapshot> now)
{
    HiddenLocks hidden;
    for (const auto &lock : now) {
        if (lock.confidence == Confidence::Low)
            hide(hidden, lock);
    }
    if (hidden.count == 0) {
        m_hidden.erase(source);
        return now;
    }
    m_hidden.insert_or_assign(source, std::move(hidden));
    std::erase_if(now, [](const LockSnapshot &lock) { return lock.confidence == Confidence::Low; });
    return now;
}

HiddenLocks SnapshotStore::hidden() const
{
    HiddenLocks all;
    for (const auto &[source, hidden] : m_hidden)
        all = together(std::move(all), hidden);
    return all;
}

const LockSnapshot *SnapshotStore::find(const QByteArray &name) const
{
    const auto at = m_locks.find(name);
    return at == m_locks.end() ? nullptr : &at->second.second;
}

std::optional<QByteArray> SnapshotStore::sourceOf(const QByteArray &name) const
{
    const auto at = m_locks.find(name);
    return at == m_locks.end() ? std::nullopt : std::optional(at->second.first);
}

std::vector<LockSnapshot> SnapshotStore::all() const
{
    std::vector<LockSnapshot> snapshots;
    for (const auto &[name, entry] : m_locks)
        snapshots.push_back(entry.second);
    return snapshots;
}

} // namespace lockscope::inspect
