// SPDX-License-Identifier: Apache-2.0
// The graph in words: one sentence for all of it, and names.
#pragma once

#include "ui/graph/graphfacts.h"
#include "ui/theme/pill.h"

namespace lockscope::ui {

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
