// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observerjudge.h"

#include "core/base/text.h"
#include "core/inspect/coverage.h"
#include "core/inspect/pace.h"
#include "core/rules/catalogue.h"

#include <QDateTime>
#include <QLocale>

#include <ctime>
#include <ranges>

namespace lockscope::inspect {

using std::chrono::milliseconds;

namespace {

QString counted(qint64 number)
{
    return QLocale(QLocale::English).toString(number);
}

// "10:32:05", as a clock on the wall shows it here.
QString clockTime(WallTime when)
{
    const auto since = std::chrono::duration_cast<milliseconds>(when.time_since_epoch());
    return QDateTime::fromMSecsSinceEpoch(since.count()).toString(u"HH:mm:ss"_s);
}

// "watches: 1 of 3 members answered wchp (not in the whitelist)"; nothing if all answered.
std::optional<QString> shortfall(const zk::Evidence &evidence, const QByteArray &command, const QString &what)
{
    const auto at = evidence.answers.find(command);
    if (at == evidence.answers.end() || at->second.answered == at->second.members)
        return {};
    auto message =
        u"%1: %2 of %3 members answered %4"_s.arg(what, QString::number(at->second.answered),
                                                  QString::number(at->second.members), QString::fromLatin1(command));
    if (!at->second.refusal.isEmpty())
        message += u" (%1)"_s.arg(at->second.refusal);
    return message;
}

QString howFound(const zk::Evidence &evidence, const SearchFacts &search)
{
    const auto at = evidence.answers.find("dump");
    const int members = at == evidence.answers.end() ? 0 : at->second.members;
    const auto refusal = at == evidence.answers.end() ? QString() : at->second.refusal;
    auto message =
        u"0 of %1 members answered dump: found by crawling %2 znodes"_s.arg(members).arg(counted(search.crawlSeen));
    return refusal.isEmpty() ? message : message + u" (%1)"_s.arg(refusal);
}

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
    return contender.guard.znode().czxid > 0 && sinceOf(contender)
           && recipes::recipeOf(lock.recipe).endsBy != recipes::EndsBy::Timestamp;
}

// What was recognised by its watches stays so when the last waiter gets the lock.
void keepConfidence(LockSnapshot &lock, const LockSnapshot *before)
{
    const bool wasSurer = before && before->recipe == lock.recipe && before->confidence > lock.confidence;
    if (!wasSurer || std::ranges::none_of(lock.contenders, [&](const auto &one) { return before->find(one.id); }))
        return;
    lock.confidence = before->confidence;
    lock.why += clause(u"its waiters were seen to watch each other"_s);
}

} // namespace

std::vector<SessionSnapshot> sessionsOf(const ConnectionName &connection, const zk::Evidence &evidence,
                                        const SnapshotStore &snapshots, zk::SessionId ourselves, ServerTime asked)
{
    std::map<QString, SessionSnapshot> bySession;
    const auto add = [&](zk::SessionId id) -> SessionSnapshot & {
        auto &session = bySession[id.text()];
        session.connection = connection;
        session.session = id.text();
        if (id == ourselves)
            session.client = u"Lockscope"_s;
        return session;
    };
    for (const auto &[id, paths] : evidence.ephemerals)
        add(id);
    for (const auto &[id, facts] : evidence.connections)
        add(id).endpoint = facts.endpoint;
    for (const auto &[id, left] : evidence.expiresIn)
        add(id).expiresAt = asked + left;
    for (const auto &[name, entry] : snapshots.entries()) {
        const auto &lock = entry.second;
        for (const auto &contender : lock.contenders) {
            if (!contender.session)
                continue;
            auto &session = bySession[*contender.session];
            session.connection = connection;
            session.session = *contender.session;
            auto &list = contender.role == Role::Holder ? session.holds : session.waits;
            if (list.empty() || list.back() != name)
                list.push_back(name);
            if (!session.client)
                session.client = lock.client;
        }
    }
    std::vector<SessionSnapshot> sessions;
    for (auto &[id, session] : bySession)
        sessions.push_back(std::move(session));
    return sessions;
}

