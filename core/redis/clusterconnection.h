// SPDX-License-Identifier: Apache-2.0
// A Redis Cluster as one Redis: the port redis::Connection over the nodes of a cluster, so that recipes, the
// observer and the gate work on it as they are.
//
// A command goes to the node that has its key's slot; MOVED and ASK are followed, CLUSTERDOWN, TRYAGAIN and a node
// that is gone are waited for, in bounded tries and no longer than the deadline. Only what surely was not executed
// is sent again. A pipeline is split by node; its answers keep their order, its commands keep theirs on one node
// only. A command without a key that asks about the whole (SCAN, DBSIZE, PUBSUB, CLIENT LIST …) asks each primary,
// and their answers are put together; see clusterwhole.h. Keys in several slots are refused.
//
// What a script publishes it publishes on the sharded channel of that name as well, and counts who hears it there:
// from Redis 7 on Redisson's clients wait on these.
#pragma once

#include "core/redis/client.h"
#include "core/redis/clusternodes.h"

namespace lockscope::redis {

// Returns at once, in state Connecting. `seeds`: some of its nodes. Loop thread only.
[[nodiscard]] std::unique_ptr<Connection> openCluster(Loop &loop, std::vector<HostPort> seeds, OpenNode open);
// The same with what each connection to a node has but the host.
[[nodiscard]] std::unique_ptr<Connection> openCluster(Loop &loop, std::vector<HostPort> seeds,
                                                      const ConnectionOptions &options);

} // namespace lockscope::redis
