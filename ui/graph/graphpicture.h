// SPDX-License-Identifier: Apache-2.0
// What the graph page draws, before anything has a place: which clients and locks, what stands on them, and what is
// folded into one where there are too many. Pure.
#pragma once

#include "ui/graph/graphfacts.h"

#include <set>

namespace lockscope::ui {

struct GraphNode {
    enum class Kind { Client, Lock, Waiters, Locks }; // the last two: several, folded into one
    enum class Mark { None, Root, Cycle };

    Kind kind = Kind::Client;
    Mark mark = Mark::None;
    QByteArray key; // stays its own from one picture to the next
    QString title;  // its name
    QString note;   // "holds up 7", "in the deadlock", "waits 12 s"
    QString spoken; // all of it, for a tool tip and for who cannot see it
    std::optional<inspect::LockName> lock;
    std::vector<GraphFacts::Session> sessions;
    friend bool operator==(const GraphNode &, const GraphNode &) = default;

    [[nodiscard]] bool isFold() const { return kind == Kind::Waiters || kind == Kind::Locks; }
};

struct GraphArc {
    int client = 0; // a node: a client, or folded waiters
    int lock = 0;   // a node: a lock, or folded locks
    bool holds = false;
    bool isCycle = false;
    friend bool operator==(const GraphArc &, const GraphArc &) = default;
    friend auto operator<=>(const GraphArc &, const GraphArc &) = default;
};

struct GraphPicture {
    std::vector<GraphNode> nodes;
    std::vector<GraphArc> arcs;
    int hiddenLocks = 0; // nobody waits for them, and they were not asked for

    [[nodiscard]] int find(const QByteArray &key) const; // -1 if it is not there
};

struct GraphChoice {
    bool all = false;                                 // also what holds nobody up
    ConnectionName connection;                        // empty: all
    QString text;                                     // in a lock's name, or in a client's name or address
    QByteArray chosen;                                // the key of one that is shown in any case
    std::optional<GraphFacts::Session> chosenSession; // whose client is, too
    std::set<QByteArray> unfolded;                    // the keys of what shall not be folded
};

// Of a lock with many waiters the first stand there, and one node for all others. More nodes than these are folded,
// but for those in a deadlock and who holds others up; of locks that hold others up, where these alone are more,
// those with most waiters are drawn, and one node says how many more there are.
constexpr int mostGraphNodes = 200;

[[nodiscard]] QByteArray keyOfLock(const inspect::LockName &lock);
[[nodiscard]] QByteArray keyOfClient(const inspect::Client &client);
[[nodiscard]] GraphPicture graphPictureOf(const GraphFacts &facts, const GraphChoice &choice);

} // namespace lockscope::ui
