// SPDX-License-Identifier: Apache-2.0
// An ensemble's clock that is set while we look on. It dates nodes, and tells nobody; but a node that was made under
// our eyes was made between two looks, and one whose date says otherwise was dated by a clock that was set, or by
// another leader's. Nodes are numbered in the order they were made: all that come after it are dated so, none before.
#pragma once

#include "core/inspect/snapshot.h"

#include <vector>

namespace lockscope::inspect {

// From so much on it is another clock: less is what a leader's may differ from that of the member we asked, and what
// a look takes.
constexpr std::chrono::seconds anotherClock(5);

class ClockSteps {
public:
    // A node that came between the two looks, by the clock as it was when we began. True: that clock was set.
    bool saw(qint64 czxid, ServerTime dated, ServerTime before, ServerTime now);
    // When it was made, by that clock.
    [[nodiscard]] ServerTime made(qint64 czxid, ServerTime dated) const { return dated - setBy(czxid); }
    [[nodiscard]] bool wasSet() const { return !m_steps.empty(); }
    // What the clock was set by in all.
    [[nodiscard]] std::chrono::milliseconds setBy() const;
    // A node came before our eyes: from then on what is dated ahead of the clock is no word on how far ahead it is.
    [[nodiscard]] bool isCompared() const { return m_isCompared; }

private:
    struct Step {
        qint64 czxid; // from this node on
        std::chrono::milliseconds by;
    };
    [[nodiscard]] std::chrono::milliseconds setBy(qint64 czxid) const;

    std::vector<Step> m_steps; // in their order
    bool m_isCompared = false;
};

} // namespace lockscope::inspect
