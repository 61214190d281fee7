// SPDX-License-Identifier: Apache-2.0
// What was seen at a moment, and what changed: the values a recording is made of. A picture is what its changes say,
// applied in their order.
#pragma once

#include "core/inspect/snapshot.h"

#include <map>
#include <variant>

namespace lockscope::history {

// By the clock of the machine that recorded. It never runs backwards in a recording.
using Moment = std::chrono::sys_time<std::chrono::milliseconds>;

// A connection as it was, without credentials.
struct LinkState {
    ConnectionName name;
    BackendKind backend = BackendKind::ZooKeeper;
    QString uri;
    QString server; // "MariaDB 10.11.6", where it is known
    bool production = false;
    bool isConnected = false;
    bool isLookedThrough = false; // everything that can be found at first sight had been found
    bool isGone = false;          // it was closed: nothing is known of it any more
    QString problem;              // why it was not connected
    friend bool operator==(const LinkState &, const LinkState &) = default;
};

// All sessions of a connection, and all that could not be seen of it.
struct SessionsSeen {
    ConnectionName connection;
    std::vector<inspect::SessionSnapshot> sessions;
    friend bool operator==(const SessionsSeen &, const SessionsSeen &) = default;
};
struct CoverageSeen {
    ConnectionName connection;
    std::vector<inspect::Coverage> coverage;
    friend bool operator==(const CoverageSeen &, const CoverageSeen &) = default;
};

// What was recorded of a connection before was still so at that moment: it was read again, or the server reports
// every change and answered.
struct Confirmation {
    ConnectionName connection;
    Moment until{};
    friend bool operator==(const Confirmation &, const Confirmation &) = default;
};

// Something that somebody did, from the audit file.
struct Act {
    Moment time{}; // as the audit file says
    QString actor, action;
    QByteArray lock; // CONNECTION:NAME
    QByteArray holder;
    QString reason, phase, outcome;
    QByteArray before, after; // LOCK as JSON, or empty
    bool hasReleased = false; // a result: it took the lock from its holder
    friend bool operator==(const Act &, const Act &) = default;
};

struct Change {
    Moment at{}; // when it was told here
    std::variant<inspect::SnapshotChange, SessionsSeen, CoverageSeen, LinkState, Act, Confirmation> what;
    // Codes of a newer version's findings of the lock: they are not among its own. Not written again.
    std::vector<QByteArray> unknownFindings{};
};

class Picture {
public:
    std::map<inspect::LockName, inspect::LockSnapshot> locks;
    std::map<ConnectionName, std::vector<inspect::SessionSnapshot>> sessions;
    std::map<ConnectionName, std::vector<inspect::Coverage>> coverage;
    std::map<ConnectionName, LinkState> connections;
    std::map<inspect::LockName, std::vector<QByteArray>> unknownFindings; // of locks that have such
    std::map<ConnectionName, Moment> confirmedAt; // the newest Confirmation of each connection
    std::map<ConnectionName, Moment> brokeAt; // its last moment where no Confirmation is recorded, as in older files
    friend bool operator==(const Picture &, const Picture &) = default;

    void apply(const Change &change);
    // What makes this picture of an empty one.
    [[nodiscard]] std::vector<Change> asChanges(Moment at) const;
    // The last moment, not after `at`, at which what is known of a connection was current; none where that is
    // unknown.
    [[nodiscard]] std::optional<Moment> lastConfirmed(const ConnectionName &name, Moment at) const;
};

// A lock as it was known then. Ages count to the last confirmation of the connection, and so does what a
// message says of them.
[[nodiscard]] inspect::LockSnapshot lockAsOf(const Picture &picture, inspect::LockSnapshot lock, Moment at);
// All of them.
[[nodiscard]] std::vector<inspect::LockSnapshot> locksAsOf(const Picture &picture, Moment at);
// What was not seen then, of connections that were not there, too; and what this version cannot show of it.
[[nodiscard]] std::vector<inspect::Coverage> coverageAsOf(const Picture &picture);

} // namespace lockscope::history
