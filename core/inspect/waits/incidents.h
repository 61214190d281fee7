// SPDX-License-Identifier: Apache-2.0
// Incidents: what an operator has to deal with, each once, with the findings that follow from it. Every program shows
// these, so that all of them agree. Pure: a wait-for graph and its snapshots in, plain values out.
#pragma once

#include "core/inspect/findings.h"
#include "core/inspect/waits/waitgraph.h"

namespace lockscope::inspect {

// A finding that the incident explains.
struct FoldedFinding {
    LockName lock;
    FindingCode code{};
    friend bool operator==(const FoldedFinding &, const FoldedFinding &) = default;
};

struct Incident {
    FindingCode code{}; // of the finding that is the cause; LongWait: a root blocker; DeadlockEnded: it is past
    Severity severity = Severity::Warning;
    QString cause;                                // a sentence: which client does what to whom
    QString action;                               // one or more sentences
    std::vector<LockName> locks;                  // the first one is the one to open
    std::vector<FindingPlace> target;             // the contenders whose end or release the action suggests
    std::vector<QString> blocked;                 // names of the clients that wait because of it
    std::optional<std::chrono::milliseconds> age; // since the last client of a deadlock waits, else of the hold
    bool atMost = false;
    std::vector<FoldedFinding> folded;
    friend bool operator==(const Incident &, const Incident &) = default;
};

// Most severe first, then those that block most clients. `locks` have their findings, deadlocks included, and are
// those that the graph was made of. Linear in locks and waits, but for root blockers: each of them once more.
// `coverage` has the deadlocks that a server ended, which are past and come last.
[[nodiscard]] std::vector<Incident> incidentsOf(const WaitGraph &graph, const std::vector<LockSnapshot> &locks,
                                                const std::vector<Coverage> &coverage = {});

// "deadlock", "lost-wakeup", "no-ttl", "holder-disconnected", "idle-in-transaction", "root-blocker",
// "deadlock-ended".
[[nodiscard]] QString kindWord(const Incident &incident);
// "2 long-held, 1 long-wait"; empty for none.
[[nodiscard]] QString foldedText(const Incident &incident);
[[nodiscard]] QJsonArray toJson(const std::vector<Incident> &incidents);

} // namespace lockscope::inspect
