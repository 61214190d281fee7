// SPDX-License-Identifier: Apache-2.0
#include "core/history/picture.h"

#include "core/inspect/findings.h"

#include <algorithm>

namespace lockscope::history {

using namespace Qt::StringLiterals;
using inspect::FindingCode;
using inspect::LockSnapshot;

namespace {

void forget(Picture &picture, const ConnectionName &name)
{
    std::erase_if(picture.locks, [&name](const auto &entry) { return entry.first.connection == name; });
    picture.sessions.erase(name);
    picture.coverage.erase(name);
    picture.connections.erase(name);
    picture.heardAt.erase(name);
}

// One kind of change each.
class Applier {
public:
    Applier(Picture &picture, Moment at) : m_picture(picture), m_at(at) {}
    void operator()(const inspect::SnapshotChange &change) const
    {
        if (change.kind == inspect::ChangeKind::Removed)
            m_picture.locks.erase(change.lock.lock);
        else
            m_picture.locks.insert_or_assign(change.lock.lock, change.lock);
    }
    void operator()(const SessionsSeen &seen) const
    {
        m_picture.sessions.insert_or_assign(seen.connection, seen.sessions);
    }
    void operator()(const CoverageSeen &seen) const
    {
        m_picture.coverage.insert_or_assign(seen.connection, seen.coverage);
    }
    void operator()(const LinkState &state) const
    {
        if (state.isGone)
            return forget(m_picture, state.name);
        const auto before = m_picture.connections.find(state.name);
        if (before != m_picture.connections.end() && before->second.isConnected && !state.isConnected)
            m_picture.heardAt.insert_or_assign(state.name, m_at);
        m_picture.connections.insert_or_assign(state.name, state);
    }
    void operator()(const Act &) const {}

private:
    Picture &m_picture;
    Moment m_at;
};

// The spans of time that messages speak of count to the moment the lock is shown as of.
void wordAnew(LockSnapshot &lock)
{
    for (auto &finding : lock.findings) {
        finding.message = inspect::messageAt(finding, lock.observed);
        finding.moments.clear();
    }
}

} // namespace

void Picture::apply(const Change &change)
{
    std::visit(Applier(*this, change.at), change.what);
}

std::vector<Change> Picture::asChanges(Moment at) const
{
    std::vector<Change> changes;
    for (const auto &[name, state] : connections) {
        const auto heard = heardAt.find(name);
        if (heard != heardAt.end()) { // that it stood, and until when
            auto before = state;
            before.isConnected = true;
            auto after = before;
            after.isConnected = false;
            changes.push_back({heard->second, before});
            changes.push_back({heard->second, after});
        }
        changes.push_back({at, state});
    }
    for (const auto &[name, seen] : sessions)
        changes.push_back({at, SessionsSeen{name, seen}});
    for (const auto &[name, seen] : coverage)
        changes.push_back({at, CoverageSeen{name, seen}});
    for (const auto &[name, lock] : locks)
        changes.push_back({at, inspect::SnapshotChange{inspect::ChangeKind::Added, lock}});
    return changes;
}

LockSnapshot lockAsOf(const Picture &picture, LockSnapshot lock, Moment at)
{
    const auto &name = lock.lock.connection;
    const auto state = picture.connections.find(name);
    const auto heard = picture.heardAt.find(name);
    const bool isStanding = state != picture.connections.end() && state->second.isConnected;
    auto last = at;
    if (!isStanding && heard != picture.heardAt.end())
        last = heard->second;
    else if (!isStanding)
        return lock;
    lock.observed = std::max(lock.observed, last + lock.serverAhead);
    wordAnew(lock);
    return lock;
}

std::vector<LockSnapshot> locksAsOf(const Picture &picture, Moment at)
{
    std::vector<LockSnapshot> all;
    all.reserve(picture.locks.size());
    for (const auto &[name, lock] : picture.locks)
        all.push_back(lockAsOf(picture, lock, at));
    return all;
}

std::vector<inspect::Coverage> coverageAsOf(const Picture &picture)
{
    std::vector<inspect::Coverage> all;
    for (const auto &[name, state] : picture.connections) {
        if (!state.isConnected) {
            all.push_back({name, false, state.problem.isEmpty() ? u"not connected"_s : state.problem});
            continue;
        }
        const auto seen = picture.coverage.find(name);
        if (seen != picture.coverage.end())
            all.insert(all.end(), seen->second.begin(), seen->second.end());
        if (!state.isLookedThrough)
            all.push_back({name, false, u"the first look had not ended"_s});
    }
    return all;
}

} // namespace lockscope::history
