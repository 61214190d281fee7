// SPDX-License-Identifier: Apache-2.0
// Who waits for whom, with what the page asks beside: which locks are elections, which session a client is.
#pragma once

#include "core/workspace/values.h"

namespace lockscope::ui {

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

} // namespace lockscope::ui
