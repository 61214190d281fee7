// SPDX-License-Identifier: Apache-2.0
// How the clients of a key are woken: as a rule of the user's says, else as its name says (keysignals.h).
#pragma once

#include "core/rules/keysignals.h"

namespace lockscope::recipes {

[[nodiscard]] KeySignals wakeSignalsOf(const QByteArray &key);

} // namespace lockscope::recipes
