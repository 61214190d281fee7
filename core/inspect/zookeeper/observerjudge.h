// SPDX-License-Identifier: Apache-2.0
// From what was read of a directory to the locks in it: what they are, what is wrong with them, what changed.
#pragma once

#include "core/inspect/observer.h"
#include "core/inspect/zookeeper/recognise.h"

namespace lockscope::inspect {

// Whom an observer's parts ask, and whom they tell.
struct ObservedEnsemble {
    zk::Session &session;
    zk::EvidenceSource &source;
    Loop &loop;
    ConnectionName connection;
    QByteArray chroot;
    ObserverOptions options;
    ObserverSink &sink;
};

// Tells the source who the members are, as the ensemble itself keeps it.
[[nodiscard]] Task<void> learnMembers(const ObservedEnsemble &ensemble);

// What the servers of one connection answered last, and what their clock says.
class ServerAnswers {
public:
    explicit ServerAnswers(const ObservedEnsemble &ensemble) : m_ensemble(ensemble) {}

    // What was asked replaces what was known; what was not asked stays, and grows older.
    void absorb(zk::Evidence answer);
    // How many watches there are, asked for by itself: of the rest it says nothing, nor makes it newer.
    void absorbTotals(const zk::Evidence &answer) { m_evidence.childWatchTotal = answer.childWatchTotal; }
    // Where no server tells its clock: it is at least as late as the youngest node.
    void learnFromNodes(const DirectoryView &view);
    // Our own session is connected since now.
    void noteConnected() { m_connectedAt = datedNow(m_ensemble.loop); }

    [[nodiscard]] bool isKnown() const { return m_isKnown; }
    [[nodiscard]] const zk::Evidence &latest() const { return m_evidence; }
    [[nodiscard]] bool canDump() const { return m_evidence.hasAny("dump"); }
    [[nodiscard]] ServerTime askedAt() const;
    [[nodiscard]] std::chrono::milliseconds serverAhead() const { return m_serverAhead; }
    // All but the heads of a directory.
    [[nodiscard]] RecogniseContext context() const;
    // The same for what was known to be true at that time, and may have changed since.
    [[nodiscard]] RecogniseContext contextAsOf(Instant known) const;

private:
    [[nodiscard]] ServerTime serverNow() const;
    void learnServerClock();

    const ObservedEnsemble &m_ensemble;
    zk::Evidence m_evidence;
    bool m_isKnown = false;
    bool m_knowsServerClock = false;
    std::chrono::milliseconds m_serverAhead{};
    std::optional<std::chrono::milliseconds> m_told;                    // as the servers said last
    std::optional<std::chrono::system_clock::time_point> m_connectedAt; // seen ourselves
};

// An ensemble's clock that is set while we look on. It dates nodes, and tells nobody; but a node that was made under
// our eyes was made between two looks, and one whose date says otherwise was dated by a clock that was set, or by
// another leader's. Nodes are numbered in the order they were made: all that come after it are dated so, none before.

// From so much on it is another clock: less is what a leader's may differ from that of the member we asked, and what
// a look takes.
constexpr std::chrono::seconds anotherClock(5);

class ClockSteps {
public:
    // A node that came between the two looks, by the clock as it was when we began. True: that clock was set.
    bool saw(qint64 czxid, ServerTime dated, ServerTime before, ServerTime now);
    // When it was made, by that clock.
    [[nodiscard]] ServerTime made(qint64 czxid, ServerTime dated) const { return dated - setBy(czxid); }
    [[nodiscard]] bool wasSet() const { return !m_steps.empty(); }
    // What the clock was set by in all.
    [[nodiscard]] std::chrono::milliseconds setBy() const { return m_steps.empty() ? 0ms : m_steps.back().by; }
    // A node came before our eyes: from then on what is dated ahead of the clock is no word on how far ahead it is.
    [[nodiscard]] bool isCompared() const { return m_isCompared; }

private:
    struct Step {
        qint64 czxid; // from this node on
        std::chrono::milliseconds by;
    };
    [[nodiscard]] std::chrono::milliseconds setBy(qint64 czxid) const;

    std::vector<Step> m_steps; // in their order
    bool m_isCompared = false;
};

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
    std::vector<Unexplained> unexplained;
};
[[nodiscard]] std::vector<Coverage> coverageOf(const ConnectionName &connection, const zk::Evidence &evidence,
                                               const SearchFacts &search);

// The directory as last read; null while it has to be read, or read again.
using ViewOf = std::function<const DirectoryView *(const ZPath &directory)>;
// Of the ephemerals that a server listed those that belong neither to a lock nor to a system that is known, in
// groups. Those of directories that are yet to be read are left out.
[[nodiscard]] std::vector<Unexplained> unexplainedEphemerals(const NamesByParent &listed,
                                                             const SnapshotStore &snapshots, const ViewOf &viewOf,
                                                             const RecogniseContext &context);

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
    [[nodiscard]] std::vector<SnapshotChange> forget(const ZPath &directory)
    {
        m_judged.erase(directory);
        return replace(directory, m_snapshots.withoutLow(directory.bytes(), {}));
    }

    // As it is now, those of low confidence, too; nothing is remembered.
    [[nodiscard]] std::vector<LockSnapshot> snapshotsOf(const DirectoryView &view) const;
    // What is to be said of its ages.
    void addAges(LockSnapshot &lock) const { addAgeFindings(lock, *m_ensemble.options.thresholds, m_usual); }
    // The last judgement had to leave something open until the directory is listed again.
    [[nodiscard]] bool wantsNewerList(const ZPath &directory) const { return judged(directory).wantsNewerList; }
    [[nodiscard]] bool hadLock(const ZPath &directory) const { return judged(directory).hadLock; }
    // A lock is there whose nodes stay and are written anew: no watch on the folder tells of that.
    [[nodiscard]] bool hasDates(const ZPath &directory) const { return judged(directory).hasDates; }
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
    [[nodiscard]] const Judged &judged(const ZPath &directory) const
    {
        static const Judged none;
        const auto at = m_judged.find(directory);
        return at == m_judged.end() ? none : at->second;
    }
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
