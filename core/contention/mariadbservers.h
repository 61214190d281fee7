// SPDX-License-Identifier: Apache-2.0
// The simulated MariaDB that contenders of the SQL recipes contend on.
#pragma once

#include "core/contention/servers.h"

namespace lockscope::contention {

[[nodiscard]] std::unique_ptr<Servers> makeMariaDbServers(const ServersContext &context);

} // namespace lockscope::contention
