// SPDX-License-Identifier: Apache-2.0
// From what was read of a directory to the locks in it: what they are, what is wrong with them, what changed.
#pragma once

#include "core/inspect/snapshotstore.h"
#include "core/inspect/usualholds.h"
#include "core/inspect/zookeeper/clocksteps.h"
#include "core/inspect/zookeeper/observeranswers.h"
#include "core/inspect/zookeeper/observerreport.h"
#include "core/inspect/zookeeper/sessionfindings.h"

namespace lockscope::inspect {

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
