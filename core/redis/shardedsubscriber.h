// SPDX-License-Identifier: Apache-2.0
// What a connection to one node of a Redis Cluster can besides: listen to a sharded channel (SSUBSCRIBE, Redis 7),
// which only the node that has its slot hears. Between such a connection and the cluster; all else subscribes to
// channels, and the cluster sees to both kinds.
#pragma once

#include "core/redis/connection.h"

namespace lockscope::redis {

class ShardedSubscriber {
public:
    virtual ~ShardedSubscriber() = default;
    // As Connection::subscribe(). Where the server has no such thing, or does not want it, nothing is heard.
    virtual Subscription subscribeSharded(QByteArray channel, std::function<void(const Message &)> listener) = 0;
};

} // namespace lockscope::redis
