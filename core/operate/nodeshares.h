// SPDX-License-Identifier: Apache-2.0
// One hold that stands on several nodes of a set, each of which keeps the lock by itself: RedissonRedLock's, and
// members of a set as of npm's RedlockSemaphore. Redlock's own tokens go another way (ReleaseWay::QuorumDelete).
//
// Taken away node by node: each under the guard of what that node said, with an intent and a result of its own in
// the audit file. The first surprise ends it, and the outcome says which nodes were done. Not to be asked again where
// a node did not answer: what it has ends with its TTL, or is released when it answers.
#pragma once

#include "core/operate/forcerelease.h"

namespace lockscope::operate {

struct ReleaseMethod;

// What of the contender stands on which node; empty for a lock of no set, and where it is not sure that the nodes
// mean the same hold.
[[nodiscard]] std::vector<NodeShare> sharesOf(const inspect::LockSnapshot &snapshot,
                                              const inspect::Contender &holder);

// The plan of the one node's way, for each of the shares.
void planShares(ForceReleasePlan &plan, const inspect::Contender &holder, const ReleaseMethod &method);

// What is sent to one of the nodes; `plan` without shares is itself.
[[nodiscard]] ForceReleasePlan planOfShare(const ForceReleasePlan &plan, std::size_t share);

// What was done when something else came than was looked for at the share so numbered.
[[nodiscard]] Error stoppedAt(const ForceReleasePlan &plan, std::size_t share, const Error &surprise);

// "on 3 of 3 nodes (a:1, b:1, c:1)"
[[nodiscard]] QString whereDone(const ForceReleasePlan &plan);

} // namespace lockscope::operate
