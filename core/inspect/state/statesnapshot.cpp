// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/state/statesnapshot.h"

#include "core/base/text.h"
#include "core/inspect/coverage.h"
#include "core/inspect/findings.h"

#include <set>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

void forget(StateSnapshot &state, const ConnectionName &name)
{
    std::erase_if(state.locks, [&name](const auto &entry) { return entry.first.connection == name; });
    std::erase_if(state.unknownFindings, [&name](const auto &entry) { return entry.first.connection == name; });
    state.sessions.erase(name);
    state.coverage.erase(name);
    state.connections.erase(name);
    state.confirmedAt.erase(name);
    state.brokeAt.erase(name);
}

// The spans of time that messages speak of count to the moment the lock is shown as of.
void wordAnew(LockSnapshot &lock)
{
    for (auto &finding : lock.findings) {
        finding.message = messageAt(finding, lock.observed);
        finding.moments.clear();
    }
}

// The connections that are known differently, and until when they stood where they broke.
void addConnections(const StateSnapshot &from, const StateSnapshot &to, Moment at, std::vector<Change> &changes)
{
    for (const auto &[name, state] : from.connections) {
        if (to.connections.contains(name))
            continue;
        auto gone = state;
        gone.isGone = true;
        changes.push_back({at, std::move(gone)});
    }
    for (const auto &[name, state] : to.connections) {
        const auto before = from.connections.find(name);
        if (before != from.connections.end() && before->second == state)
            continue;
        if (const auto broke = to.brokeAt.find(name); broke != to.brokeAt.end()) {
            auto then = state;
            for (const bool isConnected : {true, false}) {
                then.isConnected = isConnected;
                changes.push_back({broke->second, then});
            }
        }
        changes.push_back({at, state});
    }
    for (const auto &[name, until] : to.confirmedAt) {
        if (const auto before = from.confirmedAt.find(name);
            before == from.confirmedAt.end() || before->second != until)
            changes.push_back({at, Confirmation{name, until}});
    }
}

// The lists of the connections that have another one in `to`.
template <class Seen, class T>
void addLists(const std::map<ConnectionName, std::vector<T>> &from,
              const std::map<ConnectionName, std::vector<T>> &to, Moment at, std::vector<Change> &changes)
{
    for (const auto &[name, list] : to) {
        if (const auto before = from.find(name); before == from.end() || before->second != list)
            changes.push_back({at, Seen{name, list}});
    }
    for (const auto &[name, list] : from) {
        if (!to.contains(name) && !list.empty())
            changes.push_back({at, Seen{name, {}}});
    }
}

void addLocks(const StateSnapshot &from, const StateSnapshot &to, Moment at, std::vector<Change> &changes)
{
    for (const auto &[name, lock] : from.locks) {
        if (!to.locks.contains(name))
            changes.push_back({at, SnapshotChange{ChangeKind::Removed, lock}});
    }
    for (const auto &[name, lock] : to.locks) {
        const auto before = from.locks.find(name);
        const bool isNew = before == from.locks.end();
        if (!isNew && before->second == lock)
            continue;
        changes.push_back({at, SnapshotChange{isNew ? ChangeKind::Added : ChangeKind::Changed, lock}});
        if (const auto unknown = to.unknownFindings.find(name); unknown != to.unknownFindings.end())
            changes.back().unknownFindings = unknown->second;
    }
}

// "3 findings of a newer version are not shown: CODE, CODE and 1 more", for each connection that has such.
std::map<ConnectionName, QString> unknownFindingsOf(const StateSnapshot &state)
{
    struct Left {
        int count = 0;
        std::set<QByteArray> codes;
    };
    std::map<ConnectionName, Left> all;
    for (const auto &[lock, codes] : state.unknownFindings) {
        auto &left = all[lock.connection];
        left.count += static_cast<int>(codes.size());
        left.codes.insert(codes.begin(), codes.end());
    }
    constexpr qsizetype mostNamed = 8;
    std::map<ConnectionName, QString> words;
    for (const auto &[name, left] : all) {
        const auto codes = // a file's words: they may be anything
            mapped<QStringList>(left.codes, [](const auto &code) { return label(code, 40); });
        words[name] = (left.count == 1 ? u"%1 finding of a newer version is not shown: %2"_s
                                       : u"%1 findings of a newer version are not shown: %2"_s)
                          .arg(QString::number(left.count), firstNamed(codes, mostNamed));
    }
    return words;
}

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

