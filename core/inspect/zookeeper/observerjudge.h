// SPDX-License-Identifier: Apache-2.0
// From what was read of a directory to the locks in it: what they are, what is wrong with them, what changed.
#pragma once

#include "core/async/dated.h"
#include "core/inspect/snapshotstore.h"
#include "core/inspect/usualholds.h"
#include "core/inspect/zookeeper/observeranswers.h"
#include "core/inspect/zookeeper/serverview.h"
#include "core/zookeeper/evidence.h"

namespace lockscope::inspect {

// What an observer says besides the locks: who the clients are, and what it could not see. Pure.

// Servers tell expiry in ticks or whole seconds: it wavers by that much without meaning anything.
inline constexpr std::chrono::milliseconds expiryWavers{2500};

// `asked` is the servers' time of the evidence.
[[nodiscard]] std::vector<SessionSnapshot> sessionsOf(const ConnectionName &connection, const zk::Evidence &evidence,
                                                      const SnapshotStore &snapshots, zk::SessionId ourselves,
                                                      ServerTime asked);

// Apart from when living sessions would expire, which every ping puts off.
[[nodiscard]] bool isEquivalent(const std::vector<SessionSnapshot> &before, const std::vector<SessionSnapshot> &now);

// How the search went, apart from what the servers answered.
struct SearchFacts {
    QString refusal;            // of every request over the session, in the server's words; empty: it answers them
    bool crawled = false;       // instead of `dump`
    bool sweepComplete = false; // nodes without a session were looked for everywhere
    qint64 crawlSeen = 0;
    bool crawlCut = false;
    qint64 failedDirectories = 0; // not listed, and not for want of permission
    QString firstFailure;
    qint64 unopened = 0;           // leaves of large folders, by the looks of it
    qint64 refusedDirectories = 0; // we may not list them
    ZPath firstRefused;
    qint64 hiddenNodes = 0; // we may know no more of them than their names
    ZPath firstHidden;
    int polledDirectories = 0; // no watch: the budget is used up
    qint64 unreadNodes = 0;    // in directories with too many children
    int ownChildWatches = 0;
    int lateDirectories = 0; // not read again since they changed, or since the connection broke
    ZPath firstLate;         // the one that was read first of these
    WallTime lateSince{};    // and when it was known last, by our clock
};
[[nodiscard]] std::vector<Coverage> coverageOf(const ConnectionName &connection, const zk::Evidence &evidence,
                                               const SearchFacts &search);

class DirectoryJudge {
public:
    DirectoryJudge(const ObservedEnsemble &ensemble, const ServerAnswers &answers)
        : m_ensemble(ensemble), m_answers(answers)
    {
    }

    // `isFirstLook`: since when they hold who hold now is not known.
    [[nodiscard]] std::vector<SnapshotChange> judge(const DirectoryView &view, bool isFirstLook);
    // The same nodes may look different when the servers have said more. Less often for a queue that takes long.
    // Nothing changes where a rule needs a list as new as what they said: see wantsNewerList(). `known`: the view was
    // still true then.
    [[nodiscard]] std::vector<SnapshotChange> judgeAgain(const DirectoryView &view, Instant known);
    [[nodiscard]] std::vector<SnapshotChange> forget(const ZPath &directory);

    // As it is now, those of low confidence, too; nothing is remembered.
    [[nodiscard]] std::vector<LockSnapshot> snapshotsOf(const DirectoryView &view) const;
    // What is to be said of its ages.
    void addAges(LockSnapshot &lock) const;
    // The last judgement had to leave something open until the directory is listed again.
    [[nodiscard]] bool wantsNewerList(const ZPath &directory) const;
    [[nodiscard]] bool hadLock(const ZPath &directory) const;
    // A lock is there whose nodes stay and are written anew: no watch on the folder tells of that.
    [[nodiscard]] bool hasDates(const ZPath &directory) const;
    // A node came before our eyes: how far ahead the servers' clock is needs not be guessed from dates any more.
    [[nodiscard]] bool hasComparedClocks() const { return m_clock.isCompared(); }
    [[nodiscard]] const SnapshotStore &snapshots() const { return m_snapshots; }

private:
    struct Judged {
        HeadSince headSince;             // holders that we saw get there
        std::optional<Instant> listedAt; // when all of its nodes were seen
        qint64 newest = 0;               // the czxid of the newest then
        bool hadLock = false;
        bool hasDates = false;
        bool wantsNewerList = false;
        Duration took{}; // of the processor
        Instant at{};    // when that was done
    };
    // Judged, nothing told yet.
    [[nodiscard]] std::vector<LockSnapshot> look(Judged &judged, const DirectoryView &view, Instant known,
                                                 bool isFirstLook);
    void compareClocks(Judged &judged, const DirectoryView &view, const std::vector<LockSnapshot> &now,
                       bool isFirstLook);
    // By the servers' clock as it was when we began to look.
    void dateNodes(const HeadSince *headSince, std::vector<LockSnapshot> &now) const;
    void noteHeads(HeadSince &headSince, std::vector<LockSnapshot> &now, bool isFirstLook) const;
    [[nodiscard]] std::vector<SnapshotChange> replace(const ZPath &directory, std::vector<LockSnapshot> now);

    const ObservedEnsemble &m_ensemble;
    const ServerAnswers &m_answers;
    std::map<ZPath, Judged> m_judged;
    SnapshotStore m_snapshots{expiryWavers};
    LostWakeupMemory m_wakeups;
    ClockSteps m_clock;
    UsualHolds m_usual;
};

} // namespace lockscope::inspect
