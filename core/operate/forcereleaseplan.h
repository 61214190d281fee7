// SPDX-License-Identifier: Apache-2.0
// A force-release, or what is gentler, as values: what is going to be done (step 1 of forcerelease.h), and what
// came of it.
#pragma once

#include "core/base/result.h"
#include "core/inspect/snapshot.h"
#include "core/operate/editplan.h"
#include "core/rules/turn.h"

namespace lockscope::operate {

// What can be done about a lock, gentlest first.
enum class ReleaseAction {
    Revoke,     // ZooKeeper: the mark is written that asks the holder to let go
    ShortenTtl, // Redis: the lease ends sooner, unless its holder renews it
    KillWaiter, // one that waits loses its place: its node, its entry in the queue, its waiting statement
    KillQuery,  // SQL: the holder's running statement is ended; its connection stays
    Release,    // force-release: the hold is taken away
    EndLease,   // etcd: the hold is, and its lease ends, with all that hangs on it
};

struct OfferedAction {
    ReleaseAction way = ReleaseAction::Release;
    QByteArray contender; // whom it is about
    QString what;         // "ask the holder to let go"
    friend bool operator==(const OfferedAction &, const OfferedAction &) = default;
};

// What a node of a set has of a hold (releasemethod.h).
struct NodeShare {
    std::size_t at = 0; // in the order of the set
    QString node;
    inspect::Identity guard;
    friend bool operator==(const NodeShare &, const NodeShare &) = default;
};

struct ForceReleasePlan {
    ReleaseAction way = ReleaseAction::Release;
    inspect::LockSnapshot before;
    QString server;    // the connection's URI when that was looked at; empty: not asked of a server
    QByteArray holder; // the contender's id
    inspect::Identity guard;
    QString act;          // "KILL connection 13": where it is more than a release; else empty
    QStringList commands; // exactly what will be sent, for people
    QString guardText;    // "czxid 0x5f21 and owner 0x2000009b4890007, read again right before"
    bool exact = true;    // false: a gap remains, see docs/layouts.md, "Way of release"
    // Not empty: nothing tells this hold from a later one, so that the release may hit whoever holds it then.
    // Refused unless somebody who read it says so.
    QString risk;
    bool isRiskAccepted = false;
    std::optional<qint64> leaseEnds; // as of the last look: precheck.h, leaseEndOf()
    std::vector<NodeShare> shares;   // of a lock that each node keeps by itself: one node after the other
    std::optional<NodeShare> onNode; // that node's part of it
    std::optional<std::chrono::milliseconds> backWithin; // precheck.h, returnWithin(): looked for once more then
    recipes::KeySignals wakeUps;                         // sent with the release, as the lock's own clients do
    std::optional<QByteArray> nextHolder;                // contender id
    QString wakes;                                       // "1 waiter, by the deletion; nothing else to publish"
    std::vector<QByteArray> otherLocksLost; // by the same act, as far as they are seen: none for one node or key
    bool otherLocksKnown = true;            // false: there may be more of them
    QStringList alternatives;               // "its session ends by itself in 6.4 s; then … gets the lock"
    QString staleHolder;                    // of Release, a warning: the old holder may still act as if it holds
    QStringList warnings;                   // all others
    std::vector<OfferedAction> ways;        // all there are for this contender, gentlest first
    QString who;                            // not of Release: who gets the lock then
    QString alsoLost;                       // not of Release: what else goes with it
    std::optional<std::vector<QByteArray>> leaseKeys; // of EndLease: all that hangs on it; empty: not known
    [[nodiscard]] QStringList allWarnings() const
    {
        return staleHolder.isEmpty() ? warnings : QStringList(staleHolder) + warnings;
    }
};

struct ForceReleaseOutcome {
    bool released = false;                      // it does not hold any more
    std::optional<inspect::LockSnapshot> after; // empty: the lock is gone
    QString message;                            // one sentence for a person
    bool done = false;                          // what was planned was done; of Release that it was released
    bool isRecorded = true;                     // the audit file has the result
};

// `holder` is a contender's id, or "session:0x…". Refused if it does not hold in this snapshot (a waiter's id, an
// old id, nobody holds), or could mean another (a name without what makes it unmistakable, a session that holds it
// twice): the message says the full ids. Unsupported for recipes whose hold cannot be taken away. Any thread.
[[nodiscard]] Result<ForceReleasePlan> planForceRelease(const inspect::LockSnapshot &snapshot,
                                                        const QByteArray &holder);
// The same by any way (releasemethod.h); the contender of KillWaiter is one that waits. Unsupported where there is
// no such way for it: the message says which there are.
[[nodiscard]] Result<ForceReleasePlan> planWay(const inspect::LockSnapshot &snapshot, const QByteArray &contender,
                                               ReleaseAction way);

// "revoke", "shorten-ttl" …: of --method, and the action in the audit record ("force-release" for Release there).
[[nodiscard]] QByteArray wordOf(ReleaseAction way);
[[nodiscard]] std::vector<const inspect::Contender *> holdersOf(const inspect::LockSnapshot &snapshot);
// The ways there are for this contender of the snapshot, gentlest first.
[[nodiscard]] std::vector<OfferedAction> waysFor(const inspect::LockSnapshot &snapshot,
                                                 const inspect::Contender &contender);

// What several force-releases are about, and what came of them, as values.

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

// What releases and edits will do, and why they were refused, for people: resources/words/operate.json, by name.

// The "text" of that name, with the values in the places of %1 to %9.
[[nodiscard]] QString sentence(const char *name, const QStringList &values = {});
// All else of that name, with the values: texts are set, lists are added to.
void addTexts(ForceReleasePlan &plan, const char *name, const QStringList &values = {});
void addTexts(EditPreview &preview, const char *name, const QStringList &values = {});
// Where it is not sure that the entries are a lock.
void warnOfConfidence(ForceReleasePlan &plan);

} // namespace lockscope::operate
