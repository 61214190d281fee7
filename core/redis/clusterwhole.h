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

#include "core/redis/clustertopics.h"

namespace lockscope::redis {

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

} // namespace lockscope::redis
