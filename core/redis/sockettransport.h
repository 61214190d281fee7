// SPDX-License-Identifier: Apache-2.0
// The Transport of the programs: a TCP socket, plain or TLS.
#pragma once

#include "core/redis/client.h"

namespace lockscope::redis {

[[nodiscard]] MakeTransport overSockets(const ConnectionOptions &options);

} // namespace lockscope::redis
