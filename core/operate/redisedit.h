// SPDX-License-Identifier: Apache-2.0
// Edits of keys.
#pragma once

#include "core/operate/edit.h"
#include "core/redis/connection.h"

namespace lockscope::operate {

// `connection`: of one Redis. What is larger than largestEdit is described, not read.
[[nodiscard]] Task<Result<EditState>> readForEdit(EditRequest request, redis::Connection *connection,
                                                  Deadline deadline);
// In one script, which compares and acts.
[[nodiscard]] Task<Result<EditSent>> sendEdit(EditPlan plan, redis::Connection *connection, Deadline deadline);

} // namespace lockscope::operate
