// SPDX-License-Identifier: Apache-2.0
// What a Redis command is, said for the log: without secrets, escaped and cut.
#pragma once

#include "core/redis/connection.h"

namespace lockscope::operate {

[[nodiscard]] QString commandText(const redis::Command &command);

} // namespace lockscope::operate
