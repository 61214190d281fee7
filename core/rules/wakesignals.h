// SPDX-License-Identifier: Apache-2.0
// How the clients of a key are woken: as a rule of the user's says (none, if it says nothing), else as the key's name
// says (keysignals.h).
#pragma once

#include "core/rules/keysignals.h"

namespace lockscope::recipes {

[[nodiscard]] KeySignals wakeSignalsOf(const QByteArray &key);

} // namespace lockscope::recipes
