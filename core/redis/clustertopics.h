// SPDX-License-Identifier: Apache-2.0
// Subscriptions on a Redis Cluster: what is published on a plain channel reaches every node, so one subscription
// on one of them hears it; what a node says of its own keys (client tracking, keyspace events) only that node
// says, so each primary is subscribed to. They move when the primaries do. Loop thread only.
//
// Whoever listens to a plain channel hears the sharded one of that name, too, at the node that has its slot: from
// Redis 7 on Redisson publishes there (PublishSubscribeService.getPublishCommand). What is published on both is heard
// twice.
#pragma once

#include "core/redis/clusternodes.h"

namespace lockscope::redis {

class ClusterTopics {
public:
    using Listener = std::function<void(const Message &)>;

    explicit ClusterTopics(ClusterNodes &nodes) : m_nodes(nodes) {}

    [[nodiscard]] Subscription add(const QByteArray &name, bool isPattern, Listener listener);
    // After the primaries, their slots or their connections changed. True when a channel found another home, and may
    // have missed something on its way.
    bool place();
    // The nodes whose subscriber matters to somebody by now; at least one where any is known.
    [[nodiscard]] std::vector<HostPort> inUse();

private:
    struct Topic {
        QByteArray name;
        bool isPattern;
        Listener listener;
        std::map<QString, Subscription> on; // nodes
        QString shard;                      // the node that has its slot; empty: none is known
        Subscription onShard;
    };
    [[nodiscard]] static bool isSaidByEach(const QByteArray &name);
    [[nodiscard]] std::vector<HostPort> hostsFor(const Topic &topic) const;
    void place(const std::shared_ptr<Topic> &topic);
    [[nodiscard]] const HostPort *shardOf(const Topic &topic) const;
    [[nodiscard]] bool placeShard(const std::shared_ptr<Topic> &topic);
    [[nodiscard]] bool chooseHome();

    ClusterNodes &m_nodes;
    std::optional<HostPort> m_home; // of the plain channels
    std::vector<std::weak_ptr<Topic>> m_topics;
};

} // namespace lockscope::redis
