// SPDX-License-Identifier: Apache-2.0
// Taking a key, a field of it or a permit away, and telling those who sleep until somebody does.
#pragma once

#include "core/operate/releaseact.h"
#include "core/redis/connection.h"

namespace lockscope::operate {

// `nodes`: the one Redis, or those of a Redlock set in the order of the snapshot's.
[[nodiscard]] Task<Result<Sent>> sendRelease(ForceReleasePlan plan, std::vector<redis::Connection *> nodes,
                                             Deadline deadline);

// A gentler way, by the plan's.
[[nodiscard]] Task<Result<Sent>> sendGentler(ForceReleasePlan plan, std::vector<redis::Connection *> nodes,
                                             Deadline deadline);

} // namespace lockscope::operate
