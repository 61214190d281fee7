// SPDX-License-Identifier: Apache-2.0
// Follows the directories that were found: reads them, watches their children, reads them again.
#pragma once

#include "core/async/scope.h"
#include "core/inspect/zookeeper/observercrawl.h"
#include "core/inspect/zookeeper/observerjudge.h"
#include "core/inspect/zookeeper/observerreader.h"

#include <deque>

namespace lockscope::inspect {

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
    bool noteGap();
    // The connection is back: every directory is read at once.
    void readAllAgain();
    // An answer over the session to what was asked at `asked`: changes before that have been told by the watches.
    void heard(Instant asked);
    // False while a lock is shown whose directory has changed, or may have, and was not read since.
    [[nodiscard]] bool isCurrent() const;
    // The servers have said more.
    void judgeAll();

    [[nodiscard]] bool isIdle() const { return m_queue.empty() && m_reading == 0; }
    // Completes when nothing is left to be read.
    [[nodiscard]] Completion<bool> whenIdle();
    // What has to be known of us to say what could not be seen; `refused`: directories that the facts count already.
    void addTo(SearchFacts &facts, const std::set<ZPath> &refused) const;
    [[nodiscard]] qint64 requests() const { return m_requests; }
    // The directory as it was read, where that is all of it and nothing can have changed since without being told, or
    // nothing is followed at all; else null.
    [[nodiscard]] std::shared_ptr<const ReadAnswer> readAlready(const ZPath &path) const;

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
    void setDue(const ZPath &path, When when = When::Rested);
    [[nodiscard]] bool isLate(const ZPath &path, const Directory &directory) const;
    // Watches tell of every change.
    [[nodiscard]] bool isTold(const ZPath &path, const Directory &directory) const;
    void pump();
    Task<void> read(ZPath path);
    [[nodiscard]] ReadRequest requestFor(const ZPath &path);
    [[nodiscard]] std::optional<zk::Watch> watchFor(const ZPath &directory, const ZPath &folder);
    void watchSet(const ZPath &directory, const ZPath &folder);
    void watchFired(const ZPath &directory, const std::shared_ptr<WatchSlot> &slot, zk::EventKind event);
    void finish(const ZPath &path, Instant started, Result<ReadAnswer> answer);
    [[nodiscard]] std::vector<SnapshotChange> take(const ZPath &path, Directory &directory,
                                                   Result<ReadAnswer> answer);
    [[nodiscard]] std::vector<SnapshotChange> forget(const ZPath &path);

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

} // namespace lockscope::inspect
