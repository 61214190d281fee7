// SPDX-License-Identifier: Apache-2.0
// Brings commands to the nodes of a cluster that have their slots, and again where they were sent elsewhere. Loop
// thread only.
#pragma once

#include "core/base/result.h"
#include "core/redis/clusternodes.h"
#include "core/redis/connection.h"

namespace lockscope::redis {

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
