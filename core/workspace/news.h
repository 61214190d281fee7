// SPDX-License-Identifier: Apache-2.0
// What the window is told of connections and their locks.
#pragma once

#include "core/base/clock.h"
#include "core/workspace/values.h"

#include <limits>

namespace lockscope {

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

} // namespace lockscope
