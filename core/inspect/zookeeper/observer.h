// SPDX-License-Identifier: Apache-2.0
// Keeps the snapshots of one ZooKeeper connection's locks up to date.
//
// Finding: `dump` of the servers names every ephemeral node, so only directories that may hold a lock are
// read; where `dump` is refused, a bounded crawl. Following: one children watch per lock directory; an
// event makes that directory be read again and nothing else. `dump` is repeated every second while that is
// cheap, `cons` and `wchp` soon after changes, and a slow sweep looks for lock nodes without a session.
//
// The session (already behind the gate) and the source must outlive the observer. A broken connection
// leaves the snapshots as they are, and everything is read again when it is back; when the session is over
// the observer falls silent: whoever opens the next one makes a new observer. Loop thread only.
#pragma once

#include "core/inspect/pace.h"
#include "core/inspect/zookeeper/observercrawl.h"
#include "core/inspect/zookeeper/observerjudge.h"

#include <deque>

namespace lockscope::inspect {

// Finds locks: asks the servers again and again, crawls where they do not tell, and hands the directories that turn
// up to the follower.

// Follows the directories that were found: reads them, watches their children, reads them again.
class DirectoryFollower {
public:
    // `changed` is called when a reading has changed a lock.
    DirectoryFollower(const ObservedEnsemble &ensemble, ServerAnswers &answers, DirectoryJudge &judge,
                      std::function<void()> changed)
        : m_ensemble(ensemble), m_answers(answers), m_judge(judge), m_changed(std::move(changed)),
          m_scope(ensemble.loop)
    {
    }

    // `isComplete`: these are all the ephemerals there are, so a directory that is not named has none.
    void reconcile(const Candidates &found, bool isComplete);
    // A few at a time: lock directories without a watch, or of which a watch does not tell all, and those whose known
    // nodes were not read for long.
    void readOldOnes();
    // The connection broke: what happens from now on is not known until it is read again. False if nothing is known.
    bool noteGap()
    {
        m_backAt = Instant::max();
        for (auto &[path, directory] : m_directories)
            directory.hadGap = true;
        return !m_directories.empty();
    }
    // The connection is back: every directory is read at once.
    void readAllAgain();
    // An answer over the session to what was asked at `asked`: changes before that have been told by the watches.
    void heard(Instant asked)
    {
        for (auto &[path, directory] : m_directories) {
            if (!directory.hadGap && !directory.dueSince && isTold(path, directory))
                directory.knownAt = std::max(directory.knownAt, asked);
        }
    }
    // False while a lock is shown whose directory has changed, or may have, and was not read since.
    [[nodiscard]] bool isCurrent() const
    {
        return std::ranges::none_of(m_directories, [this](const auto &of) { return isLate(of.first, of.second); });
    }
    // The servers have said more.
    void judgeAll();

    [[nodiscard]] bool isIdle() const { return m_queue.empty() && m_reading == 0; }
    // Completes when nothing is left to be read.
    [[nodiscard]] Completion<bool> whenIdle() { return m_idleWaiters.emplace_back(m_ensemble.loop); }
    // What has to be known of us to say what could not be seen; `refused`: directories that the facts count already.
    void addTo(SearchFacts &facts, const std::set<ZPath> &refused) const;
    [[nodiscard]] qint64 requests() const { return m_requests; }
    // The directory as it was read, where that is all of it and nothing can have changed since without being told, or
    // nothing is followed at all; else null.
    [[nodiscard]] std::shared_ptr<const ReadAnswer> readAlready(const ZPath &path) const;
    // Null while it is to be read.
    [[nodiscard]] const DirectoryView *viewOf(const ZPath &path) const;

private:
    // One watch on the children of a folder.
    struct WatchSlot {
        bool isArmed = false; // the server has it
        bool hasFired = false;
    };
    // A directory that holds a lock, or may.
    struct Directory {
        std::shared_ptr<const ReadAnswer> known;             // as last read; null before
        std::vector<ZPath> suspects;                         // as last named by `dump` or a crawl, sorted
        std::map<ZPath, std::shared_ptr<WatchSlot>> watches; // by folder
        std::pair<qint64, ZPath> hidden;                     // nodes of it of which only the names may be known
        bool isQueued = false;
        bool isReading = false;
        bool isStale = false;            // something happened while it was being read
        bool isResting = false;          // queued, but not before a rest is over
        bool hadGap = false;             // the connection was broken since it was read
        std::optional<Instant> dueSince; // it changed then, or may have, and was not read since
        Instant knownAt{};               // `known` was true then
        Duration took{};                 // the work of the last reading
        Instant readAt{};
        Instant readInFullAt{};    // nodes known before included, of a large one a part of them
        std::size_t againFrom = 0; // where that part begins the next time
        bool isInFull = false;     // is being read so
        Timer later;
    };

