// SPDX-License-Identifier: Apache-2.0
// The one order in which something is done to a server by force, for releases, alternatives and edits alike. The
// caller has read what is there and refused what is not as planned; then:
//
//   1. Record the intent. If that fails nothing is sent.
//   2. Send.
//   3. Read again: what came of it is asked of the server, above all where the answer was lost.
//   4. Record the result, whatever it is. That this failed is reported with every outcome (withAudit).
#pragma once

#include "core/async/task.h"
#include "core/operate/audit.h"

namespace lockscope::operate {

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

} // namespace lockscope::operate
