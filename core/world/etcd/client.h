// SPDX-License-Identifier: Apache-2.0
// A client of the simulated etcd: what core/etcd/client.h is of a real one, over a link that can break. It asks once
// a second whether the server is there; one that does not answer for five counts as gone, and what is watched ends.
// Reconnects with the same back-off, and tells the same errors.
//
// Lives on `process`, which outlives it, as do the server and the network.
#pragma once

#include "core/world/etcd/server.h"
#include "core/world/network.h"

namespace lockscope::world {

[[nodiscard]] std::unique_ptr<etcd::Client> openEtcd(Process &process, EtcdServer &server, Network &network);

} // namespace lockscope::world
