// SPDX-License-Identifier: Apache-2.0
// Who waits for whom, over all connections: clients and locks, what holds everybody up, and deadlocks. Pure:
// snapshots in, plain values out.
#pragma once

#include "core/inspect/waits/clients.h"

#include <QJsonObject>

#include <set>

namespace lockscope::inspect {

struct GraphEdge {
    enum class Kind { Holds, Waits };
    int client = 0;
    int lock = 0;
    Kind kind = Kind::Waits;
    QByteArray contender;
    Mode mode = Mode::Exclusive;
    std::optional<std::chrono::milliseconds> age; // how long it holds or waits
    bool atMost = false;                          // it holds for no longer than that
    bool isBound = false;        // holds: its client waits for something else, and lets go only after that
    std::vector<int> behind;     // waits: for these other clients, as the recipe has it
    bool isBehindItself = false; // waits: for what its own client holds, and for nobody else
    friend bool operator==(const GraphEdge &, const GraphEdge &) = default;
};

// Whom others wait for, and who can let go of what they wait for without waiting for anybody.
struct RootBlocker {
    int client = 0;
    int direct = 0;                      // so many clients wait for this one itself
    int total = 0;                       // and so many for it or for those who do
    std::chrono::milliseconds waiting{}; // all of them together, as far as that is known
    friend bool operator==(const RootBlocker &, const RootBlocker &) = default;
};

// A contender that has part in a deadlock.
struct GraphSeat {
    int client = 0;
    int lock = 0;
    QByteArray contender;
    bool holds = false;
    std::optional<QString> session{}; // Contender::session
    friend bool operator==(const GraphSeat &, const GraphSeat &) = default;
};

struct WaitCycle {
    std::vector<int> clients; // each waits for the next, the last for the first, unless there are several ways out
    std::vector<int> locks;
    std::vector<GraphSeat> seats;
    int victim = 0;
    QString victimBecause;
    QStringList assumptions;     // without which it would be none; each a sentence without a full stop
    std::optional<QString> ends; // what would break it without anybody's doing
    QString sentence;            // spelled out
    friend bool operator==(const WaitCycle &, const WaitCycle &) = default;
};

struct GraphLock {
    LockName name;
    LockState state = LockState::Free;
    bool waitersKnown = true;
    friend bool operator==(const GraphLock &, const GraphLock &) = default;
};

struct WaitGraph {
    std::vector<Client> clients;
    std::vector<GraphLock> locks; // those that are held or waited for
    std::vector<GraphEdge> edges;
    std::vector<RootBlocker> roots; // who holds up most first
    std::vector<WaitCycle> cycles;
    std::vector<HeldTogether> together; // on all of a thread's locks, whoever waits

    // clients that wait
    [[nodiscard]] int waiting() const
    {
        std::set<int> waiters;
        for (const auto &edge : edges) {
            if (edge.kind == GraphEdge::Kind::Waits)
                waiters.insert(edge.client);
        }
        return static_cast<int>(waiters.size());
    }
    // Locks.
    [[nodiscard]] int held() const
    {
        const auto isHeld = [](const GraphLock &lock) { return lock.state != LockState::Free; };
        return static_cast<int>(std::ranges::count_if(locks, isHeld));
    }
};

// Those clients, and whoever waits for one of them, by who is behind each.
[[nodiscard]] std::set<int> reachedFrom(const std::set<int> &first, const std::vector<std::set<int>> &behind);

// `now`: ours.
[[nodiscard]] WaitGraph waitGraphOf(const std::vector<LockSnapshot> &locks, const std::vector<ClientLabel> &labels,
                                    std::chrono::system_clock::time_point now);

// Connections with clients that wait there and are known there only, where there are several: a deadlock across them
// would not be found.
[[nodiscard]] std::vector<ConnectionName> unlinkedConnections(const WaitGraph &graph);
// The same in a sentence; empty where there are none. `howToLink` is how a user links clients.
[[nodiscard]] QString unlinkedSentence(const WaitGraph &graph, const QString &howToLink);

// The same cycle is found again by its contenders.
[[nodiscard]] QByteArray keyOf(const WaitGraph &graph, const WaitCycle &cycle);

// Where the victim stands in the cycle: what it holds, then what it waits for.
[[nodiscard]] std::vector<FindingPlace> victimOf(const WaitGraph &graph, const WaitCycle &cycle);

// deadlock, to each lock that has part in one; instead of those it had, which a window recorded without all there is
// to them.
void addDeadlocks(LockSnapshot &lock, const WaitGraph &graph, const std::vector<WaitCycle> &cycles);

[[nodiscard]] QString word(Join join); // "session", "client-name", "label"
[[nodiscard]] QJsonObject toJson(const WaitGraph &graph);
[[nodiscard]] QByteArray toDot(const WaitGraph &graph);

} // namespace lockscope::inspect
