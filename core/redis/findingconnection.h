// SPDX-License-Identifier: Apache-2.0
// A connection to one Redis that asks, before anybody may use it, what that server is: a node of a cluster is left
// for the whole cluster, a replica is told of. Who may not ask takes the server for what it was called. The role
// is asked again after each reconnect. Loop thread only.
#pragma once

#include "core/redis/clusterconnection.h"

namespace lockscope::redis {

struct ServerPlace {
    bool isInCluster = false;
    QString replicaOf; // "10.0.0.1:6379"; empty: a primary, or not told
};
// Of the answers to INFO cluster and ROLE.
[[nodiscard]] ServerPlace placeOf(const Value &info, const Value &role);

struct FindingOpeners {
    std::function<std::unique_ptr<Connection>()> server;
    std::function<std::unique_ptr<Connection>()> cluster; // of which it is a node
};

// `found`: each time it was told; the first time before the state says Connected.
[[nodiscard]] std::unique_ptr<Connection> openFinding(Loop &loop, FindingOpeners openers,
                                                      std::function<void(const ServerPlace &)> found);
[[nodiscard]] std::unique_ptr<Connection> openFinding(Loop &loop, const ConnectionOptions &options,
                                                      std::function<void(const ServerPlace &)> found);

} // namespace lockscope::redis
