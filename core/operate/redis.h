// SPDX-License-Identifier: Apache-2.0
// What goes to a Redis that writes: releases and edits of keys.
#pragma once

#include "core/operate/edit.h"
#include "core/operate/releasemethod.h"
#include "core/redis/connection.h"

namespace lockscope::operate {

// Taking a key, a field of it or a permit away, and telling those who sleep until somebody does.

// `nodes`: the one Redis, or those of a Redlock set in the order of the snapshot's.
[[nodiscard]] Task<Result<Sent>> sendRelease(ForceReleasePlan plan, std::vector<redis::Connection *> nodes,
                                             Deadline deadline);

// A gentler way, by the plan's.
[[nodiscard]] Task<Result<Sent>> sendAlternative(ForceReleasePlan plan, std::vector<redis::Connection *> nodes,
                                                 Deadline deadline);

// Edits of keys.

// `connection`: of one Redis. What is larger than largestEdit is described, not read.
[[nodiscard]] Task<Result<EditState>> readForEdit(EditRequest request, redis::Connection *connection,
                                                  Deadline deadline);
// In one script, which compares and acts.
[[nodiscard]] Task<Result<EditSent>> sendEdit(EditPlan plan, redis::Connection *connection, Deadline deadline);

} // namespace lockscope::operate
