// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/sandbox/server.h"

namespace lockscope::sandbox {

class Certificates;

// User shop is let in from this machine without a password, and owns the database shop with the tables stock and
// jobs. With certificates (which outlive it) only over TLS, and who shows one of that authority. Settings as for
// postgres -c: "deadlock_timeout=10ms".
[[nodiscard]] Result<std::unique_ptr<Server>> makePostgreSql(const Certificates *tls = nullptr,
                                                             const QByteArrayList &settings = {});

} // namespace lockscope::sandbox
