// SPDX-License-Identifier: Apache-2.0
// Edits of znodes.
#pragma once

#include "core/operate/edit.h"
#include "core/zookeeper/session.h"

namespace lockscope::operate {

// With all below it where it is to be deleted: TooLarge beyond mostDeleted nodes.
[[nodiscard]] Task<Result<EditState>> readForEdit(EditRequest request, zk::Session *session, Deadline deadline);
[[nodiscard]] Task<Result<EditSent>> sendEdit(EditPlan plan, zk::Session *session, Deadline deadline);

} // namespace lockscope::operate
