// SPDX-License-Identifier: Apache-2.0
// What else a connection holds that goes with it when it is killed.
#pragma once

#include "core/async/task.h"
#include "core/mariadb/session.h"
#include "core/operate/forcereleaseplan.h"

namespace lockscope::operate {

// The plan with what the server says of that: other named locks, rows and tables by name in otherLocksLost, its
// transaction in the warnings. What the server does not tell stays "not known". For plans that kill; any other comes
// back as it is, but without the ways that this server does not have. Reads only.
[[nodiscard]] Task<ForceReleasePlan> withKillLosses(ForceReleasePlan plan, mariadb::Session *session,
                                                    Deadline deadline);

} // namespace lockscope::operate
