// SPDX-License-Identifier: Apache-2.0
// What an observer says besides the locks: who the clients are, and what it could not see. Pure.
#pragma once

#include "core/async/dated.h"
#include "core/inspect/snapshotstore.h"
#include "core/zookeeper/evidence.h"

namespace lockscope::inspect {

// Servers tell expiry in ticks or whole seconds: it wavers by that much without meaning anything.
inline constexpr std::chrono::milliseconds expiryWavers{2500};

// `asked` is the servers' time of the evidence.
[[nodiscard]] std::vector<SessionSnapshot> sessionsOf(const ConnectionName &connection, const zk::Evidence &evidence,
                                                      const SnapshotStore &snapshots, zk::SessionId ourselves,
                                                      ServerTime asked);

// Apart from when living sessions would expire, which every ping puts off.
[[nodiscard]] bool isEquivalent(const std::vector<SessionSnapshot> &before, const std::vector<SessionSnapshot> &now);

// How the search went, apart from what the servers answered.
struct SearchFacts {
    QString refusal;            // of every request over the session, in the server's words; empty: it answers them
    bool crawled = false;       // instead of `dump`
    bool sweepComplete = false; // nodes without a session were looked for everywhere
    qint64 crawlSeen = 0;
    bool crawlCut = false;
    qint64 failedDirectories = 0; // not listed, and not for want of permission
    QString firstFailure;
    qint64 unopened = 0;           // leaves of large folders, by the looks of it
    qint64 refusedDirectories = 0; // we may not list them
    ZPath firstRefused;
    qint64 hiddenNodes = 0; // we may know no more of them than their names
    ZPath firstHidden;
    int polledDirectories = 0; // no watch: the budget is used up
    qint64 unreadNodes = 0;    // in directories with too many children
    int ownChildWatches = 0;
    int lateDirectories = 0; // not read again since they changed, or since the connection broke
    ZPath firstLate;         // the one that was read first of these
    WallTime lateSince{};    // and when it was known last, by our clock
};
[[nodiscard]] std::vector<Coverage> coverageOf(const ConnectionName &connection, const zk::Evidence &evidence,
                                               const SearchFacts &search);

} // namespace lockscope::inspect
