// SPDX-License-Identifier: Apache-2.0
// What several force-releases are about, and what came of them, as values.
#pragma once

#include "core/operate/forcereleaseplan.h"

#include <functional>

namespace lockscope::operate {

struct BulkTarget {
    inspect::LockName lock;
    QString server;       // the connection's URI when it was seen to hold; empty: not known
    QByteArray contender; // its full id
    ReleaseAction way = ReleaseAction::Release;
    QString who;                                  // for people: the host, else what it says of itself
    std::optional<inspect::ServerTime> since;     // it holds or waits
    QByteArray hold = {};                         // inspect::Contender::hold
    inspect::ServerTime shown{};                  // when it was seen to, as the server has the time
    std::chrono::milliseconds serverAhead{};      // the server's clock minus ours
    std::vector<inspect::LockName> goWithIt = {}; // locks of the same connection, which the same KILL ends
    bool isStale = false;                         // meant only as long as it is left behind
    friend bool operator==(const BulkTarget &, const BulkTarget &) = default;
};

struct BulkReport {
    std::vector<BulkTarget> done;
    std::optional<BulkTarget> stoppedAt; // what was not as expected there
    QString why;
    std::vector<BulkTarget> left; // not touched
};

// Of these locks every holder that `picks`, where there is a safe way to take its hold; of an SQL connection once,
// since to end it ends all it holds. Not of what is a lock by guess only, nor of elections: those are looked at one
// by one. Any thread.
[[nodiscard]] std::vector<BulkTarget> targetsOf(
    const std::vector<const inspect::LockSnapshot *> &locks,
    const std::function<bool(const inspect::LockSnapshot &, const inspect::Contender &)> &picks);
// What a session holds.
[[nodiscard]] std::vector<BulkTarget> targetsOfSession(const std::vector<const inspect::LockSnapshot *> &locks,
                                                       const ConnectionName &connection, const QString &session);
// Whether its client is gone and nothing else removes it, by the findings persistent-node and stale-queue. An
// ephemeral node never is: its session ends by itself, or its client comes back within it.
[[nodiscard]] bool isLeftBehind(const inspect::LockSnapshot &lock, const inspect::Contender &one);
// What is left behind: waiters are taken out of their queue, then holders are released.
[[nodiscard]] std::vector<BulkTarget> staleEntriesOf(const std::vector<const inspect::LockSnapshot *> &locks);

} // namespace lockscope::operate
