// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observerjudge.h"

#include "core/inspect/findings.h"
#include "core/inspect/pace.h"
#include "core/rules/catalogue.h"

#include <ctime>
#include <set>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {
constexpr Duration quickJudgement = 5ms;

// What this thread has worked so far. Time that passes is no work: the program may have been stopped in it.
Duration processorTime()
{
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec)
           + std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(spent.tv_nsec));
}

template <class One>
auto &sinceOf(One &contender)
{
    return contender.role == Role::Holder ? contender.heldSince : contender.waitingSince;
}

// Since when it is there is what the server dated its node with; of some that is written anew.
bool isDated(const LockSnapshot &lock, const Contender &contender)
{
    return contender.guard.czxid > 0 && sinceOf(contender)
           && recipes::recipeOf(lock.recipe).endsBy != recipes::EndsBy::Timestamp;
}

// What was recognised by its watches stays so when the last waiter gets the lock.
void keepConfidence(LockSnapshot &lock, const LockSnapshot *before)
{
    const bool wasSurer = before && before->recipe == lock.recipe && before->confidence > lock.confidence;
    if (!wasSurer || std::ranges::none_of(lock.contenders, [&](const auto &one) { return before->find(one.id); }))
        return;
    lock.confidence = before->confidence;
    lock.why += u", whose waiters were seen to watch each other"_s;
}

} // namespace

std::vector<LockSnapshot> DirectoryJudge::snapshotsOf(const DirectoryView &view) const
{
    auto context = m_answers.contextAsOf(view.listedAt);
    const auto at = m_judged.find(view.path);
    context.headSince = at == m_judged.end() ? nullptr : &at->second.headSince;
    auto snapshots = recognise(view, context);
    dateNodes(context.headSince, snapshots);
    return snapshots;
}

// A node that came before our eyes was made between two looks.
void DirectoryJudge::compareClocks(Judged &judged, const DirectoryView &view, const std::vector<LockSnapshot> &now,
                                   bool isFirstLook)
{
    const auto newestBefore = judged.newest;
    bool isWhole = !view.isCut;
    eachNode(view, [&](const ZPath &, const ZnodeView &node) {
        judged.newest = std::max(judged.newest, node.stat.czxid);
        isWhole &= node.isStatKnown;
    });
    const auto listedBefore = std::exchange(judged.listedAt, isWhole ? std::optional(view.listedAt) : std::nullopt);
    if (isFirstLook || !listedBefore || judged.newest <= newestBefore)
        return;
    std::map<qint64, ServerTime> fresh; // in the order they were made
    for (const auto &lock : now) {
        for (const auto &contender : lock.contenders) {
            if (contender.guard.czxid > newestBefore && isDated(lock, contender))
                fresh.emplace(contender.guard.czxid, *sinceOf(contender));
        }
    }
    const auto latest = m_answers.context().observed;
    const auto ago = std::chrono::ceil<std::chrono::milliseconds>(m_ensemble.loop.now() - *listedBefore);
    for (const auto &[czxid, date] : fresh) {
        if (m_clock.saw(czxid, date, latest - ago, latest))
            m_ensemble.source.setServerAhead(m_answers.serverAhead() + m_clock.setBy());
    }
}

void DirectoryJudge::dateNodes(const HeadSince *headSince, std::vector<LockSnapshot> &now) const
{
    if (!m_clock.wasSet())
        return;
    for (auto &lock : now) {
        for (auto &contender : lock.contenders) {
            const HeadSince::key_type node(ZPath(contender.guard.path), contender.guard.czxid);
            const bool isSeen = contender.role == Role::Holder && headSince && headSince->contains(node);
            if (!isSeen && isDated(lock, contender))
                sinceOf(contender) = m_clock.made(node.second, *sinceOf(contender));
        }
    }
}

