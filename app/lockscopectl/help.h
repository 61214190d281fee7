// SPDX-License-Identifier: Apache-2.0
// What --help prints.
#pragma once

#include "app/lockscopectl/command.h"

namespace lockscope::ctl {

[[nodiscard]] QString generalHelp();
[[nodiscard]] QString commandHelp(const CommandSpec &command);

} // namespace lockscope::ctl
