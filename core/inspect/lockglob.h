// SPDX-License-Identifier: Apache-2.0
// Patterns of locks, as people write them: a shell's glob on CONNECTION:NAME, or on NAME.
#pragma once

#include "core/inspect/snapshot.h"

namespace lockscope::inspect {

// `*` goes beyond a slash. The lock is matched as it is shown: escaped.
[[nodiscard]] bool matchesGlob(const LockName &lock, const QString &glob);

} // namespace lockscope::inspect