    enum class When { Rested, AtOnce };
    void enqueue(const ZPath &path, When when = When::Rested);
    // It has changed, or may have.
    void setDue(const ZPath &path, When when = When::Rested)
    {
        const auto at = m_directories.find(path);
        if (at == m_directories.end())
            return;
        if (!at->second.dueSince)
            at->second.dueSince = m_ensemble.loop.now();
        enqueue(path, when);
    }
    [[nodiscard]] bool isLate(const ZPath &path, const Directory &directory) const;
    // Watches tell of every change.
    [[nodiscard]] bool isTold(const ZPath &path, const Directory &directory) const;
    void pump();
    Task<void> read(ZPath path);
    [[nodiscard]] ReadRequest requestFor(const ZPath &path);
    [[nodiscard]] std::optional<zk::Watch> watchFor(const ZPath &directory, const ZPath &folder);
    void watchSet(const ZPath &directory, const ZPath &folder)
    {
        const auto at = m_directories.find(directory);
        if (at == m_directories.end())
            return;
        const auto slot = at->second.watches.find(folder);
        if (slot != at->second.watches.end() && slot->second)
            slot->second->isArmed = !slot->second->hasFired;
    }
    void watchFired(const ZPath &directory, const std::shared_ptr<WatchSlot> &slot, zk::EventKind event);
    void finish(const ZPath &path, Instant started, Result<ReadAnswer> answer);
    [[nodiscard]] std::vector<SnapshotChange> take(const ZPath &path, Directory &directory,
                                                   Result<ReadAnswer> answer);
    [[nodiscard]] std::vector<SnapshotChange> forget(const ZPath &path)
    {
        m_directories.erase(path);
        m_unreadable.erase(path);
        return m_judge.forget(path);
    }

    const ObservedEnsemble &m_ensemble;
    ServerAnswers &m_answers;
    DirectoryJudge &m_judge;
    std::function<void()> m_changed;
    std::map<ZPath, Directory> m_directories;
    std::map<ZPath, QString> m_unreadable; // directories we may not read
    std::deque<ZPath> m_queue;
    int m_reading = 0;
    Instant m_backAt{}; // since when the connection is unbroken
    bool m_isPumping = false;
    qint64 m_requests = 0;
    std::vector<Completion<bool>> m_idleWaiters;
    Scope m_scope; // last: its coroutines use all of the above
};

// Tells what there is to say beside the locks: sessions, coverage, progress, cost. Each only when it is news.
class Reporter {
public:
    Reporter(const ObservedEnsemble &ensemble, const ServerAnswers &answers, const SnapshotStore &snapshots)
        : m_ensemble(ensemble), m_answers(answers), m_snapshots(snapshots), m_told(ensemble.connection, ensemble.sink)
    {
    }

    // `requests`: sent so far.
    void tell(const SearchFacts &search, qint64 requests);
    // What the servers say they were asked in all, in an answer to mntr; null: nobody answered.
    void noteServed(qint64 requests, const zk::Evidence *totals)
    {
        // What is missing is no small share of theirs: it is said of all members or not at all.
        const bool isWhole = totals && totals->isComplete("mntr");
        m_asked.noteServed(m_ensemble.loop.now(), requests, isWhole ? totals->requestsServed : std::nullopt,
                           isWhole ? totals->answers.at("mntr").members : 0);
    }
    void notifyProgress(bool isRunning, bool isFirstComplete, Duration lookTook);
    void notifyCrawled(qint64 done, qint64 total)
    {
        auto now = m_told.progress();
        now.done = done;
        now.total = total;
        m_told.tell(std::move(now));
    }

    [[nodiscard]] const std::vector<SessionSnapshot> &sessions() const { return m_told.sessions(); }
    [[nodiscard]] const std::vector<Coverage> &coverage() const { return m_told.coverage(); }

private:
    void notifyCost(qint64 requests)
    {
        const auto &session = m_ensemble.session;
        m_asked.note(m_ensemble.loop.now(), requests);
        Cost cost{session.watchCount(), session.watchedBytes(), session.watchBudgetBytes()};
        m_asked.putInto(cost);
        m_told.tell(cost);
    }

    const ObservedEnsemble &m_ensemble;
    const ServerAnswers &m_answers;
    const SnapshotStore &m_snapshots;
    ChangeReporter m_told;
    AskedRate m_asked;
};

class LockFinder {
public:
    explicit LockFinder(const ObservedEnsemble &ensemble);

