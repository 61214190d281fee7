// SPDX-License-Identifier: Apache-2.0
// The first step of every queue lock: join the queue and list it, in one round trip. Loop thread only.
#pragma once

#include "core/rules/turn.h"
#include "core/recipes/zookeeper/queueentry.h"

#include <QByteArrayList>

namespace lockscope::recipes {

enum class Listing {
    Plain,
    Watched, // with a watch on the children
};
struct Listed {
    zk::NameList names;
    std::optional<zk::Watch> watch; // Watched, unless the directory is gone
};
[[nodiscard]] inline Listed onlyThat(const NodeName &name)
{
    return {zk::NameList(std::vector<NodeName>{name}), std::nullopt};
}
struct Joined {
    QueueEntry entry;
    Listed queue;

    // Gives the list away: a thousand waiters of one process must not each keep a list of a thousand names.
    [[nodiscard]] Listed takeQueue() { return std::exchange(queue, {}); }
};

// Creates the claim's node and lists the directory; both leave together, and because a server answers a session in
// order, the list knows the node. Server error when the directory's counter is used up: numbers no longer tell then
// who came first. `pipelined`, if given, is called after each pair, as in queueentry.h.
[[nodiscard]] Task<Result<Joined>> joinQueue(BackgroundCleanup cleanup, NodeClaim claim, Listing how,
                                             Deadline deadline, std::function<void(Deadline by)> pipelined = {});

// The directory's children now; none if it is gone. Keeps trying over broken connections. The path outlives the task.
[[nodiscard]] Task<Result<Listed>> listQueue(zk::Session *session, const ZPath &directory, Listing how,
                                             Deadline deadline);

// The contenders among the children: those whose number follows one of these base names; the rest is
// no business of ours. Sorted.
[[nodiscard]] std::vector<Queued> contendersIn(const Listed &queue, const QByteArrayList &bases);
// Enough of them to tell whether it is the turn of `me` and whom it waits for: at least `ahead` of those before it,
// as far as there are so many. Quick on a list that is known to ascend.
[[nodiscard]] std::vector<Queued> contendersBefore(const Listed &queue, const QByteArrayList &bases,
                                                   const NodeName &me, int ahead = 1);

} // namespace lockscope::recipes
