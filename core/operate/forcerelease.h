// SPDX-License-Identifier: Apache-2.0
// Force-release: taking a lock from its holder against its will, the careful way.
//
//   1. Plan from a picture: what will be sent, the guard, who is next, what is lost besides.
//   2. Read the lock afresh. Refused unless the same contender, with the same identity, still holds.
//   3. Write the intent to the audit file (flushed). If that fails nothing is sent.
//   4. Send the library-correct release: delete of the exact node (with its version), Redis
//      compare-and-delete in a script; Redisson also publishes, or its waiters sleep on.
//   5. Read again, report who holds now, write the result to the audit file.
//
// Exact only where identity is in the name or in a script (sequence nodes, Redis). For a fixed
// ZooKeeper name, and for KILL of an SQL connection, the plan says that a gap remains between the re-read
// and the act.
#pragma once

#include "core/inspect/observer.h"
#include "core/mariadb/session.h"
#include "core/operate/audit.h"
#include "core/redis/connection.h"
#include "core/zookeeper/session.h"

namespace lockscope::operate {

struct ForceReleasePlan {
    inspect::LockPicture before;
    QByteArray holder;                 // the contender's id
    inspect::Identity guard;
    QStringList commands;              // exactly what will be sent, for people
    QString guardText;                 // "czxid 0x5f21 and owner 0x2000009b4890007, read again right before"
    bool exact = true;                 // false: a gap remains, see docs/layouts.md, "Way of release"
    // Not empty: nothing tells this hold from a later one, so that the release may hit whoever holds it then.
    // Refused unless somebody who read it says so.
    QString risk;
    bool isRiskAccepted = false;
    std::optional<QByteArray> nextHolder; // contender id
    QString wakes;                     // "1 waiter, by the deletion; nothing else to publish"
    std::vector<QByteArray> otherLocksLost; // by the same act: none for a delete of one node
    QStringList gentler;               // "its session ends by itself in 6.4 s; then … gets the lock"
    QStringList warnings;              // always says that the old holder may still believe it holds
};

struct ForceReleaseOutcome {
    bool released = false;
    std::optional<inspect::LockPicture> after; // empty: the lock is gone
    QString message;                           // one sentence for a person
};

// `holder` is a contender's id, or "session:0x…". Refused if it does not hold in this picture (a waiter's id, an
// old id, nobody holds), or could mean another (a name without what makes it unmistakable, a session that holds it
// twice): the message says the full ids. Unsupported for recipes whose hold cannot be taken away. Any thread.
[[nodiscard]] Result<ForceReleasePlan> planForceRelease(const inspect::LockPicture &picture, const QByteArray &holder);

// What step 2 to 5 work on; one of session, connection, nodes and sql is set. All outlive the task.
struct ForceReleaseTools {
    inspect::Observer *observer = nullptr;
    zk::Session *session = nullptr;         // gated
    redis::Connection *connection = nullptr; // gated
    AuditFile *audit = nullptr;
    Loop *loop = nullptr;
    std::vector<redis::Connection *> nodes = {}; // of a Redlock set, gated, in the order of the picture's
    mariadb::Session *sql = nullptr;         // gated
};

// Steps 2 to 5. Errors: Refused when the hold is gone or another's by now (nothing is taken away), or when the gate or
// the audit file says no; UnknownOutcome when the answer was lost and a second look failed too.
[[nodiscard]] Task<Result<ForceReleaseOutcome>> forceRelease(ForceReleasePlan plan, ForceReleaseTools tools,
                                                             QString reason, Deadline deadline);

} // namespace lockscope::operate
