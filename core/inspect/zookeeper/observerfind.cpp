// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observer.h"

#include "core/base/text.h"
#include "core/inspect/coverage.h"

namespace lockscope::inspect {

void Reporter::tell(const SearchFacts &search, qint64 requests)
{
    auto sessions = sessionsOf(m_ensemble.connection, m_answers.latest(), m_snapshots, m_ensemble.session.id(),
                               m_answers.askedAt());
    for (auto &session : sessions)
        session.serverAhead = m_answers.serverAhead();
    if (!isEquivalent(m_told.sessions(), sessions))
        m_told.tell(std::move(sessions));
    auto coverage = coverageOf(m_ensemble.connection, m_answers.latest(), search);
    addHidden(coverage, m_snapshots.hidden());
    m_told.tell(std::move(coverage));
    notifyCost(requests);
}

void Reporter::notifyProgress(bool isRunning, bool isFirstComplete, Duration lookTook)
{
    auto now = m_told.progress();
    now.running = isRunning;
    now.firstSnapshotComplete = isFirstComplete;
    now.how = u"crawl"_s;
    if (!m_answers.isKnown() || m_answers.canDump()) {
        const auto every = std::max<Duration>(m_ensemble.options.dumpEvery, lookTook * restPerWork);
        now.how = u"dump every "_s + formatDuration(std::chrono::duration_cast<std::chrono::milliseconds>(every));
    }
    m_told.tell(std::move(now));
}

constexpr auto firstPatience = 1500ms; // for evidence at first sight
constexpr auto patience = 5s;          // later
constexpr auto whenRefused = 10s;      // how often to ask servers that answer nothing of use
constexpr auto edgesEvery = 250ms;
constexpr auto hearEvery = 1s;
constexpr auto sweepTreeEvery = 60s;
constexpr int restPerSweep = 3; // a watch at rest rests
constexpr auto stateEvery = 200ms;
constexpr int totalsEvery = 10; // looks between two of wchs and mntr

LockFinder::LockFinder(const ObservedEnsemble &ensemble)
    : m_ensemble(ensemble), m_answers(ensemble), m_judge(ensemble, m_answers),
      m_follower(ensemble, m_answers, m_judge, [this] { wantEdges(); }),
      m_reporter(ensemble, m_answers, m_judge.snapshots()), m_connected(ensemble.loop), m_first(ensemble.loop),
      m_scope(ensemble.loop)
{
}

void LockFinder::stateChanged(zk::SessionState state)
{
    if (state == zk::SessionState::Connecting) {
        m_wasBroken = true;
        if (m_follower.noteGap())
            notifyAll();
    }
    if (state != zk::SessionState::Connected)
        return;
    m_answers.noteConnected();
    m_connected.complete(true);
    if (!std::exchange(m_wasBroken, false))
        return;
    m_follower.readAllAgain();
    m_scope.launch(notifyOnceRead());
    wantEdges();
}

Task<void> LockFinder::notifyOnceRead()
{
    notifyAll();
    co_await haveRead();
    notifyAll();
}

Task<void> LockFinder::find()
{
    co_await m_connected;
    if (m_ensemble.options.follow)
        m_scope.launch(keepHearing());
    // The servers' commands answer anybody; whether the session is answered as well, one request asks meanwhile.
    ++m_requests;
    auto asking = m_ensemble.session.exists(ZPath("/"), {}, Deadline::after(m_ensemble.loop, firstPatience));
    co_await firstLook();
    const auto heard = co_await asking;
    if (!heard && (heard.error().code == ErrorCode::AuthFailed || heard.error().code == ErrorCode::Server))
        m_refusal = heard.error().message;
    notifyAll();
    m_first.complete(true);
    notifyProgress(false);
    if (!m_ensemble.options.follow)
        co_return;
    m_scope.launch(keepSweeping());
    askForTotals(firstPatience);
    co_await hearTotals();
    notifyAll();
    co_await keepLooking();
}

Task<void> LockFinder::firstLook()
{
    notifyProgress(true);
    co_await look(firstPatience);
    // Who looks once is to know how many watch children. Who follows hears it after the locks.
    if (!m_ensemble.options.follow)
        askForTotals(firstPatience);
    if (m_answers.canDump())
        reconcileWithDump();
    if (!m_answers.canDump() || m_ensemble.options.everywhere) {
        co_await haveRead(); // of that nothing is listed twice
        auto crawlOnce = crawlOptions(0);
        crawlOnce.inFlight = 32; // somebody waits for it
        crawlOnce.opensLeaves = !m_answers.canDump();
        auto found = [this](const NamesByParent &names) { m_follower.reconcile(candidates(names), false); };
        auto report = co_await crawl(m_ensemble.session, crawlOnce, found);
        crawlDone(report);
    }
    co_await haveRead();
    co_await hearTotals();
}

Task<void> LockFinder::haveRead()
{
    while (!m_follower.isIdle()) {
        co_await m_follower.whenIdle();
    }
}

Task<void> LockFinder::keepLooking()
{
    for (;;) {
        const auto usual = m_answers.canDump() ? Duration(m_ensemble.options.dumpEvery) : Duration(whenRefused);
        co_await sleepFor(m_ensemble.loop, std::max<Duration>(usual, m_lookTook * restPerWork));
        while (m_ensemble.session.state() == zk::SessionState::Connecting) {
            co_await sleepFor(m_ensemble.loop, stateEvery);
        }
        if (m_ensemble.session.state() != zk::SessionState::Connected)
            co_return;
        co_await look(patience);
        if (m_looks % totalsEvery == 0)
            askForTotals(patience);
        if (m_answers.canDump())
            reconcileWithDump();
        m_follower.readOldOnes();
        m_follower.judgeAll();
        co_await hearTotals();
        notifyAll();
        notifyProgress(false);
    }
}

Task<void> LockFinder::keepSweeping()
{
    for (;;) {
        auto gentle = crawlOptions(restPerWork);
        gentle.inFlight = 8;
        // Ephemerals stand in the dump. Without one the first look has opened them all.
        gentle.opensLeaves = false;
        auto found = [this](const NamesByParent &names) { m_follower.reconcile(candidates(names), false); };
        auto report = co_await crawl(m_ensemble.session, gentle, found);
        if (report.sessionOver)
            co_return;
        crawlDone(report);
        notifyAll();
        // Where no server lists the ephemerals, new locks are found by this alone.
        const auto rest = m_answers.canDump() ? report.took * restPerSweep : Duration{};
        co_await sleepFor(m_ensemble.loop, std::max<Duration>(sweepTreeEvery, rest));
    }
}

// Over the session, whose watches tell of changes: they arrive before this answer. What other connections of the same
// server answer says nothing about that.
Task<void> LockFinder::keepHearing()
{
    for (;;) {
        co_await sleepFor(m_ensemble.loop, hearEvery);
        ++m_requests;
        const auto asked = m_ensemble.loop.now();
        auto asking = m_ensemble.session.exists(ZPath("/"), {}, Deadline::after(m_ensemble.loop, patience));
        const auto heard = co_await asking;
        const bool hasTold = m_first.isComplete() || !m_judge.snapshots().entries().empty();
        // That the root may not be read is an answer, too.
        const bool isAnswer = heard || heard.error().code == ErrorCode::NoPermission;
        if (isAnswer)
            m_follower.heard(asked);
        if (isAnswer && hasTold && m_follower.isCurrent())
            m_ensemble.sink.confirm(m_ensemble.connection);
    }
}

Task<bool> LockFinder::ask(std::vector<QByteArray> words, Deadline deadline)
{
    auto answer = co_await m_ensemble.source.ask(words, deadline);
    if (answer)
        m_answers.absorb(std::move(*answer));
    co_return static_cast<bool>(answer);
}

Task<void> LockFinder::look(std::chrono::milliseconds limit)
{
    const auto deadline = Deadline::after(m_ensemble.loop, limit);
    if (m_looks++ % totalsEvery == 0) {
        co_await learnMembers(m_ensemble);
        ++m_requests;
    }
    std::vector<QByteArray> words{"dump", "cons", "wchp"};
    const bool isAnswered = co_await ask(std::move(words), deadline);
    // Waiting is no work: after a stall the rhythm is the old one at once.
    m_lookTook = isAnswered ? m_answers.latest().work : Duration{};
}

Task<void> LockFinder::hearTotals()
{
    if (!m_totals)
        co_return;
    auto asked = *std::exchange(m_totals, std::nullopt);
    const auto answer = co_await asked;
    m_reporter.noteServed(requests(), answer ? &*answer : nullptr);
    if (!answer)
        co_return;
    m_answers.absorbTotals(*answer);
    m_lookTook = std::max(m_lookTook, answer->work);
}

std::vector<Unexplained> LockFinder::unexplained() const
{
    // Without a dump there is no list of them, and coverage says so.
    if (!m_first.isComplete() && !m_follower.isIdle())
        return {};
    const auto viewOf = [this](const ZPath &directory) { return m_follower.viewOf(directory); };
    return unexplainedEphemerals(ephemeralsBelow(m_answers.latest(), m_ensemble.chroot), m_judge.snapshots(), viewOf,
                                 m_answers.context());
}

CrawlOptions LockFinder::crawlOptions(int restTimes)
{
    CrawlOptions how;
    how.restTimes = restTimes;
    how.most = m_ensemble.options.mostCrawled;
    if (m_answers.canDump())
        how.ephemerals = knownEphemerals();
    if (!m_ensemble.options.within.isEmpty())
        how.from = ZPath(m_ensemble.options.within);
    how.readAlready = [this](const ZPath &path) { return m_follower.readAlready(path); };
    how.progressed = [this, last = qint64(0)](qint64 seen, qint64 known, qint64 asked) mutable {
        m_requests += asked - std::exchange(last, asked);
        m_crawled.seen = seen;
        if (!m_first.isComplete())
            m_reporter.notifyCrawled(seen, known);
    };
    return how;
}

void LockFinder::wantEdges()
{
    // The first look has just asked.
    const bool isAnswered = m_answers.latest().hasAny("wchp") || m_answers.latest().hasAny("cons");
    if (m_edgesWanted || !m_ensemble.options.follow || !m_first.isComplete() || !isAnswered)
        return;
    m_edgesWanted = true;
    m_scope.launch(refreshEdges());
}

Task<void> LockFinder::refreshEdges()
{
    // Whoever joined sets its watch after it has seen the list: give it a moment.
    const auto soonest = m_ensemble.loop.now() + 20ms;
    const auto allowed = m_edgesAsked + std::max<Duration>(edgesEvery, m_edgesTook * restPerWork);
    co_await sleepUntil(m_ensemble.loop, std::max(soonest, allowed));
    m_edgesWanted = false; // a change from here on needs another look
    m_edgesAsked = m_ensemble.loop.now();
    std::vector<QByteArray> words{"cons", "wchp"};
    const auto limit = Deadline::after(m_ensemble.loop, patience);
    const auto isAnswered = co_await ask(std::move(words), limit);
    m_edgesTook = m_answers.latest().work;
    if (isAnswered)
        m_follower.judgeAll();
}

void LockFinder::notifyAll()
{
    SearchFacts facts;
    facts.refusal = m_refusal;
    facts.crawled = !m_answers.canDump();
    facts.sweepComplete = m_hasCrawled;
    facts.crawlSeen = m_crawled.seen;
    facts.crawlCut = m_crawled.isCut;
    facts.failedDirectories = m_crawled.failed;
    facts.firstFailure = m_crawled.failure;
    facts.unopened = m_crawled.unopened;
    facts.refusedDirectories = static_cast<qint64>(m_crawled.refused.size());
    if (!m_crawled.refused.empty())
        facts.firstRefused = *m_crawled.refused.begin();
    m_follower.addTo(facts, m_crawled.refused);
    facts.unexplained = unexplained();
    m_reporter.tell(facts, requests());
}

} // namespace lockscope::inspect
