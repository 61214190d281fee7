// SPDX-License-Identifier: Apache-2.0
// Force-release: taking a lock from its holder against its will, the careful way.
//
//   1. Plan from a snapshot: what will be sent, the guard, who is next, what is lost besides.
//   2. Read the lock afresh. Refused unless the same contender, with the same identity, still holds.
//   3. Write the intent to the audit file (flushed). If that fails nothing is sent.
//   4. Send the library-correct release: delete of the exact node (with its version), Redis
//      compare-and-delete in a script; Redisson also publishes, or its waiters sleep on.
//   5. Read again, report who holds now, write the result to the audit file.
//   6. Of a client that puts back what was taken from it: read once more when it would have, and record that, too.
//
// Exact only where identity is in the name or in a script (sequence nodes, Redis). For a fixed ZooKeeper name, and
// for KILL of an SQL connection, the plan says that a gap remains between the re-read and the act.
#pragma once

#include "core/async/task.h"
#include "core/inspect/observer.h"
#include "core/operate/audit.h"
#include "core/operate/forcereleaseplan.h"

namespace lockscope::operate {

// The one order in which something is done to a server by force, for releases, alternatives and edits alike. The
// caller has read what is there and refused what is not as planned; then:
//
//   1. Record the intent. If that fails nothing is sent.
//   2. Send.
//   3. Read again: what came of it is asked of the server, above all where the answer was lost.
//   4. Record the result, whatever it is. That this failed is reported with every outcome (withAudit).

// "refused: …", "unknown: …", "failed: …": what the audit file says of an act that came to this.
[[nodiscard]] QString auditOutcomeOf(const Error &error);

template <class Sent, class State>
struct ActSteps {
    AuditRecord record; // of the plan: its phases are set here
    std::function<Task<Result<Sent>>()> send;
    std::function<Task<Result<State>>(const Result<Sent> &)> readAgain;
    // Writes the result's isDone and after, and its outcome where that is not the plain word for the error.
    std::function<void(AuditRecord &, const Result<Sent> &, const Result<State> &)> note;
};

template <class Sent, class State>
struct Act {
    Result<Sent> sent = Error{}; // why the intent was not recorded, where it was not
    Result<State> reread = Error{};
    Result<void> recorded; // the result
};

template <class Sent, class State>
Task<Act<Sent, State>> guardedAct(ActSteps<Sent, State> steps, AuditFile *audit)
{
    Act<Sent, State> act;
    auto record = steps.record;
    record.phase = QStringLiteral("intent");
    if (const auto written = audit->append(record); !written) {
        act.sent = written.error();
        co_return act;
    }
    act.sent = co_await steps.send();
    act.reread = co_await steps.readAgain(act.sent);
    record.phase = QStringLiteral("result");
    if (!act.sent)
        record.outcome = auditOutcomeOf(act.sent.error());
    steps.note(record, act.sent, act.reread);
    act.recorded = audit->append(record);
    co_return act;
}

// What is told of an act whose result could not be written, whatever came of it; empty where it was.
[[nodiscard]] QString missingInAudit(const Result<void> &recorded);
// Adds that to the outcome's or the error's message.
template <class Outcome>
[[nodiscard]] Result<Outcome> withAudit(Result<Outcome> outcome, const Result<void> &recorded)
{
    if (outcome) {
        outcome->message += missingInAudit(recorded);
        return outcome;
    }
    Error error = outcome.error();
    error.message += missingInAudit(recorded);
    return error;
}

struct Sent {
    qint64 told = 0; // subscribers; 0 where nothing is published
    QString where;   // of a set: on how many of its nodes
    QString left{};  // a sentence on what the act leaves on the server; empty: nothing
};
using ReleaseAct = Act<Sent, inspect::LockSnapshot>;

// What step 2 to 5 work on. All outlive the task.
struct ForceReleaseTools {
    inspect::Observer *observer = nullptr;
    std::function<Task<Result<Sent>>(ForceReleasePlan, Deadline)> send = {}; // the backend's own (releasemethod.h)
    AuditFile *audit = nullptr;
    Loop *loop = nullptr;
};

// Steps 2 to 5. Errors: Refused when the hold is gone or another's by now (nothing is taken away), or when the gate
// or the audit file says no; UnknownOutcome when the answer was lost and a second look failed too.
[[nodiscard]] Task<Result<ForceReleaseOutcome>> forceRelease(ForceReleasePlan plan, ForceReleaseTools tools,
                                                             QString reason, Deadline deadline);

// Several force-releases, one after the other: each is planned on a fresh reading right before, guarded and
// recorded on its own. What was not looked for stops it: a refusal, an outcome that is not "released", a server
// that is gone. What was done stays done, and the rest is not touched.

// All outlive the task.
struct BulkTools {
    std::function<Task<Result<ForceReleasePlan>>(BulkTarget, Deadline)> plan;
    std::function<Task<Result<ForceReleaseOutcome>>(ForceReleasePlan, QString, Deadline)> act;
    std::function<void(int)> progressed; // so many are done
    Loop *loop = nullptr;
};

[[nodiscard]] Task<Result<BulkReport>> bulkRelease(std::vector<BulkTarget> targets, BulkTools tools, QString reason);

} // namespace lockscope::operate
