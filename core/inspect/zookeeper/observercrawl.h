// SPDX-License-Identifier: Apache-2.0
// Walks the tree, breadth first, for what no server lists: where `dump` is refused every ephemeral, and
// anywhere the lock nodes that belong to no session. Bounded, and as gentle as told.
#pragma once

#include "core/async/task.h"
#include "core/inspect/zookeeper/observercandidates.h"

#include <functional>

namespace lockscope::inspect {

struct CrawlOptions {
    std::size_t inFlight = 16;
    qint64 most = 200'000; // znodes
    int restTimes = 0;     // after each stretch of work, rest that many times as long
    std::function<bool()> isPaused;
    // What was found so far (complete at the end) and how many znodes were looked at.
    std::function<void(qint64 seen, qint64 known)> progressed;
};

struct CrawlReport {
    NamesByParent suspects; // ephemerals, and numbered or lock-named nodes without a session
    qint64 seen = 0;
    bool isCut = false;       // stopped at `most`
    bool sessionOver = false; // it ended before the crawl did
    qint64 refused = 0;       // directories we may not list
    ZPath firstRefused;
};

// `found` is called now and then with the suspects so far. The session must outlive the task.
[[nodiscard]] Task<CrawlReport> crawl(zk::Session &session, CrawlOptions options,
                                      std::function<void(const NamesByParent &)> found);

} // namespace lockscope::inspect
