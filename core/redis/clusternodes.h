// SPDX-License-Identifier: Apache-2.0
// The nodes of a Redis Cluster that we talk to: a connection to each primary, and who has which slots by now.
//
// Asks a node that answers for the layout: at the start the seeds, later whenever a connection broke or a redirect
// came, every ten seconds in any case. Connected when each primary is and no slot is without one; or, once it was
// waited for a failover, without those that are away, where the others answer for their slots all the same
// (cluster-require-full-coverage no). Loop thread only.
#pragma once

#include "core/base/connectionuri.h"
#include "core/redis/connection.h"

namespace lockscope::redis {

// Who has which slots of a Redis Cluster, as CLUSTER SLOTS says it; and where an error reply sends a command.
//
// CLUSTER SLOTS rather than CLUSTER SHARDS: every cluster there is answers it (SHARDS is Redis 7's), and it names who
// serves a slot now, which is all that is asked here. SHARDS leaves a shard's slots out while its old primary is out
// (github.com/redis/redis/issues/13414, github.com/valkey-io/valkey/pull/790).
class ClusterLayout {
public:
    // `asked`: who said so; a node that does not know its own address is that one. An error reply, and what is no
    // such answer, is an Error.
    [[nodiscard]] static Result<ClusterLayout> read(const Value &slots, const HostPort &asked);

    // Each once, by the lowest of its slots: a replica that takes over stands where its primary stood.
    [[nodiscard]] const std::vector<HostPort> &primaries() const { return m_primaries; }
    // Null: nobody has it.
    [[nodiscard]] const HostPort *ownerOf(int slot) const;
    [[nodiscard]] int unserved() const; // slots
    // "0-5460, 10923": those that this one has; null: those that no node has.
    [[nodiscard]] QString slotsOf(const HostPort *host) const;
    // What a MOVED told, ahead of the next look.
    void move(int slot, const HostPort &to);
    friend bool operator==(const ClusterLayout &, const ClusterLayout &) = default;

private:
    static constexpr qint16 nobody = -1;
    [[nodiscard]] qint16 indexOf(const HostPort &host);

    std::vector<HostPort> m_primaries;
    std::vector<qint16> m_owners; // of each slot, an index
};

struct Redirect {
    enum class Kind { Moved, Ask };
    Kind kind = Kind::Moved;
    int slot = 0;
    HostPort to;
};
// Of "MOVED 3999 127.0.0.1:6381" and "ASK 3999 …"; a host that is left out is the one that answered.
[[nodiscard]] std::optional<Redirect> redirectOf(const Value &reply, const HostPort &answered);
// An error reply that passes: nothing was done, and asking again may be answered.
[[nodiscard]] bool isWorthRepeating(const Value &reply);

// Where a Redis Cluster keeps a key: CRC16 (XMODEM) of its hash tag, or of all of it, modulo 16384.

inline constexpr int slotCount = 16384;

// What decides: the text between the first "{" and the next "}" where there is any, else the whole key.
[[nodiscard]] QByteArrayView hashTag(QByteArrayView key);
[[nodiscard]] int hashSlot(QByteArrayView key);

using OpenNode = std::function<std::unique_ptr<Connection>(const HostPort &)>;

class ClusterNodes {
public:
    // `changed`: after state, nodes or who has which slots did; true where subscriptions may have missed something
    // besides.
    ClusterNodes(Loop &loop, std::vector<HostPort> seeds, OpenNode open, std::function<void(bool)> changed);

    [[nodiscard]] ConnectionState state() const { return m_state; }
    [[nodiscard]] const QString &lastError() const { return m_lastError; }
    [[nodiscard]] bool isExplained() const; // of that: by any of those that say why
    [[nodiscard]] QString missing() const;  // Connection::missing()
    [[nodiscard]] bool isServed(int slot) const;
    // Those of the primaries that can be asked: all of them unless some are away for long.
    [[nodiscard]] std::vector<HostPort> serving();
    // Why a command cannot be sent now.
    [[nodiscard]] Error notConnected() const;
    // Whether the layout has ever been told.
    [[nodiscard]] bool isKnown() const { return !m_layout.primaries().empty(); }
    [[nodiscard]] const std::vector<HostPort> &primaries() const { return m_layout.primaries(); }
    // Another number after each change of the primaries, from 0 to 255 and again.
    [[nodiscard]] int generation() const { return m_generation; }
    // Null: nobody has it, as far as is known.
    [[nodiscard]] const HostPort *ownerOf(int slot) const { return m_layout.ownerOf(slot); }
    [[nodiscard]] Connection &at(const HostPort &host); // opened if need be
    [[nodiscard]] bool isConnected(const HostPort &host) { return at(host).state() == ConnectionState::Connected; }
    // One that is connected, for what any of them answers; null: none is.
    [[nodiscard]] const HostPort *anyone();

    void moved(const Redirect &redirect);
    // The layout may be out of date.
    void askAgain();
    // Completes with the next change, or at the deadline.
    [[nodiscard]] Completion<bool> nextChange(Deadline deadline);

private:
    struct Node {
        HostPort host;
        std::unique_ptr<Connection> connection;
        Subscription state;
        bool wasConnected = false;
    };

    Task<void> keepLooking();
    Task<bool> look();
    void adopt(ClusterLayout layout);
    void nodeChanged(const QString &name);
    void openSeeds();
    void judge(bool mayHaveMissed);
    Task<bool> isClusterDown(HostPort host);
    struct Finding {
        bool isWhole = false;
        bool isAnyConnected = false; // of the primaries
        bool isSettled = true;       // each of the missing ones says why
        QStringList missing{};       // primaries, and slots that nobody has
        bool isRefused = false;
        QString why; // empty while it only takes its time
    };
    [[nodiscard]] Finding finding() const;
    [[nodiscard]] bool isPrimary(const HostPort &host) const;

    Loop &m_loop;
    std::vector<HostPort> m_seeds;
    OpenNode m_open;
    std::function<void(bool)> m_changed;
    ClusterLayout m_layout;
    std::map<QString, Node> m_nodes; // by displayHost()
    ConnectionState m_state = ConnectionState::Connecting;
    QString m_lastError;
    QString m_refusal;     // of the layout
    QStringList m_missing; // Finding::missing
    Instant m_missingSince{};
    bool m_isPartial = false; // connected without them
    bool m_wasConnected = false;
    bool m_isDown = false; // the nodes say so, and refuse every command about a key
    int m_generation = 0;
    std::size_t m_turn = 0; // who is asked next
    bool m_askAgain = false;
    bool m_hasMoved = false; // a slot, by a redirect
    Completion<bool> m_wake;
    std::vector<Completion<bool>> m_waiting;
    Scope m_work; // last, so that it goes first
};

// Commands about a Redis Cluster as a whole: each primary is asked, and the answers are put together.
//
// SCAN goes through the primaries one after the other: its cursor says which one, and begins anew when they are
// others by then (what SCAN promises, that a key which is there all the time is seen, a new node's table would not
// keep). CLIENT LIST gives each client the id "<id>@<host>:<port>", for ids are each node's own, and leaves ours
// out; CLIENT ID is 0. CLIENT TRACKING redirects to our subscriber at the same node. PUBSUB counts who listens to
// a sharded channel of that name, too, and who listens to both once, as far as can be told (clusterwhole.cpp).
// CONFIG GET is an error where the nodes differ. All else: the first error there is, or the first answer. Replicas
// are not asked.

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
