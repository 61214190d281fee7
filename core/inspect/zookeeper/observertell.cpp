// SPDX-License-Identifier: Apache-2.0
// From what was read to what is told: pictures, sessions, coverage, progress, cost.
#include "core/inspect/zookeeper/observerprivate.h"

#include "core/base/duration.h"
#include "core/base/text.h"

#include <algorithm>
#include <set>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {
constexpr Duration quick = 5ms;
} // namespace

ServerTime ZooKeeperObserver::Private::serverNow() const
{
    return std::chrono::time_point_cast<milliseconds>(loop.wallNow()) + serverAhead;
}

RecogniseContext ZooKeeperObserver::Private::context(const zk::Evidence *with) const
{
    RecogniseContext out;
    out.connection = connection;
    out.chroot = chroot;
    out.evidence = with;
    out.ourselves = session.id();
    out.observed = serverNow();
    out.serverAhead = serverAhead;
    return out;
}

std::vector<LockPicture> ZooKeeperObserver::Private::picturesOf(const DirectoryView &view, const zk::Evidence *with,
                                                                bool all)
{
    const auto at = directories.find(view.path);
    auto how = context(with);
    how.headSince = at == directories.end() ? nullptr : &at->second.headSince;
    auto pictures = recognise(view, how);
    if (!all)
        std::erase_if(pictures, [](const LockPicture &lock) { return lock.confidence == Confidence::Low; });
    return pictures;
}

// Since when somebody holds is not on the wire; it is what we saw ourselves. Of those who held when we
// first looked nothing is known.
void ZooKeeperObserver::Private::noteHeads(Directory &directory, std::vector<LockPicture> &now, bool isFirstLook)
{
    std::set<HeadSince::key_type> heads;
    for (auto &lock : now) {
        const auto *before = store.find(lock.lock.name);
        for (auto &contender : lock.contenders) {
            const HeadSince::key_type node(ZPath(contender.guard.path), contender.guard.czxid);
            if (contender.role != Role::Holder)
                continue;
            heads.insert(node);
            const auto *earlier = before ? before->find(contender.id) : nullptr;
            if (isFirstLook || directory.headSince.contains(node) || (earlier && earlier->role == Role::Holder))
                continue;
            // Nobody before it: it had the lock when it came. Else now, when the one before let go.
            const bool wasFree = !before || before->holderCount() == 0;
            const auto since = wasFree && contender.heldSince ? *contender.heldSince : lock.observed;
            directory.headSince[node] = since;
            contender.heldSince = since;
            contender.heldAtMost = false;
        }
    }
    std::erase_if(directory.headSince, [&heads](const auto &entry) { return !heads.contains(entry.first); });
}

std::vector<PictureChange> ZooKeeperObserver::Private::judge(const ZPath &path, Directory &directory, bool isFirstLook)
{
    const auto started = loop.now();
    auto pictures = picturesOf(directory.known->view, hasEvidence ? &evidence : nullptr, options.includeLowConfidence);
    noteHeads(directory, pictures, isFirstLook);
    const auto how = context(hasEvidence ? &evidence : nullptr);
    for (auto &lock : pictures) {
        addAgeFindings(lock, {options.longHeld, options.longWait});
        if (hasEvidence)
            wakeups.judge(lock, how);
    }
    directory.wasLock |= !pictures.empty();
    auto changes = store.replace(path.bytes(), std::move(pictures));
    for (const auto &change : changes)
        if (change.kind == ChangeKind::Removed)
            wakeups.forget(change.lock.lock);
    directory.judgedAt = loop.now();
    directory.judgeTook = directory.judgedAt - started;
    return changes;
}

// What servers say has changed: the same nodes may look different now.
void ZooKeeperObserver::Private::judgeAll()
{
    std::vector<PictureChange> changes;
    for (auto &[path, directory] : directories) {
        // A queue of thousands takes long to judge: then less often.
        const bool isTooSoon = directory.judgeTook > quick && loop.now() < directory.judgedAt + directory.judgeTook * restPerWork;
        if (!directory.known || isTooSoon)
            continue;
        auto more = judge(path, directory, false);
        std::ranges::move(more, std::back_inserter(changes));
    }
    if (!changes.empty())
        sink.locksChanged(std::move(changes));
}

SearchFacts ZooKeeperObserver::Private::searchFacts() const
{
    SearchFacts facts;
    facts.crawled = !canDump();
    facts.sweepComplete = hasCrawled;
    facts.crawlSeen = crawled.seen;
    facts.crawlCut = crawled.isCut;
    facts.refusedDirectories = crawled.refused + static_cast<qint64>(unreadable.size());
    facts.firstRefused = crawled.refused > 0 || unreadable.empty() ? crawled.firstRefused : unreadable.begin()->first;
    for (const auto &[path, directory] : directories) {
        if (!directory.known)
            continue;
        facts.polledDirectories += directory.wasLock && directory.known->overBudget;
        facts.unreadNodes += directory.wasLock ? directory.known->unread : 0;
        for (const auto &[folder, slot] : directory.watches)
            facts.ownChildWatches += slot && slot->armed;
    }
    return facts;
}

