// SPDX-License-Identifier: Apache-2.0
// Finds locks: asks the servers again and again, crawls where they do not tell, and hands the directories that turn
// up to the follower.
#pragma once

#include "core/inspect/changereporter.h"
#include "core/inspect/pace.h"
#include "core/inspect/zookeeper/observercrawl.h"
#include "core/inspect/zookeeper/observerfollow.h"
#include "core/inspect/zookeeper/observerjudge.h"

namespace lockscope::inspect {

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
    void noteServed(qint64 requests, const zk::Evidence *totals);
    void tellProgress(bool isRunning, bool isFirstComplete, Duration lookTook);
    void tellCrawled(qint64 done, qint64 total);

    [[nodiscard]] const std::vector<SessionSnapshot> &sessions() const { return m_told.sessions(); }
    [[nodiscard]] const std::vector<Coverage> &coverage() const { return m_told.coverage(); }

private:
    void tellCost(qint64 requests);

    const ObservedEnsemble &m_ensemble;
    const ServerAnswers &m_answers;
    const SnapshotStore &m_snapshots;
    ChangeReporter m_told;
    AskedRate m_asked;
};

class LockFinder {
public:
    explicit LockFinder(const ObservedEnsemble &ensemble);

    void start();
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
    Task<void> tellOnceRead();
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
    void askForTotals(std::chrono::milliseconds limit);
    Task<void> hearTotals();                                                    // that have been asked for
    [[nodiscard]] std::shared_ptr<const NamesByParent> knownEphemerals() const; // as the dump names them
    void reconcileWithDump();
    [[nodiscard]] CrawlOptions crawlOptions(int restTimes);
    void crawlDone(const CrawlReport &report);
    [[nodiscard]] qint64 requests() const; // all that were sent so far
    void tellAll();
    void tellProgress(bool isRunning) { m_reporter.tellProgress(isRunning, m_first.isComplete(), m_lookTook); }

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

} // namespace lockscope::inspect
