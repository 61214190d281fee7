// SPDX-License-Identifier: Apache-2.0
// Everything that is known at a moment: the locks, sessions and connections. It is what its changes say, applied in
// their order.
#pragma once

#include "core/inspect/state/change.h"

#include <map>

namespace lockscope::inspect {

class StateSnapshot {
public:
    std::map<LockName, LockSnapshot> locks;
    std::map<ConnectionName, std::vector<SessionSnapshot>> sessions;
    std::map<ConnectionName, std::vector<Coverage>> coverage;
    std::map<ConnectionName, LinkState> connections;
    std::map<LockName, std::vector<QByteArray>> unknownFindings; // of locks that have such
    std::map<ConnectionName, Moment> confirmedAt;                // the newest Confirmation of each connection
    std::map<ConnectionName, Moment> brokeAt; // its last moment where no Confirmation is recorded, as in older files
    friend bool operator==(const StateSnapshot &, const StateSnapshot &) = default;

    void apply(const Change &change);
    // The last moment, not after `at`, at which what is known of a connection was current; none where that is
    // unknown.
    [[nodiscard]] std::optional<Moment> lastConfirmed(const ConnectionName &name, Moment at) const;
};

// What makes `to` of `from`, each connection before its locks. What `from` knows of breaks and confirmations and `to`
// does not stays.
[[nodiscard]] std::vector<Change> difference(const StateSnapshot &from, const StateSnapshot &to, Moment at);

// A lock as it was known then. Ages count to the last confirmation of the connection, and so does what a
// message says of them.
[[nodiscard]] LockSnapshot lockAsOf(const StateSnapshot &state, LockSnapshot lock, Moment at);
// All of them.
[[nodiscard]] std::vector<LockSnapshot> locksAsOf(const StateSnapshot &state, Moment at);
// What was not seen then, of connections that were not there, too; and what this version cannot show of it.
[[nodiscard]] std::vector<Coverage> coverageAsOf(const StateSnapshot &snapshot);

} // namespace lockscope::inspect
