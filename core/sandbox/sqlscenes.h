// SPDX-License-Identifier: Apache-2.0
// What the SQL scenes of the demo share.
#pragma once

#include "core/mariadb/session.h"
#include "core/sandbox/demostage.h"

namespace lockscope::sandbox {

// Or until it cannot be. Both outlive the task.
[[nodiscard]] Task<void> untilConnected(DemoStage *stage, mariadb::Session *session);

} // namespace lockscope::sandbox
