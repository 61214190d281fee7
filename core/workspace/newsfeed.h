// SPDX-License-Identifier: Apache-2.0
// What the window is told of its connections: everything that the observers report goes through here, to the recorder
// and, in batches of a frame, to the window. Loop thread only.
#pragma once

#include "core/history/flightrecorder.h"
#include "core/workspace/deadlocks.h"
#include "core/workspace/values.h"

#include <QDateTime>

#include <deque>
#include <limits>
#include <map>
#include <set>

namespace lockscope {

// What the window is told of connections and their locks.

struct ConnectionStatus {
    enum class State { Connecting, Connected, Broken, AuthFailed };
    ConnectionName name;
    Scheme scheme = Scheme::ZooKeeper;
    QString uri; // without credentials
    State state = State::Connecting;
    QString message;                                  // why it is not connected, one line
    std::chrono::system_clock::time_point asOf;       // the last moment its snapshots were true
    std::optional<std::chrono::microseconds> latency; // of a recent request
    bool production = false;
    bool readOnly = false;
    bool readOnlyForGood = false;
    bool isRecorded = true; // false: nothing is recorded of it at the past time that is shown
    qint64 writesSent = 0;
    inspect::Progress progress;
    inspect::Cost cost;
    friend bool operator==(const ConnectionStatus &, const ConnectionStatus &) = default;
};

// One frame's worth of news.
struct Batch {
    std::vector<inspect::SnapshotChange> locks{}; // each lock once
    std::vector<ConnectionStatus> connections{};  // those that changed
    std::vector<inspect::SessionsSeen> sessions{};
    std::vector<inspect::CoverageSeen> coverage{};
    std::vector<operate::LogEntry> log{}; // new or finished entries
    bool isJump = false;                  // to another moment: what comes with it did not begin just now
};

// News that waits to be shown: of each lock, connection and log entry the newest. The I/O side collects a frame's
// worth in one; the window keeps in another what comes while it shows something else. Any one thread.
class News {
public:
    // `now`: since when it waits, for oldestOf().
    void add(inspect::SnapshotChange change, WallTime now = {});
    void add(const inspect::SessionsSeen &seen) { m_sessions.insert_or_assign(seen.connection, seen); }
    void add(const inspect::CoverageSeen &seen) { m_coverage.insert_or_assign(seen.connection, seen); }
    void add(const ConnectionStatus &status) { m_statuses.insert_or_assign(status.name, status); }
    void add(operate::LogEntry entry);
    void add(const Batch &batch);

    // Locks in the order in which they came to wait, at most so many, so that no frame waits for all of a flood; and
    // all of the rest.
    [[nodiscard]] Batch take(std::size_t mostLocks = std::numeric_limits<std::size_t>::max());
    // Drops what waits of a connection that was closed.
    void forget(const ConnectionName &name);

    [[nodiscard]] bool isEmpty() const;
    [[nodiscard]] std::size_t lockCount() const { return m_locks.size(); }
    [[nodiscard]] const std::map<ConnectionName, ConnectionStatus> &statuses() const { return m_statuses; }
    // Since when something of that connection is not told: what its locks look like in the window is of then.
    [[nodiscard]] std::optional<WallTime> oldestOf(const ConnectionName &name) const;
    // A lock that comes to wait from now on has this number or a higher one.
    [[nodiscard]] quint64 next() const { return m_next; }
    // Whether all that had a lower one is taken.
    [[nodiscard]] bool isTakenBefore(quint64 number) const;

private:
    struct Waiting {
        inspect::LockName lock;
        WallTime since;
        quint64 number = 0;
    };
    std::map<inspect::LockName, inspect::SnapshotChange> m_locks;
    std::deque<Waiting> m_order;
    quint64 m_next = 0;
    std::map<ConnectionName, inspect::SessionsSeen> m_sessions;
    std::map<ConnectionName, inspect::CoverageSeen> m_coverage;
    std::map<ConnectionName, ConnectionStatus> m_statuses;
    std::map<std::pair<quint64, ConnectionName>, operate::LogEntry> m_log; // the oldest first
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