bool isEquivalent(const std::vector<SessionSnapshot> &before, const std::vector<SessionSnapshot> &now)
{
    return std::ranges::equal(before, now, [&](const SessionSnapshot &a, SessionSnapshot b) {
        if (a.expiresAt && b.expiresAt && std::chrono::abs(*a.expiresAt - *b.expiresAt) <= expiryWavers)
            b.expiresAt = a.expiresAt;
        return a == b;
    });
}

std::vector<Coverage> coverageOf(const ConnectionName &connection, const zk::Evidence &evidence,
                                 const SearchFacts &search)
{
    std::vector<Coverage> coverage;
    const auto missing = [&](const QString &message) { coverage.push_back({connection, false, message}); };
    if (!search.refusal.isEmpty())
        missing(u"no znode can be read here: %1"_s.arg(search.refusal));
    if (search.crawled)
        missing(howFound(evidence, search));
    if (search.crawlCut)
        missing(u"the crawl stopped at %1 znodes: there may be more locks"_s.arg(counted(search.crawlSeen)));
    if (search.failedDirectories > 0)
        missing(u"%1 znodes could not be listed, for one: %2"_s.arg(counted(search.failedDirectories),
                                                                    search.firstFailure));
    if (search.unopened > 0)
        missing(
            u"%1 znodes of large or many folders were not opened, for those like them are leaves. A lock without a "
            u"session below one would be missed"_s.arg(counted(search.unopened)));
    if (!search.sweepComplete && !search.crawled)
        missing(u"lock nodes without a session: not looked for everywhere yet"_s);
    if (!evidence.membersUnknown.isEmpty())
        missing(u"connections and watches: whether these are all the members is not known (%1)"_s.arg(
            evidence.membersUnknown));
    for (const auto &[command, what] : {std::pair("cons", u"connections"_s), std::pair("wchp", u"watches"_s)})
        if (const auto message = shortfall(evidence, command, what))
            missing(*message);
    if (search.refusedDirectories > 0)
        missing(u"no permission to list %1 znodes, %2 for one"_s.arg(counted(search.refusedDirectories),
                                                                     label(search.firstRefused.bytes(), 80)));
    if (search.hiddenNodes > 0)
        missing(u"no permission to read %1 znodes, for example %2. Their age is unknown, and their owner is known "
                u"only where a server lists the nodes of sessions"_s.arg(counted(search.hiddenNodes),
                                                                         label(search.firstHidden.bytes(), 80)));
    if (search.lateDirectories > 0)
        missing(u"%1 lock directories are shown as of %2 or later, %3 for one: they have not been read since"_s.arg(
            counted(search.lateDirectories), clockTime(search.lateSince), label(search.firstLate.bytes(), 80)));
    if (search.polledDirectories > 0)
        missing(u"%1 lock directories are polled: the watch budget is used up"_s.arg(search.polledDirectories));
    if (search.unreadNodes > 0)
        missing(u"%1 children of very large directories were not read"_s.arg(counted(search.unreadNodes)));
    if (coverage.empty())
        coverage.push_back({connection, true, u"every member answered"_s});
    if (const auto others = evidence.childWatchTotal.value_or(0) - search.ownChildWatches; others > 0)
        coverage.push_back(
            {connection, true, u"%1 child watches exist; servers do not say whose"_s.arg(counted(others))});
    addUnexplained(coverage, search.unexplained);
    return coverage;
}

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
            if (contender.guard.znode().czxid > newestBefore && isDated(lock, contender))
                fresh.emplace(contender.guard.znode().czxid, *sinceOf(contender));
        }
    }
    const auto latest = m_answers.context().observed;
    const auto ago = std::chrono::ceil<milliseconds>(m_ensemble.loop.now() - *listedBefore);
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
            const HeadSince::key_type node(ZPath(contender.guard.znode().path), contender.guard.znode().czxid);
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
            const HeadSince::key_type node(ZPath(contender.guard.znode().path), contender.guard.znode().czxid);
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

