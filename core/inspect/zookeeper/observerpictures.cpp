#include "core/inspect/zookeeper/observerpictures.h"

#include <algorithm>

namespace lockscope::inspect {

namespace {

// Servers tell expiry in ticks or whole seconds: it wavers by that much without meaning anything.
constexpr std::chrono::milliseconds wavering{2500};

bool isAbout(const std::optional<ServerTime> &a, const std::optional<ServerTime> &b)
{
    if (!a || !b)
        return a.has_value() == b.has_value();
    return std::chrono::abs(*a - *b) <= wavering;
}

bool sameContender(const Contender &before, Contender now)
{
    if (!isAbout(before.expiresAt, now.expiresAt))
        return false;
    now.expiresAt = before.expiresAt;
    return before == now;
}

bool sameFinding(const Finding &before, const Finding &now)
{
    return before.code == now.code && before.severity == now.severity && before.contenders == now.contenders;
}

} // namespace

bool looksTheSame(const LockPicture &before, const LockPicture &now)
{
    return before.lock == now.lock && before.backend == now.backend && before.recipe == now.recipe
        && before.client == now.client && before.why == now.why && before.confidence == now.confidence
        && before.state == now.state && before.waitersKnown == now.waitersKnown
        && before.companions == now.companions
        && std::ranges::equal(before.contenders, now.contenders, sameContender)
        && std::ranges::equal(before.findings, now.findings, sameFinding);
}

std::vector<PictureChange> PictureStore::replace(const ZPath &directory, std::vector<LockPicture> now)
{
    std::vector<PictureChange> changes;
    std::vector<QByteArray> names;
    for (auto &picture : now) {
        const auto name = picture.lock.name;
        names.push_back(name);
        const auto at = m_locks.find(name);
        if (at == m_locks.end())
            changes.push_back({ChangeKind::Added, picture});
        else if (!looksTheSame(at->second.second, picture))
            changes.push_back({ChangeKind::Changed, picture});
        m_locks.insert_or_assign(name, std::pair(directory, std::move(picture)));
    }
    for (const auto &name : std::exchange(m_names[directory], names)) {
        const auto at = m_locks.find(name);
        const bool isGone = at != m_locks.end() && at->second.first == directory
            && std::ranges::find(names, name) == names.end();
        if (!isGone)
            continue;
        changes.push_back({ChangeKind::Removed, std::move(at->second.second)});
        m_locks.erase(at);
    }
    if (names.empty())
        m_names.erase(directory);
    return changes;
}

const LockPicture *PictureStore::find(const QByteArray &name) const
{
    const auto at = m_locks.find(name);
    return at == m_locks.end() ? nullptr : &at->second.second;
}

std::optional<ZPath> PictureStore::directoryOf(const QByteArray &name) const
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
