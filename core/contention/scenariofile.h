// SPDX-License-Identifier: Apache-2.0
// The scenarios that a piece of JSON stands for: one by itself, those of what `simulate --json` printed, or that of a
// recording.
#pragma once

#include "core/contention/scenario.h"

namespace lockscope::contention {

// At least one. BadInput: it is none of the three, or a scenario in it is wrong.
[[nodiscard]] Result<std::vector<Scenario>> scenariosOf(const QJsonObject &object);

} // namespace lockscope::contention
