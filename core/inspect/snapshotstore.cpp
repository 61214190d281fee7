// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/snapshotstore.h"

#include "core/base/text.h"
#include "core/inspect/coverage.h"

namespace lockscope::inspect {

namespace {

void keepWork(const LockSnapshot &before, LockSnapshot &now)
{
    for (std::size_t i = 0; i < now.contenders.size(); ++i)
        now.contenders[i].work = before.contenders[i].work;
}

bool isAbout(const std::optional<ServerTime> &a, const std::optional<ServerTime> &b,
             std::chrono::milliseconds wavering)
{
    if (!a || !b)
        return a.has_value() == b.has_value();
    return std::chrono::abs(*a - *b) <= wavering;
}

// Since when it does that is counted back from each look, a little off.
bool sameWork(const SqlWorkOf &before, const SqlWorkOf &now)
{
    constexpr std::chrono::milliseconds about{1000};
    if (!before || !now || !isAbout(before->since, now->since, about))
        return before == now;
    auto as = *now;
    as.since = before->since;
    return *before == as;
}

bool sameContender(const Contender &before, Contender now, bool isContended, std::chrono::milliseconds wavering)
{
    if (!isContended) // a busy client begins and ends statements all the time
        now.runsNothing = before.runsNothing;
    if (!isAbout(before.expiresAt, now.expiresAt, wavering) || !sameWork(before.work, now.work))
        return false;
    now.expiresAt = before.expiresAt;
    now.work = before.work;
    return before == now;
}

bool sameNode(const NodeSaid &before, const NodeSaid &now)
{
    return before.node == now.node && before.answered == now.answered && before.value == now.value;
}

// Measured anew at each look, a little off; more than that, and what counts from it would be wrong.
bool isAboutThen(const TimeInMessage &a, const TimeInMessage &b, std::chrono::milliseconds wavering)
{
    constexpr std::chrono::milliseconds always{1000};
    return a.isAhead == b.isAhead && std::chrono::abs(a.moment - b.moment) <= std::max(always, wavering);
}

bool sameFinding(const Finding &before, const Finding &now, std::chrono::milliseconds wavering)
{
    const auto sameMoment = [wavering](const auto &a, const auto &b) { return isAboutThen(a, b, wavering); };
    return before.code == now.code && before.severity == now.severity && before.contenders == now.contenders
           && std::ranges::equal(before.moments, now.moments, sameMoment);
}

} // namespace

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
        else // the next look is compared with what was reported: small steps add up
            keepWork(at->second.second, snapshot);
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
    return mapped<std::vector<LockSnapshot>>(m_locks, [](const auto &entry) { return entry.second.second; });
}

bool isEquivalent(const LockSnapshot &before, const LockSnapshot &now, std::chrono::milliseconds wavering)
{
    const bool isContended = now.state == LockState::Contended;
    const auto sameOne = [isContended, wavering](const Contender &a, const Contender &b) {
        return sameContender(a, b, isContended, wavering);
    };
    const auto sameFault = [wavering](const Finding &a, const Finding &b) { return sameFinding(a, b, wavering); };
    return before.lock == now.lock && before.backend == now.backend && before.recipe == now.recipe
           && before.client == now.client && before.why == now.why && before.confidence == now.confidence
           && before.state == now.state && before.waitersKnown == now.waitersKnown
           && before.companions == now.companions && std::ranges::equal(before.nodes, now.nodes, sameNode)
           && std::ranges::equal(before.contenders, now.contenders, sameOne)
           && std::ranges::equal(before.findings, now.findings, sameFault);
}

bool isRecordedAlike(const LockSnapshot &before, LockSnapshot now)
{
    if (before.contenders.size() != now.contenders.size())
        return false;
    keepWork(before, now);
    for (std::size_t i = 0; i < now.contenders.size(); ++i)
        now.contenders[i].runsNothing = before.contenders[i].runsNothing;
    return isEquivalent(before, now);
}

} // namespace lockscope::inspect
