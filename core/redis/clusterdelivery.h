// SPDX-License-Identifier: Apache-2.0
// Brings commands to the nodes of a cluster that have their slots, and again where they were sent elsewhere. Loop
// thread only.
#pragma once

#include "core/redis/clusternodes.h"
#include "core/redis/commandkeys.h"

namespace lockscope::redis {

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
