// SPDX-License-Identifier: Apache-2.0
// What an edit left: whether it is what was sent, and what would take it back. Pure.
#pragma once

#include "core/operate/edit.h"

namespace lockscope::operate {

// Whether what is there afterwards is what we sent: else somebody was quicker, and taking ours back took theirs.
[[nodiscard]] bool isAsSent(const EditPlan &plan, const EditState &after);
// What is to be sent to take it back, where what was there is known and what is there is ours.
[[nodiscard]] std::optional<EditRequest> undoOf(const EditPlan &plan, const EditSent &sent, const EditState &after);
// What is read afterwards: a rename left it under another name, a create under the name that was `made`.
[[nodiscard]] EditRequest afterwards(const EditRequest &request, const QByteArray &made);
// The node of the plan, as one that is deleted or was.
[[nodiscard]] ZnodeCopy itself(const EditPlan &plan);

} // namespace lockscope::operate
