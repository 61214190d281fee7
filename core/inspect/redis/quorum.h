// SPDX-License-Identifier: Apache-2.0
// From what each node of a Redlock set says of a key to the one lock that they are together. Pure.
#pragma once

#include "core/inspect/snapshot.h"

namespace lockscope::inspect {

// One node's own snapshot of the key; empty when it has none there. `answered` is false for a node that
// could not be asked: then nothing is known of it.
struct NodeSight {
    QString node;
    bool answered = false;
    std::optional<LockSnapshot> snapshot;
};

// The lock under the key, from the sights of all nodes in the order of the set. The holder is the token that a
// majority of all nodes hold, for as long as a majority holds it; tokens on fewer nodes are claims that do not hold.
// Where so many nodes do not answer that a token may have a majority, it is taken for the holder if no other has as
// many votes. A lock of another kind (Redisson's hash, say) is shown as its node shows it, unless its holders are
// members of a set that are the same on several nodes. Empty when no node has anything there.
[[nodiscard]] std::optional<LockSnapshot> mergeNodes(const std::vector<NodeSight> &sights);

// The nodes' clocks differ: all moments are told by the clock of one of them.
[[nodiscard]] inline ServerTime toClockOf(const LockSnapshot &reference, const LockSnapshot &from, ServerTime moment)
{
    return moment + reference.serverAhead - from.serverAhead;
}

} // namespace lockscope::inspect
