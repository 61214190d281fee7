// SPDX-License-Identifier: Apache-2.0
// Deadlocks across the connections of a workspace. None is said that was not seen twice in a row.
#pragma once

#include "core/history/recording.h"
#include "core/inspect/waits/waitgraph.h"
#include "core/workspace/workspace.h"

namespace lockscope {

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

} // namespace lockscope
