// SPDX-License-Identifier: Apache-2.0
// The incident note: a lock in Markdown, for a ticket or chat. What servers said stands in code spans: no markup, no
// link and no mention of anybody can come of it.
#pragma once

#include "core/history/timeline.h"
#include "core/inspect/waits/incidents.h"
#include "core/operate/audit.h"

namespace lockscope {

struct NoteFacts {
    inspect::LockSnapshot lock;
    std::chrono::milliseconds wallSetBy{}; // since it was seen, on this machine: its times of day are told by that
    history::Moment asOf{};                // by the clock of the machine that saw it
    std::optional<history::Moment>
        goneBy;                    // it is not there any more: all but the history is of when it was seen last
    inspect::LinkState connection; // without credentials
    std::vector<inspect::Coverage> coverage;
    std::optional<history::LockHistory> history; // up to then; nothing where nobody recorded
    std::vector<inspect::Incident> incidents{};  // of this lock
    QString historyProblem;                      // why the history is missing or ends early; empty: nothing failed
    QString actsProblem;                         // why actions may be missing
    QString source;                              // "a recording from … to …"; empty: one look at the server
    std::vector<inspect::Act> acts;              // of this lock
    std::vector<inspect::ClientLabel> labels{};  // what the user calls clients; those of `lock` say so already
};
[[nodiscard]] QString incidentNote(const NoteFacts &facts);

// Adds what the audit file says was done to this lock, up to the moment `upTo`.
void addActs(NoteFacts &facts, const std::vector<operate::AuditRecord> &records,
             history::Moment upTo = history::Moment::max());
// Adds those of its history that the audit file does not have.
void addRecordedActs(NoteFacts &facts);

// A code span, whatever is in it; `inTable`: in a cell of one.
[[nodiscard]] QString codeSpan(const QString &text, bool inTable = false);

} // namespace lockscope
