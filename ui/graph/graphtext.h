// SPDX-License-Identifier: Apache-2.0
// The graph in words: one sentence for all of it, and names.
#pragma once

#include "core/workspace/values.h"
#include "ui/theme/pill.h"

namespace lockscope::ui {

// Who waits for whom, with what the page asks beside: which locks are elections, which session a client is.
struct GraphFacts {
    struct Session {
        ConnectionName connection;
        QByteArray id; // as SessionSnapshot has it
        friend bool operator==(const Session &, const Session &) = default;
    };

    inspect::WaitGraph graph;                   // of its cycles those that the findings of their locks say, too
    std::vector<char> isElection;               // by lock: who stands by is not held up
    std::vector<std::vector<Session>> sessions; // by client
    bool isCycleOpen = false;                   // one was seen that no finding says (yet)
    int unseenWaiters = 0;                      // locks of which no server says who waits
};

[[nodiscard]] GraphFacts graphFactsOf(const std::vector<inspect::LockSnapshot> &locks,
                                      const std::vector<inspect::ClientLabel> &labels,
                                      std::chrono::system_clock::time_point now);

struct GraphHeading {
    Pill pill;
    QString sentence;            // "2 clients block each other: …"
    QString more;                // what else is to be known of it, and what is not shown first
    std::optional<int> client{}; // of the graph: the victim, or the root blocker that it speaks of
    friend bool operator==(const GraphHeading &, const GraphHeading &) = default;
};
[[nodiscard]] GraphHeading headingOf(const GraphFacts &facts);

// Who somebody waits for, elections aside, where nobody is held up.
[[nodiscard]] std::vector<const inspect::RootBlocker *> blockersOf(const GraphFacts &facts);
// "app-9 (10.0.3.7:56332)".
[[nodiscard]] QString nameOf(const inspect::Client &client);
// A lock's name; with its connection where there are several.
[[nodiscard]] QString nameOf(const GraphFacts &facts, int lock);

} // namespace lockscope::ui
