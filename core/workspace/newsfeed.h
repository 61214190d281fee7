// SPDX-License-Identifier: Apache-2.0
// What the window is told of its connections: everything that the observers report goes through here, to the recorder
// and, in batches of a frame, to the window. Loop thread only.
#pragma once

#include "core/history/flightrecorder.h"
#include "core/history/recording.h"
#include "core/inspect/waits/waitgraph.h"
#include "core/workspace/backend.h"
#include "core/workspace/workspace.h"

namespace lockscope {

// Deadlocks across the connections of a workspace. None is said that was not seen twice in a row.

// Between two looks at one cycle: longer than a hand-off takes to be seen on both sides.
constexpr auto untilSeenAgain = std::chrono::milliseconds(300);
// Takes out the cycles that were not there before.
void keepCyclesOf(inspect::WaitGraph &graph, const inspect::WaitGraph &before);

// Who waited for whom at a moment of a recording. The look before is what it shows a moment earlier.
[[nodiscard]] inspect::WaitGraph waitsThen(const history::FlightRecording &recording,
                                           const inspect::StateSnapshot &picture, history::Moment then,
                                           const std::vector<inspect::ClientLabel> &labels);

// Everything the observers know now.
[[nodiscard]] std::vector<inspect::LockSnapshot> everySnapshot(Workspace &workspace);

// One look at who waits for whom. Where there is a cycle its locks are read again after a moment, and it stays in the
// answer only if the same contenders are in it then. `unread` gets the servers that could not be read again: a cycle
// over them is missing from the answer, and may still be there.
[[nodiscard]] Task<inspect::WaitGraph> lookForDeadlocks(Workspace &workspace,
                                                        std::vector<inspect::ClientLabel> labels, Deadline deadline,
                                                        std::set<ConnectionName> *unread);

// The same for who keeps looking: told of every change, it adds the finding to the locks of a deadlock, and to every
// contender what the user calls it.
class DeadlockWatch {
public:
    using Tell = std::function<void(inspect::SnapshotChange)>;
    // `tell`: of locks that nothing happened to but that they are in a deadlock now, or not any more, or that their
    // clients are called something else.
    DeadlockWatch(Workspace &workspace, std::vector<inspect::ClientLabel> labels, Tell tell);

    // Remembers the lock, and adds what its clients are called, and the finding where it is known already.
    void passing(inspect::SnapshotChange &change);
    // From the next look on, which is soon.
    void setLabels(std::vector<inspect::ClientLabel> labels);
    [[nodiscard]] const std::vector<inspect::ClientLabel> &labels() const { return m_labels; }

private:
    // A look is made on a thread of its own: of 50,000 locks it takes a while. What it found comes back to the loop.
    struct Found {
        inspect::WaitGraph graph;
        Duration took{};
        bool isWhole = false; // of all locks, not only of those that are waited for
    };
    void look();
    void lookAt(std::vector<inspect::LockSnapshot> locks, bool isWhole);
    void seen(Found found);
    void lookAfter(Duration pause);
    void addFindings(inspect::LockSnapshot &lock) const;
    void say(inspect::WaitGraph graph);

    Workspace &m_workspace;
    std::vector<inspect::ClientLabel> m_labels;
    Tell m_tell;
    std::map<inspect::LockName, inspect::LockSnapshot> m_contended; // all that a cycle can be made of
    std::map<QByteArray, Instant> m_suspected;                      // cycles, since when they are seen
    inspect::WaitGraph m_graph;                                     // its cycles are those that were said
    std::set<QByteArray> m_said;
    Timer m_timer;
    bool m_isScheduled = false; // or under way
    bool m_hasNews = false;     // since the look under way began
    Duration m_pause;
    std::shared_ptr<bool> m_isAlive = std::make_shared<bool>(true);
    Workers m_worker{1}; // last: waits for the look under way
};

// What a recorder hears of beside what observers tell: how the connections of a workspace are, and what was done by
// force on this machine meanwhile (the audit file). Loop thread only.

// As a recording has it: an act by the clock that dates all in it.
[[nodiscard]] inspect::LinkState stateOf(Link &link);
[[nodiscard]] inspect::Act actOf(const operate::AuditRecord &record);

// The records of an audit file that were written since. By their order: their times are the wall clock's, which may
// be set back.
class AuditFollower {
public:
    explicit AuditFollower(const operate::AuditFile &file);
    [[nodiscard]] std::vector<inspect::Act> news();

private:
    const operate::AuditFile &m_file;
    std::optional<QByteArray> m_last; // the hash of the last record that is no news; none while that is not known
    std::pair<qint64, QDateTime> m_looked; // size and time of the file then
};

class RecordFeed {
public:
    // Both outlive it.
    RecordFeed(Workspace &workspace, inspect::ObserverSink &recorder);
    // What is news by now; it does so by itself a few times a second.
    void tell();

private:
    void notifyLater();

    Workspace &m_workspace;
    inspect::ObserverSink &m_recorder;
    AuditFollower m_audit;
    Timer m_timer;
};

class NewsFeed : public inspect::ObserverSink {
public:
    // `deliver` hands a batch to the window. None is made after it until delivered() says that it was taken.
    NewsFeed(Loop &loop, std::function<void(Batch)> deliver);

    // The workspace whose sink this is; until stop().
    void start(Workspace &workspace, std::vector<inspect::ClientLabel> labels);
    void stop();
    // From here on, all that the window is told, to files.
    void record(history::FlightOptions options, std::shared_ptr<history::RecordedFiles> files,
                history::FlightRecorder::Listeners listeners);

    void take(inspect::Change::What change) override;
    // The status of a connection that the workspace does not have.
    void add(const ConnectionStatus &status);
    void statusChanged(const ConnectionName &name);
    void logged(const operate::LogEntry &entry);
    void delivered();

    // Of a connection that is being closed nothing is told but that its locks are gone.
    void closing(const ConnectionName &name);
    void closed(const ConnectionName &name);

    [[nodiscard]] DeadlockWatch &deadlocks() { return *m_deadlocks; }

private:
    void tell(inspect::SnapshotChange change);
    void notifySeen(const auto &seen);
    void recordOne(const auto &change);
    [[nodiscard]] ConnectionStatus reportedStatusOf(Link &link);
    void refreshStatuses();
    void scheduleFlush();
    void flush();

    Loop &m_loop;
    std::function<void(Batch)> m_deliver;
    Workspace *m_workspace = nullptr;
    std::unique_ptr<DeadlockWatch> m_deadlocks;
    std::unique_ptr<history::FlightRecorder> m_recorder; // null: nothing is recorded
    std::unique_ptr<RecordFeed> m_recordFeed;
    News m_news;
    std::set<ConnectionName> m_closing;
    std::set<ConnectionName> m_changedStatuses;
    std::map<ConnectionName, quint64> m_completeBefore; // whose first look is over with the locks before that one
    bool m_isFlushScheduled = false;
    bool m_isBatchOnItsWay = false;
    Timer m_flushTimer;
    Timer m_statusTimer;
};

} // namespace lockscope
