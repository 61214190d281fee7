// SPDX-License-Identifier: Apache-2.0
// The half of LiveBackend that lives on the I/O thread: the workspace, the collecting of news into
// batches, the holds, and the window's queries and commands.
#pragma once

#include "core/async/qtloop.h"
#include "core/async/scope.h"
#include "core/inspect/snapshot.h"
#include "core/workspace/deadlocks.h"
#include "core/workspace/hold.h"
#include "core/workspace/livebackend.h"
#include "core/workspace/realrun.h"
#include "core/workspace/recordfeed.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>

namespace lockscope {

// Changes of locks on their way to the window: of each lock the newest, in the order in which they came to wait, so
// many at a time, so that no frame waits for all of a flood. Any one thread.
class PendingLocks {
public:
    using WallTime = std::chrono::system_clock::time_point;

    void add(inspect::SnapshotChange change, WallTime now);
    // At most so many, the longest waiting first.
    [[nodiscard]] std::vector<inspect::SnapshotChange> take(std::size_t most);
    [[nodiscard]] bool isEmpty() const { return m_order.empty(); }
    // Since when something of that connection is not told: what its locks look like in the window is of then.
    [[nodiscard]] std::optional<WallTime> oldestOf(const ConnectionName &connection) const;
    // What comes to wait from now on has this number or a higher one.
    [[nodiscard]] quint64 next() const { return m_next; }
    // Whether all that had a lower one is taken.
    [[nodiscard]] bool isTakenBefore(quint64 number) const;

private:
    struct Waiting {
        inspect::LockName lock;
        WallTime since;
        quint64 number = 0;
    };
    std::map<inspect::LockName, inspect::SnapshotChange> m_newest;
    std::deque<Waiting> m_order;
    quint64 m_next = 0;
};

class IoController : public inspect::ObserverSink {
public:
    IoController(LiveBackend &front, const WorkspaceOptions &options);
    ~IoController() override;

    [[nodiscard]] Loop &loop() { return m_loop; }
    [[nodiscard]] Workspace &workspace() { return *m_workspace; }
    // From here on, all that the window is told, to files.
    void record(history::FlightOptions options, std::shared_ptr<history::RecordedFiles> files);
    void answer(const PostedQuery &query);
    void execute(const Command &command);
    [[nodiscard]] const std::vector<inspect::ClientLabel> &clientLabels() const { return m_deadlocks->labels(); }

    // Gives back what is held and gives up what is waited for; then, or when the time is over, what is not known to
    // be free, in words.
    void giveBackAll(Duration atMost, std::function<void(QStringList)> done);
    [[nodiscard]] Runs &runs() { return *m_runs; }

    // The window was given the children of this folder, which was so then.
    void listed(const ConnectionName &name, const ZPath &path, const zk::Stat &folder);
    // The GUI thread took the last batch.
    void batchTaken();

    // ObserverSink
    void locksChanged(std::vector<inspect::SnapshotChange> changes) override;
    void sessionsChanged(const ConnectionName &connection, std::vector<inspect::SessionSnapshot> sessions) override;
    void coverageChanged(const ConnectionName &connection, std::vector<inspect::Coverage> coverage) override;
    void progressed(inspect::Progress progress) override;
    void costChanged(const ConnectionName &connection, inspect::Cost cost) override;

private:
    struct PendingHold {
        Hold hold;
        std::unique_ptr<HeldLock> lock;
        std::unique_ptr<Scope> scope; // of the coroutine inside `lock`; dies first
        bool isReleasing = false;     // the release is under way
        bool isLeft = false;          // it was not given back, as far as we know
    };

    // Runs a task that ends with that connection.
    void launch(const ConnectionName &name, Task<void> task);
    void add(ConnectionSpec spec);
    void remove(const ConnectionName &name);
    void retry(const ConnectionName &name);
    void setReadOnly(const ConnectionName &name, bool readOnly);
    void acquire(quint64 id, AcquireRequest request);
    void release(quint64 id);
    void watchZnodes(const ConnectionName &name, std::vector<ZPath> paths);
    void queueLocks(std::vector<inspect::SnapshotChange> changes);
    void abandonHolds(const ConnectionName &name);
    void recordGone(const ConnectionName &name);
    void closeLink(const ConnectionName &name);
    [[nodiscard]] bool isLeaving(const ConnectionName &name) const { return m_leaving.contains(name); }
    void logged(const operate::LogEntry &entry);
    [[nodiscard]] ConnectionStatus statusOf(Link &link) const;
    [[nodiscard]] ConnectionStatus toldStatusOf(Link &link);
    void statusChanged(const ConnectionName &name);
    void refreshStatuses();
    void scheduleFlush();
    void flush();
    void tellHold(const Hold &hold);
    void tellRun(quint64 id, const RealRunProgress &progress);
    Task<void> runHold(quint64 id);
    Task<void> endHold(quint64 id);
    Task<void> giveBack(Duration atMost, std::function<void(QStringList)> done);
    [[nodiscard]] bool isAsListed(const ConnectionName &name, const ZPath &path, const zk::Stat &folder) const;
    Task<void> followZnode(ConnectionName name, ZPath path);

    LiveBackend &m_front;
    QtLoop m_loop;
    std::unique_ptr<Workspace> m_workspace;
    std::unique_ptr<DeadlockWatch> m_deadlocks;
    std::unique_ptr<history::FlightRecorder> m_recorder; // null: nothing is recorded
    std::unique_ptr<RecordFeed> m_feed;
    Batch m_pending;
    PendingLocks m_pendingLocks;
    std::map<ConnectionName, quint64> m_completeBefore; // whose first look is over with the locks before that one
    std::map<quint64, operate::LogEntry> m_pendingLog;
    std::set<ConnectionName> m_pendingStatus;
    bool m_flushScheduled = false;
    bool m_batchOnItsWay = false;
    Timer m_flushTimer;
    Timer m_statusTimer;
    std::map<quint64, PendingHold> m_holds;
    std::unique_ptr<Runs> m_runs;
    // Closed for the window, while a run still takes away there what it made; and who is to take its name then.
    std::map<ConnectionName, std::optional<ConnectionSpec>> m_leaving;
    std::map<ConnectionName, std::map<ZPath, std::unique_ptr<Scope>>> m_followed;
    struct Listed {
        ConnectionName name;
        ZPath path;
        qint64 pzxid = 0; // the last change of its children
    };
    std::deque<Listed> m_listed; // newest first; a few, for a list is followed at once or not
    std::map<ConnectionName, std::unique_ptr<Scope>> m_tasks; // these coroutines use everything above
    Scope m_farewell{m_loop};                                 // last, for the same reason
};

} // namespace lockscope