    void start()
    {
        m_states = m_ensemble.session.onState([this](zk::SessionState state) { stateChanged(state); });
        if (m_ensemble.session.state() == zk::SessionState::Connected)
            m_connected.complete(true);
        m_scope.launch(find());
    }
    [[nodiscard]] const Completion<bool> &firstSnapshot() const { return m_first; }
    [[nodiscard]] ServerAnswers &answers() { return m_answers; }
    [[nodiscard]] const DirectoryJudge &judge() const { return m_judge; }
    [[nodiscard]] const Reporter &reporter() const { return m_reporter; }

private:
    void stateChanged(zk::SessionState state);
    Task<void> find();
    Task<void> firstLook();
    // Until nothing is left to be read of what was found.
    Task<void> haveRead();
    // And says what is known then.
    Task<void> notifyOnceRead();
    Task<void> keepLooking();
    Task<void> keepSweeping();
    // Says that what was told is true, where all is quiet, too.
    Task<void> keepHearing();
    // Soon after a change, and not too often: who watches whom now.
    void wantEdges();
    Task<void> refreshEdges();
    // False if nobody answered.
    Task<bool> ask(std::vector<QByteArray> words, Deadline deadline);
    Task<void> look(std::chrono::milliseconds limit);
    // For mntr a server goes through all its znodes: nothing of where the locks are waits for that.
    void askForTotals(std::chrono::milliseconds limit)
    {
        m_totals = m_ensemble.source.ask({"wchs", "mntr"}, Deadline::after(m_ensemble.loop, limit));
    }
    Task<void> hearTotals(); // that have been asked for
    // As the dump names them.
    [[nodiscard]] std::shared_ptr<const NamesByParent> knownEphemerals() const
    {
        auto known = ephemeralsBelow(m_answers.latest(), m_ensemble.chroot);
        for (auto &[folder, names] : known)
            std::ranges::sort(names);
        return std::make_shared<const NamesByParent>(std::move(known));
    }
    void reconcileWithDump()
    {
        m_follower.reconcile(candidates(ephemeralsBelow(m_answers.latest(), m_ensemble.chroot)), true);
    }
    [[nodiscard]] std::vector<Unexplained> unexplained() const;
    [[nodiscard]] CrawlOptions crawlOptions(int restTimes);
    void crawlDone(const CrawlReport &report)
    {
        m_follower.reconcile(candidates(report.suspects), false);
        m_crawled = report;
        m_crawled.suspects.clear();
        m_hasCrawled = !report.sessionOver;
    }
    // All that were sent so far.
    [[nodiscard]] qint64 requests() const
    {
        return m_requests + m_follower.requests() + m_ensemble.source.questions();
    }
    void notifyAll();
    void notifyProgress(bool isRunning) { m_reporter.notifyProgress(isRunning, m_first.isComplete(), m_lookTook); }

    const ObservedEnsemble &m_ensemble;
    ServerAnswers m_answers;
    DirectoryJudge m_judge;
    DirectoryFollower m_follower;
    Reporter m_reporter;

    Completion<bool> m_connected; // for the first time
    Completion<bool> m_first;
    bool m_wasBroken = false;
    int m_looks = 0;
    Duration m_lookTook{};
    std::optional<Reply<zk::Evidence>> m_totals; // on their way
    Instant m_edgesAsked{};
    Duration m_edgesTook{};
    bool m_edgesWanted = false;
    CrawlReport m_crawled;
    QString m_refusal;         // SearchFacts
    bool m_hasCrawled = false; // to the end, at least once
    qint64 m_requests = 0;     // neither the follower's nor what the servers' commands are asked included
    Subscription m_states;
    Scope m_scope; // last: its coroutines use all of the above
};

class ZooKeeperObserver : public Observer {
public:
    ZooKeeperObserver(zk::Session &session, zk::EvidenceSource &source, ConnectionName connection, QByteArray chroot,
                      ObserverOptions options, ObserverSink &sink);

    void start() override { m_finder.start(); }
    [[nodiscard]] Completion<bool> firstSnapshot() const override { return m_finder.firstSnapshot(); }
    // Evidence is asked for along with it, for at most a second. The sink is told, too, if the lock's
    // directory is being followed.
    Task<Result<LockSnapshot>> readNow(QByteArray name, Deadline deadline) override;
    Task<Result<LockSnapshot>> readHolds(QByteArray name, Deadline deadline) override;
    [[nodiscard]] std::vector<LockSnapshot> snapshots() const override { return m_finder.judge().snapshots().all(); }
    [[nodiscard]] std::vector<SessionSnapshot> sessions() const override { return m_finder.reporter().sessions(); }
    [[nodiscard]] std::vector<Coverage> coverage() const override
    {
        const auto &found = m_finder.reporter().coverage();
        return found.empty() ? m_readCoverage : found;
    }

private:
    const ObservedEnsemble m_ensemble;
    LockFinder m_finder;
    std::vector<Coverage> m_readCoverage; // of readNow(), where nothing is followed
};

} // namespace lockscope::inspect
