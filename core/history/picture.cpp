// SPDX-License-Identifier: Apache-2.0
#include "core/history/picture.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"

#include <QStringList>

#include <algorithm>
#include <set>

namespace lockscope::history {

using namespace Qt::StringLiterals;
using inspect::FindingCode;
using inspect::LockSnapshot;

namespace {

void forget(Picture &picture, const ConnectionName &name)
{
    std::erase_if(picture.locks, [&name](const auto &entry) { return entry.first.connection == name; });
    std::erase_if(picture.unknownFindings, [&name](const auto &entry) { return entry.first.connection == name; });
    picture.sessions.erase(name);
    picture.coverage.erase(name);
    picture.connections.erase(name);
    picture.confirmedAt.erase(name);
    picture.brokeAt.erase(name);
}

// One kind of change each.
class Applier {
public:
    Applier(Picture &picture, const Change &change) : m_picture(picture), m_change(change) {}
    void operator()(const inspect::SnapshotChange &change) const
    {
        if (change.kind == inspect::ChangeKind::Removed)
            m_picture.locks.erase(change.lock.lock);
        else
            m_picture.locks.insert_or_assign(change.lock.lock, change.lock);
        if (change.kind == inspect::ChangeKind::Removed || m_change.unknownFindings.empty())
            m_picture.unknownFindings.erase(change.lock.lock);
        else
            m_picture.unknownFindings.insert_or_assign(change.lock.lock, m_change.unknownFindings);
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
            m_picture.brokeAt.insert_or_assign(state.name, m_change.at);
        m_picture.connections.insert_or_assign(state.name, state);
    }
    void operator()(const Act &) const {}
    void operator()(const Confirmation &confirmation) const
    {
        m_picture.confirmedAt.insert_or_assign(confirmation.connection, confirmation.until);
    }

private:
    Picture &m_picture;
    const Change &m_change;
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
    std::visit(Applier(*this, change), change.what);
}

std::vector<Change> Picture::asChanges(Moment at) const
{
    std::vector<Change> changes;
    for (const auto &[name, state] : connections) {
        const auto broke = brokeAt.find(name);
        if (broke != brokeAt.end()) { // that it stood, and until when
            auto before = state;
            before.isConnected = true;
            auto after = before;
            after.isConnected = false;
            changes.push_back({broke->second, before});
            changes.push_back({broke->second, after});
        }
        changes.push_back({at, state});
    }
    for (const auto &[name, until] : confirmedAt)
        changes.push_back({at, Confirmation{name, until}});
    for (const auto &[name, seen] : sessions)
        changes.push_back({at, SessionsSeen{name, seen}});
    for (const auto &[name, seen] : coverage)
        changes.push_back({at, CoverageSeen{name, seen}});
    for (const auto &[name, lock] : locks)
        changes.push_back({at, inspect::SnapshotChange{inspect::ChangeKind::Added, lock}});
    for (auto &change : changes) {
        if (const auto *news = std::get_if<inspect::SnapshotChange>(&change.what)) {
            if (const auto of = unknownFindings.find(news->lock.lock); of != unknownFindings.end())
                change.unknownFindings = of->second;
        }
    }
    return changes;
}

std::optional<Moment> Picture::lastConfirmed(const ConnectionName &name, Moment at) const
{
    if (const auto confirmation = confirmedAt.find(name); confirmation != confirmedAt.end())
        return std::min(confirmation->second, at);
    const auto state = connections.find(name);
    if (state != connections.end() && state->second.isConnected)
        return at;
    const auto broke = brokeAt.find(name);
    return broke == brokeAt.end() ? std::nullopt : std::optional(broke->second);
}

LockSnapshot lockAsOf(const Picture &picture, LockSnapshot lock, Moment at)
{
    const auto last = picture.lastConfirmed(lock.lock.connection, at);
    if (!last)
        return lock;
    lock.observed = std::max(lock.observed, *last + lock.serverAhead);
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

namespace {

// "3 findings of a newer version are not shown: CODE, CODE and 1 more", for each connection that has such.
std::map<ConnectionName, QString> unknownFindingsOf(const Picture &picture)
{
    struct Left {
        int count = 0;
        std::set<QByteArray> codes;
    };
    std::map<ConnectionName, Left> all;
    for (const auto &[lock, codes] : picture.unknownFindings) {
        auto &left = all[lock.connection];
        left.count += static_cast<int>(codes.size());
        left.codes.insert(codes.begin(), codes.end());
    }
    constexpr qsizetype mostNamed = 8;
    std::map<ConnectionName, QString> words;
    for (const auto &[name, left] : all) {
        QStringList codes;
        for (const auto &code : left.codes)
            codes << label(code, 40); // a file's word: it may be anything
        const auto more = codes.size() - mostNamed;
        const auto named = codes.first(std::min(codes.size(), mostNamed)).join(u", "_s)
                           + (more > 0 ? u" and %1 more"_s.arg(more) : QString());
        words[name] = left.count == 1 ? u"1 finding of a newer version is not shown: "_s + named
                                      : u"%1 findings of a newer version are not shown: "_s.arg(left.count) + named;
    }
    return words;
}

} // namespace

std::vector<inspect::Coverage> coverageAsOf(const Picture &picture)
{
    std::vector<inspect::Coverage> all;
    const auto unknown = unknownFindingsOf(picture);
    for (const auto &[name, state] : picture.connections) {
        if (const auto left = unknown.find(name); left != unknown.end())
            all.push_back({name, false, left->second});
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
