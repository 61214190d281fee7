// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/picturestore.h"

#include "core/inspect/sameness.h"

#include <algorithm>

namespace lockscope::inspect {

std::vector<PictureChange> PictureStore::replace(const QByteArray &source, std::vector<LockPicture> now)
{
    std::vector<PictureChange> changes;
    std::vector<QByteArray> names;
    for (auto &picture : now) {
        const auto name = picture.lock.name;
        names.push_back(name);
        const auto at = m_locks.find(name);
        if (at == m_locks.end())
            changes.push_back({ChangeKind::Added, picture});
        else if (!saysTheSame(at->second.second, picture, m_wavering))
            changes.push_back({ChangeKind::Changed, picture});
        m_locks.insert_or_assign(name, std::pair(source, std::move(picture)));
    }
    for (const auto &name : std::exchange(m_names[source], names)) {
        const auto at = m_locks.find(name);
        const bool isGone = at != m_locks.end() && at->second.first == source
            && std::ranges::find(names, name) == names.end();
        if (!isGone)
            continue;
        changes.push_back({ChangeKind::Removed, std::move(at->second.second)});
        m_locks.erase(at);
    }
    if (names.empty())
        m_names.erase(source);
    return changes;
}

const LockPicture *PictureStore::find(const QByteArray &name) const
{
    const auto at = m_locks.find(name);
    return at == m_locks.end() ? nullptr : &at->second.second;
}

std::optional<QByteArray> PictureStore::sourceOf(const QByteArray &name) const
{
    const auto at = m_locks.find(name);
    return at == m_locks.end() ? std::nullopt : std::optional(at->second.first);
}

std::vector<LockPicture> PictureStore::all() const
{
    std::vector<LockPicture> pictures;
    for (const auto &[name, entry] : m_locks)
        pictures.push_back(entry.second);
    return pictures;
}

} // namespace lockscope::inspect
