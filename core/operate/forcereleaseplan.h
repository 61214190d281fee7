// SPDX-License-Identifier: Apache-2.0
// A force-release as values: what is going to be done (step 1 of forcerelease.h), and what came of it.
#pragma once

#include "core/base/result.h"
#include "core/inspect/snapshot.h"
#include "core/rules/keysignals.h"

#include <QStringList>

namespace lockscope::operate {

struct ForceReleasePlan {
    inspect::LockSnapshot before;
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
    recipes::KeySignals wakeUps;            // sent with the release, as the lock's own clients do
    std::optional<QByteArray> nextHolder;   // contender id
    QString wakes;                          // "1 waiter, by the deletion; nothing else to publish"
    std::vector<QByteArray> otherLocksLost; // by the same act, as far as they are seen: none for one node or key
    bool otherLocksKnown = true;            // false: there may be more of them
    QStringList gentler;                    // "its session ends by itself in 6.4 s; then … gets the lock"
    QStringList warnings;                   // always says that the old holder may still believe it holds
};

struct ForceReleaseOutcome {
    bool released = false;
    std::optional<inspect::LockSnapshot> after; // empty: the lock is gone
    QString message;                            // one sentence for a person
};

// `holder` is a contender's id, or "session:0x…". Refused if it does not hold in this snapshot (a waiter's id, an
// old id, nobody holds), or could mean another (a name without what makes it unmistakable, a session that holds it
// twice): the message says the full ids. Unsupported for recipes whose hold cannot be taken away. Any thread.
[[nodiscard]] Result<ForceReleasePlan> planForceRelease(const inspect::LockSnapshot &snapshot,
                                                        const QByteArray &holder);

} // namespace lockscope::operate