// Since when somebody holds is not on the wire; it is what we saw ourselves. Of those who held when we
// first looked nothing is known.
void DirectoryJudge::noteHeads(HeadSince &headSince, std::vector<LockSnapshot> &now, bool isFirstLook) const
{
    std::set<HeadSince::key_type> heads;
    for (auto &lock : now) {
        const auto *before = m_snapshots.find(lock.lock.name);
        for (auto &contender : lock.contenders) {
            const HeadSince::key_type node(ZPath(contender.guard.path), contender.guard.czxid);
            if (contender.role != Role::Holder)
                continue;
            heads.insert(node);
            const auto *earlier = before ? before->find(contender.id) : nullptr;
            if (isFirstLook || headSince.contains(node) || (earlier && earlier->role == Role::Holder))
                continue;
            // Nobody before it: it had the lock when it came. Else now, when the one before let go.
            const bool wasFree = !before || before->holderCount() == 0;
            const auto since = wasFree && contender.heldSince ? *contender.heldSince : lock.observed;
            headSince[node] = since;
            contender.heldSince = since;
            contender.heldAtMost = false;
        }
    }
    std::erase_if(headSince, [&heads](const auto &entry) { return !heads.contains(entry.first); });
}

std::vector<LockSnapshot> DirectoryJudge::look(Judged &judged, const DirectoryView &view, Instant known,
                                               bool isFirstLook)
{
    const auto started = processorTime();
    auto context = m_answers.contextAsOf(known);
    context.headSince = &judged.headSince;
    context.listedAt = view.listedAt;
    judged.wantsNewerList = false;
    context.wantsNewerList = &judged.wantsNewerList;
    auto snapshots = recognise(view, context);
    for (auto &lock : snapshots)
        keepConfidence(lock, m_snapshots.find(lock.lock.name));
    if (!m_ensemble.options.includeLowConfidence)
        snapshots = m_snapshots.withoutLow(view.path.bytes(), std::move(snapshots));
    compareClocks(judged, view, snapshots, isFirstLook);
    dateNodes(&judged.headSince, snapshots);
    noteHeads(judged.headSince, snapshots, isFirstLook);
    for (auto &lock : snapshots) {
        m_usual.note(lock);
        addAges(lock);
        if (context.evidence)
            m_wakeups.judge(lock, context);
    }
    judged.hasDates = std::ranges::any_of(snapshots, [](const LockSnapshot &lock) {
        return recipes::recipeOf(lock.recipe).endsBy == recipes::EndsBy::Timestamp;
    });
    judged.at = m_ensemble.loop.now();
    judged.took = processorTime() - started;
    return snapshots;
}

void DirectoryJudge::addAges(LockSnapshot &lock) const
{
    addAgeFindings(lock, *m_ensemble.options.thresholds, m_usual);
}

std::vector<SnapshotChange> DirectoryJudge::judge(const DirectoryView &view, bool isFirstLook)
{
    auto &judged = m_judged[view.path];
    auto snapshots = look(judged, view, view.listedAt, isFirstLook);
    judged.hadLock |= !snapshots.empty();
    return replace(view.path, std::move(snapshots));
}

std::vector<SnapshotChange> DirectoryJudge::judgeAgain(const DirectoryView &view, Instant known)
{
    auto &judged = m_judged[view.path];
    const bool isSlow = judged.took > quickJudgement;
    if (isSlow && m_ensemble.loop.now() < judged.at + judged.took * restPerWork)
        return {};
    auto snapshots = look(judged, view, known, false);
    if (judged.wantsNewerList)
        return {};
    judged.hadLock |= !snapshots.empty();
    return replace(view.path, std::move(snapshots));
}

bool DirectoryJudge::wantsNewerList(const ZPath &directory) const
{
    const auto at = m_judged.find(directory);
    return at != m_judged.end() && at->second.wantsNewerList;
}

std::vector<SnapshotChange> DirectoryJudge::forget(const ZPath &directory)
{
    m_judged.erase(directory);
    return replace(directory, m_snapshots.withoutLow(directory.bytes(), {}));
}

std::vector<SnapshotChange> DirectoryJudge::replace(const ZPath &directory, std::vector<LockSnapshot> now)
{
    auto changes = m_snapshots.replace(directory.bytes(), std::move(now));
    for (const auto &change : changes) {
        if (change.kind != ChangeKind::Removed)
            continue;
        m_wakeups.forget(change.lock.lock);
        m_usual.noteGone(change.lock.lock.name, m_answers.context().observed);
    }
    return changes;
}

bool DirectoryJudge::hasDates(const ZPath &directory) const
{
    const auto at = m_judged.find(directory);
    return at != m_judged.end() && at->second.hasDates;
}

bool DirectoryJudge::hadLock(const ZPath &directory) const
{
    const auto at = m_judged.find(directory);
    return at != m_judged.end() && at->second.hadLock;
}

} // namespace lockscope::inspect
