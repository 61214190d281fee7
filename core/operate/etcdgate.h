// SPDX-License-Identifier: Apache-2.0
// The etcd port behind the gate.
#pragma once

#include "core/etcd/client.h"
#include "core/operate/gate.h"

namespace lockscope::operate {

// As those of gate.h.
[[nodiscard]] std::unique_ptr<etcd::Client> gated(etcd::Client &client, Gate &gate);

// Whether any of its operations, done or not, changes anything.
[[nodiscard]] bool isWrite(const etcd::Transaction &transaction);

} // namespace lockscope::operate
