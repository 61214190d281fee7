// SPDX-License-Identifier: Apache-2.0
// Whether two snapshots of a lock say the same, so that there is no news to tell.
#pragma once

#include "core/inspect/snapshot.h"

namespace lockscope::inspect {

// Whether a person or a program would call them the same: not when they were looked at, nor the seconds
// in a message that counts them, nor moments that differ by no more than `wavering` (those of messages: a second).
[[nodiscard]] bool isEquivalent(const LockSnapshot &before, const LockSnapshot &now,
                                std::chrono::milliseconds wavering = {});

} // namespace lockscope::inspect
