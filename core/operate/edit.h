// SPDX-License-Identifier: Apache-2.0
// An edit, the careful way: as a force-release is (forcerelease.h).
//
//   1. Plan: read what is there, and which locks it belongs to.
//   2. Read again. Refused unless it is what the plan shows, and no lock is held there that it does not name.
//   3. Write the intent, with what was there, to the audit file (flushed). If that fails nothing is sent.
//   4. Send, each request guarded: a znode's versions, a comparison in one script for a key.
//   5. Read again, write the result. What can be taken back comes as another edit, guarded as this one is.
#pragma once

#include "core/async/loop.h"
#include "core/async/task.h"
#include "core/operate/audit.h"
#include "core/operate/editplan.h"

namespace lockscope::operate {

// How far it came. One request is done or is an error; of several some may be done before one is refused.
struct EditSent {
    QByteArray made;              // ZnodeCreate: the path, with the server's number
    std::vector<ZnodeCopy> done;  // ZnodeDelete, ZnodeRestore: in the order it was done
    std::optional<Error> stopped; // by what
};

// What a backend does of it, over its gated port. They outlive the task.
struct EditTools {
    std::function<Task<Result<EditState>>(EditRequest, Deadline)> read = {};
    std::function<Task<Result<EditSent>>(EditPlan, Deadline)> send = {};
    std::function<std::vector<inspect::LockSnapshot>()> locks = {}; // seen there now
    bool areLocksKnown = true;
    AuditFile *audit = nullptr;
    Loop *loop = nullptr;
};

// Step 1. Refused where an edit to be taken back is not what is there any more.
[[nodiscard]] Task<Result<EditPlan>> planEdit(EditRequest request, EditTools tools, Deadline deadline);
// Steps 2 to 5. Refused: nothing was sent, it is another by now. UnknownOutcome when the answer was lost and a second
// look does not tell.
[[nodiscard]] Task<Result<EditOutcome>> applyEdit(EditPlan plan, EditTools tools, QString reason, Deadline deadline);

// What an edit left: whether it is what was sent, and what would take it back. Pure.

// Whether what is there afterwards is what we sent: else somebody was quicker, and taking ours back took theirs.
[[nodiscard]] bool isAsSent(const EditPlan &plan, const EditState &after);
// What is to be sent to take it back, where what was there is known and what is there is ours.
[[nodiscard]] std::optional<EditRequest> undoOf(const EditPlan &plan, const EditSent &sent, const EditState &after);
// What is read afterwards: a rename left it under another name, a create under the name that was `made`.
[[nodiscard]] EditRequest afterwards(const EditRequest &request, const QByteArray &made);
// The node of the plan, as one that is deleted or was.
[[nodiscard]] ZnodeCopy itself(const EditPlan &plan);

} // namespace lockscope::operate