void StateSnapshot::apply(const Change &change)
{
    const auto applyLock = [&](const SnapshotChange &news) {
        const auto &name = news.lock.lock;
        if (news.kind == ChangeKind::Removed)
            locks.erase(name);
        else
            locks.insert_or_assign(name, news.lock);
        if (news.kind == ChangeKind::Removed || change.unknownFindings.empty())
            unknownFindings.erase(name);
        else
            unknownFindings.insert_or_assign(name, change.unknownFindings);
    };
    const auto applyState = [&](const LinkState &state) {
        if (state.isGone)
            return forget(*this, state.name);
        const auto before = connections.find(state.name);
        if (before != connections.end() && before->second.isConnected && !state.isConnected)
            brokeAt.insert_or_assign(state.name, change.at);
        connections.insert_or_assign(state.name, state);
    };
    std::visit(
        Overloaded{applyLock, applyState,
                   [&](const SessionsSeen &seen) { sessions.insert_or_assign(seen.connection, seen.sessions); },
                   [&](const CoverageSeen &seen) { coverage.insert_or_assign(seen.connection, seen.coverage); },
                   [&](const Confirmation &one) { confirmedAt.insert_or_assign(one.connection, one.until); },
                   [](const auto &) {}}, // nothing that is known of locks
        change.what);
}

std::vector<Change> difference(const StateSnapshot &from, const StateSnapshot &to, Moment at)
{
    std::vector<Change> changes;
    addConnections(from, to, at, changes);
    addLists<SessionsSeen>(from.sessions, to.sessions, at, changes);
    addLists<CoverageSeen>(from.coverage, to.coverage, at, changes);
    addLocks(from, to, at, changes);
    return changes;
}

std::optional<Moment> StateSnapshot::lastConfirmed(const ConnectionName &name, Moment at) const
{
    if (const auto confirmation = confirmedAt.find(name); confirmation != confirmedAt.end())
        return std::min(confirmation->second, at);
    const auto state = connections.find(name);
    if (state != connections.end() && state->second.isConnected)
        return at;
    const auto broke = brokeAt.find(name);
    return broke == brokeAt.end() ? std::nullopt : std::optional(broke->second);
}

LockSnapshot lockAsOf(const StateSnapshot &state, LockSnapshot lock, Moment at)
{
    const auto last = state.lastConfirmed(lock.lock.connection, at);
    if (!last)
        return lock;
    lock.observed = std::max(lock.observed, *last + lock.serverAhead);
    wordAnew(lock);
    return lock;
}

std::vector<LockSnapshot> locksAsOf(const StateSnapshot &state, Moment at)
{
    return mapped<std::vector<LockSnapshot>>(state.locks,
                                             [&](const auto &entry) { return lockAsOf(state, entry.second, at); });
}

std::vector<Coverage> coverageAsOf(const StateSnapshot &snapshot)
{
    std::vector<Coverage> all;
    const auto unknown = unknownFindingsOf(snapshot);
    for (const auto &[name, state] : snapshot.connections) {
        if (const auto left = unknown.find(name); left != unknown.end())
            all.push_back({name, false, left->second});
        if (!state.isConnected) {
            all.push_back({name, false, state.problem.isEmpty() ? u"not connected"_s : state.problem});
            continue;
        }
        const auto seen = snapshot.coverage.find(name);
        if (seen != snapshot.coverage.end())
            all.insert(all.end(), seen->second.begin(), seen->second.end());
        if (!state.isLookedThrough)
            all.push_back({name, false, u"the initial scan was not complete"_s});
    }
    return all;
}

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
