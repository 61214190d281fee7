// SPDX-License-Identifier: Apache-2.0
// Commands about a Redis Cluster as a whole: each primary is asked, and the answers are put together.
//
// SCAN goes through the primaries one after the other: its cursor says which one, and begins anew when they are
// others by then (what SCAN promises, that a key which is there all the time is seen, a new node's table would not
// keep). CLIENT LIST gives each client the id "<id>@<host>:<port>", for ids are each node's own, and leaves ours
// out; CLIENT ID is 0. CLIENT TRACKING redirects to our subscriber at the same node. PUBSUB counts who listens to
// a sharded channel of that name, too, and who listens to both once, as far as can be told (clusterwhole.cpp).
// CONFIG GET is an error where the nodes differ. All else: the first error there is, or the first answer. Replicas
// are not asked.
#pragma once

#include "core/base/result.h"
#include "core/redis/clusternodes.h"
#include "core/redis/connection.h"

namespace lockscope::redis {

// Subscriptions on a Redis Cluster: what is published on a plain channel reaches every node, so one subscription
// on one of them hears it; what a node says of its own keys (client tracking, keyspace events) only that node
// says, so each primary is subscribed to. They move when the primaries do. Loop thread only.
//
// Whoever listens to a plain channel hears the sharded one of that name, too, at the node that has its slot: from
// Redis 7 on Redisson publishes there (PublishSubscribeService.getPublishCommand). What is published on both is heard
// twice.
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

class ClusterWhole {
public:
    ClusterWhole(ClusterNodes &nodes, ClusterTopics &topics) : m_nodes(nodes), m_topics(topics) {}

    // An error reply stays a value.
    [[nodiscard]] Task<Result<Value>> ask(Command command, Deadline deadline);
    // Of the nodes that the subscriptions made before are on; the first one's id.
    [[nodiscard]] Task<Result<qint64>> subscriberId(Deadline deadline);

private:
    using Answers = std::vector<std::vector<Value>>; // of each primary, in their order
    struct Question {
        HostPort host;
        std::vector<Command> commands;
    };
    [[nodiscard]] Task<Result<Answers>> askAll(std::vector<Question> questions, Deadline deadline);
    [[nodiscard]] Task<Result<Value>> scan(Command command, Deadline deadline);
    [[nodiscard]] Task<Result<Value>> track(Command command, Deadline deadline);
    [[nodiscard]] Value clients(const std::vector<Question> &questions, const Answers &answers) const;

    ClusterNodes &m_nodes;
    ClusterTopics &m_topics;
    std::map<QString, qint64> m_subscribers; // of each node, as far as known
};

// Which nodes of a cluster a command is for.

// The keys that a command names; none for one that takes no key. Of a command that is not known the first argument
// is taken for its key, which is what it is for nearly all there are.
[[nodiscard]] QByteArrayList keysOf(const Command &command);

struct Destination {
    enum class Kind {
        Slot,     // the node that has this slot
        Anyone,   // whichever: it says the same on all
        Everyone, // each primary; their answers are put together
    };
    Kind kind = Kind::Anyone;
    int slot = -1;
};
// BadInput where its keys are in different slots, which no node takes.
[[nodiscard]] Result<Destination> destinationOf(const Command &command);
[[nodiscard]] Result<Destination> destinationOfKeys(const QByteArrayList &keys);

struct Parcel {
    Command command;
    int slot = -1; // negative: any node
};

// Brings commands to the nodes of a cluster that have their slots, and again where they were sent elsewhere. Loop
// thread only.
class ClusterDelivery {
public:
    explicit ClusterDelivery(ClusterNodes &nodes, Loop &loop) : m_nodes(nodes), m_loop(loop) {}

    // The answers in order; an error reply stays a value in its place. The first attempt is sent when called.
    [[nodiscard]] Task<Result<std::vector<Value>>> deliver(std::vector<Parcel> parcels, Deadline deadline);

private:
    // One round: what there is to do, and what became of it.
    struct Item {
        std::size_t index;
        std::optional<HostPort> ask; // where an ASK sent it, once
    };
    struct Group {
        HostPort host;
        std::vector<Item> items;
        Reply<std::vector<Value>> reply;
    };
    struct Round;
    void send(Round &round, const std::vector<Parcel> &parcels, Deadline deadline);
    void take(Round &round, const Group &group, const std::vector<Value> &answers);
    [[nodiscard]] std::optional<HostPort> hostFor(const Item &item, const Parcel &parcel);

    ClusterNodes &m_nodes;
    Loop &m_loop;
};

} // namespace lockscope::redis
