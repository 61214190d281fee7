// SPDX-License-Identifier: Apache-2.0
// A scenario, played in the simulated world for a command.
#pragma once

#include "app/lockscopectl/command.h"
#include "core/contention/simulation.h"

namespace lockscope::ctl {

// On a thread of its own, so that Ctrl-C ends it. Handed over and never copied: there may be millions of events.
[[nodiscard]] Task<Result<contention::Recording>> playSimulated(CommandContext &context,
                                                                contention::Scenario scenario);

} // namespace lockscope::ctl