void ServerAnswers::absorb(zk::Evidence answer)
{
    if (m_isKnown) {
        const auto older = std::chrono::duration_cast<milliseconds>(answer.askedAt - m_evidence.askedAt);
        for (auto &[session, left] : m_evidence.expiresIn)
            left = std::max<milliseconds>(0ms, left - older);
    }
    if (answer.answers.contains("dump")) {
        m_evidence.ephemerals = std::move(answer.ephemerals);
        m_evidence.expiresIn = std::move(answer.expiresIn);
    }
    if (answer.answers.contains("cons"))
        m_evidence.connections = std::move(answer.connections);
    if (answer.answers.contains("wchp"))
        m_evidence.dataWatches = std::move(answer.dataWatches);
    for (const auto *command : {"dump", "cons", "wchp"}) {
        if (const auto at = answer.answers.find(command); at != answer.answers.end())
            m_evidence.answers[command] = std::move(at->second);
    }
    m_evidence.membersUnknown = answer.membersUnknown;
    m_evidence.askedAt = answer.askedAt;
    m_evidence.answeredAt = answer.answeredAt;
    m_evidence.work = answer.work;
    m_isKnown = true;
    learnServerClock();
}

// ZooKeeper has no command for the time; but `cons` says when, by the server's clock, our own connection was made.
void ServerAnswers::learnServerClock()
{
    const auto own = m_evidence.connections.find(m_ensemble.session.id());
    const auto ours = m_ensemble.session.connectedAt() ? m_ensemble.session.connectedAt() : m_connectedAt;
    if (own == m_evidence.connections.end() || !ours)
        return;
    const auto at = std::chrono::duration_cast<milliseconds>(ours->time_since_epoch());
    const auto ahead = own->second.established - at;
    if (ahead == m_told)
        return;
    m_told = ahead;
    m_ensemble.source.setServerAhead(ahead);
    // A clock that was set, or another member's: what was seen so far is dated by the one of before, and goes on so.
    if (!m_knowsServerClock || std::chrono::abs(ahead - m_serverAhead) < anotherClock)
        m_serverAhead = ahead;
    m_knowsServerClock = true;
}

void ServerAnswers::learnFromNodes(const DirectoryView &view)
{
    if (m_knowsServerClock)
        return;
    auto latest = serverNow();
    for (const auto &node : view.children)
        latest = std::max(latest, ServerTime(node.stat.ctime));
    m_serverAhead += latest - serverNow();
}

ServerTime ServerAnswers::serverNow() const
{
    return std::chrono::time_point_cast<milliseconds>(datedNow(m_ensemble.loop)) + m_serverAhead;
}

ServerTime ServerAnswers::askedAt() const
{
    return std::chrono::time_point_cast<milliseconds>(m_evidence.askedAt) + m_serverAhead;
}

RecogniseContext ServerAnswers::context() const
{
    RecogniseContext out;
    out.connection = m_ensemble.connection;
    out.chroot = m_ensemble.chroot;
    out.evidence = m_isKnown ? &m_evidence : nullptr;
    out.ourselves = m_ensemble.session.id();
    out.observed = serverNow();
    out.serverAhead = m_serverAhead;
    return out;
}

RecogniseContext ServerAnswers::contextAsOf(Instant known) const
{
    auto out = context();
    const auto age = std::max(Duration{}, m_ensemble.loop.now() - known);
    out.observed -= std::chrono::ceil<milliseconds>(age);
    return out;
}

Task<void> learnMembers(const ObservedEnsemble &ensemble)
{
    // A session with a chroot cannot see it.
    if (!ensemble.chroot.isEmpty() && ensemble.chroot != "/")
        co_return;
    auto reading = ensemble.session.get(ZPath("/zookeeper/config"), {}, Deadline::after(ensemble.loop, 1s));
    auto node = co_await reading;
    if (node)
        ensemble.source.setConfiguration(node->data);
}

milliseconds ClockSteps::setBy(qint64 czxid) const
{
    const auto last =
        std::ranges::find_if(std::views::reverse(m_steps), [czxid](const Step &step) { return step.czxid <= czxid; });
    return last == m_steps.rend() ? 0ms : last->by;
}

bool ClockSteps::saw(qint64 czxid, ServerTime dated, ServerTime before, ServerTime now)
{
    m_isCompared = true;
    const bool isLast = m_steps.empty() || czxid > m_steps.back().czxid;
    const auto at = made(czxid, dated);
    if (!isLast || (at >= before - anotherClock && at <= now + anotherClock))
        return false;
    m_steps.push_back({czxid, dated - now});
    return true;
}

} // namespace lockscope::inspect
