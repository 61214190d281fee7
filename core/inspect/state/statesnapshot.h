// SPDX-License-Identifier: Apache-2.0
// Everything that is known at a moment: the locks, sessions and connections. It is what its changes say, applied in
// their order.
#pragma once

#include "core/inspect/snapshot.h"

#include <map>

namespace lockscope::inspect {

// One change of what is known of locks and connections: what observers report, what a recording consists of, and what
// makes one StateSnapshot of another.

// By the clock of the machine that observed. It never runs backwards in a recording.
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
    std::vector<SessionSnapshot> sessions;
    friend bool operator==(const SessionsSeen &, const SessionsSeen &) = default;
};
struct CoverageSeen {
    ConnectionName connection;
    std::vector<Coverage> coverage;
    friend bool operator==(const CoverageSeen &, const CoverageSeen &) = default;
};

// What was reported of a connection before was still so at that moment: it was read again, or the server reports
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
    // A recording numbers the first of them by their order (core/history/encoding.cpp); it has no Progress and no
    // Cost.
    using What =
        std::variant<SnapshotChange, SessionsSeen, CoverageSeen, LinkState, Act, Confirmation, Progress, Cost>;
    static constexpr std::size_t recordedKinds = 6;
    [[nodiscard]] static bool isRecorded(const What &what) { return what.index() < recordedKinds; }

    Moment at{}; // when it was reported here
    What what;
    // Codes of a newer version's findings of the lock: they are not among its own. Not written again.
    std::vector<QByteArray> unknownFindings{};
};

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

// An observer's snapshots as last told, by where they were seen, and what a new look changes. Every observer tells
// what changed by one of these.

class SnapshotStore {
public:
    // Moments of expiry that differ by no more than `wavering` are no news.
    explicit SnapshotStore(std::chrono::milliseconds wavering = {}) : m_wavering(wavering) {}

    // What is seen at `source` (a directory, a key, or all of a server) now instead of what was seen there before.
    [[nodiscard]] std::vector<SnapshotChange> replace(const QByteArray &source, std::vector<LockSnapshot> now);

    // Those of more than low confidence. The others at `source` are not kept, only counted.
    [[nodiscard]] std::vector<LockSnapshot> withoutLow(const QByteArray &source, std::vector<LockSnapshot> now);
    [[nodiscard]] HiddenLocks hidden() const;
    [[nodiscard]] bool hasHidden(const QByteArray &source) const { return m_hidden.contains(source); }

    [[nodiscard]] const LockSnapshot *find(const QByteArray &name) const
    {
        const auto at = m_locks.find(name);
        return at == m_locks.end() ? nullptr : &at->second.second;
    }
    [[nodiscard]] std::optional<QByteArray> sourceOf(const QByteArray &name) const
    {
        const auto at = m_locks.find(name);
        return at == m_locks.end() ? std::nullopt : std::optional(at->second.first);
    }
    [[nodiscard]] std::vector<LockSnapshot> all() const;
    // Source and snapshot, by name.
    [[nodiscard]] const std::map<QByteArray, std::pair<QByteArray, LockSnapshot>> &entries() const { return m_locks; }

private:
    std::map<QByteArray, std::pair<QByteArray, LockSnapshot>> m_locks;
    std::map<QByteArray, std::vector<QByteArray>> m_names; // by source
    std::map<QByteArray, HiddenLocks> m_hidden;            // the same
    std::chrono::milliseconds m_wavering;
};

// Whether two snapshots of a lock say the same, so that there is no news to tell.

// Whether a person or a program would call them the same: not when they were looked at, nor the seconds
// in a message that counts them, nor moments that differ by no more than `wavering` (those of messages: a second).
[[nodiscard]] bool isEquivalent(const LockSnapshot &before, const LockSnapshot &now,
                                std::chrono::milliseconds wavering = {});
// Whether a recording says the same of both, which does not have what SQL clients run.
[[nodiscard]] bool isRecordedAlike(const LockSnapshot &before, LockSnapshot now);

} // namespace lockscope::inspect