void ZooKeeperObserver::Private::tellAll()
{
    const auto asked = std::chrono::time_point_cast<milliseconds>(evidence.askedAt) + serverAhead;
    auto sessionsNow = sessionsOf(connection, evidence, store, session.id(), asked);
    if (!sayTheSame(sessions, sessionsNow)) {
        sessions = std::move(sessionsNow);
        sink.sessionsChanged(connection, sessions);
    }
    auto coverageNow = coverageOf(connection, evidence, searchFacts());
    if (coverageNow != coverage) {
        coverage = std::move(coverageNow);
        sink.coverageChanged(connection, coverage);
    }
    const auto now = loop.now();
    const double seconds = std::chrono::duration<double>(now - costTold).count();
    Cost costNow{session.watchCount(), session.watchedBytes(), session.watchBudgetBytes(),
                 cost ? cost->requestsPerSecond : 0};
    // A rate over a few milliseconds would be a burst, called a load.
    if (seconds >= 0.9) {
        costNow.requestsPerSecond = static_cast<double>(requests - requestsTold) / seconds;
        requestsTold = requests;
        costTold = now;
    }
    if (cost != costNow) {
        cost = costNow;
        sink.costChanged(connection, costNow);
    }
}

void ZooKeeperObserver::Private::tellProgress(bool running)
{
    auto now = progress.value_or(Progress{});
    now.connection = connection;
    now.running = running;
    now.firstPictureComplete = first.isComplete();
    if (!hasEvidence || canDump()) {
        const auto every = std::max<Duration>(options.dumpEvery, lookTook * restPerWork);
        now.how = u"dump every "_s + spokenDuration(std::chrono::duration_cast<milliseconds>(every));
    } else {
        now.how = u"crawl"_s;
    }
    if (now == progress)
        return;
    progress = now;
    sink.progressed(now);
}

// Where a lock of that name may lie: where we know it, in the directory of that name, or as one node (or
// one base name) of its parent.
std::vector<ReadRequest> ZooKeeperObserver::Private::placesOf(const QByteArray &name, Deadline deadline) const
{
    const ZPath path(name);
    std::vector<ReadRequest> places;
    const auto add = [&](const ZPath &directory, const QByteArray &only) {
        const bool isThere = std::ranges::any_of(places, [&](const ReadRequest &one) { return one.path == directory; });
        if (isThere)
            return;
        ReadRequest request;
        request.path = directory;
        request.only = only;
        request.deadline = deadline;
        places.push_back(std::move(request));
    };
    if (const auto known = store.sourceOf(name))
        add(ZPath(*known), {});
    add(path, {});
    if (!path.isRoot())
        add(path.parent(), path.name().bytes());
    return places;
}

Task<Result<LockPicture>> ZooKeeperObserver::Private::readNow(QByteArray name, Deadline deadline)
{
    const ZPath path(name);
    if (!name.startsWith('/'))
        co_return Error{ErrorCode::BadInput, u"%1 is no znode path: it has to begin with /"_s.arg(label(name)), false};
    const std::vector<QByteArray> words{"dump", "cons", "wchp"};
    const auto evidenceDeadline = Deadline::at(std::min(loop.now() + 1s, deadline.when()));
    auto asked = source.ask(words, evidenceDeadline);
    auto syncing = session.sync(path, deadline);
    auto synced = co_await syncing;
    if (!synced && synced.error().code != ErrorCode::NoNode)
        co_return synced.error();
    const auto places = placesOf(name, deadline);
    std::vector<ReadAnswer> answers;
    for (const auto &place : places) {
        auto answer = co_await readDirectory(session, place);
        if (answer)
            answers.push_back(std::move(*answer));
        else if (answer.error().code != ErrorCode::NoNode)
            co_return answer.error();
    }
    auto said = co_await asked;
    if (said)
        absorb(std::move(*said));
    for (auto &answer : answers) {
        auto pictures = picturesOf(answer.view, hasEvidence ? &evidence : nullptr, true);
        const auto at = std::ranges::find(pictures, name, [](const LockPicture &lock) { return lock.lock.name; });
        if (at == pictures.end())
            continue;
        addAgeFindings(*at, {options.longHeld, options.longWait});
        co_return *at;
    }
    co_return Error{ErrorCode::NoNode, u"there is no lock %1 now"_s.arg(label(name)), false};
}

} // namespace lockscope::inspect
