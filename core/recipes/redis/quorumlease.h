// SPDX-License-Identifier: Apache-2.0
// A lease on several nodes: one token under one key on a quorum of them, each key dying by itself, all
// prolonged at every third of the TTL. Valid for as long as a quorum of the keys may be believed in.
// Loop thread only; the connections outlive it. Destroying it ends the prolonging.
#pragma once

#include "core/recipes/lock.h"
#include "core/recipes/redis/quorumcall.h"
#include "core/recipes/redis/tokenkey.h"

namespace lockscope::recipes {

// Until when the key is ours on each node; empty where it is not, or nobody knows. Shared with the answers
// that are still out: a late yes counts, too.
struct Standing {
    std::vector<std::optional<Instant>> until;

    [[nodiscard]] std::optional<Instant> validUntil() const;
    [[nodiscard]] bool isOn(int node) const { return until[static_cast<std::size_t>(node)].has_value(); }
    void note(int node, Vote vote, Instant ends);
};

// How long one node may take to answer: little beside the TTL, so that a mute node does not eat the
// validity of the others.
[[nodiscard]] Deadline nodeDeadline(const Loop &loop, std::chrono::milliseconds ttl);

class QuorumLease {
public:
    // As Lease: `asked` is when the requests that began it were sent, `onEnd` is called at most once, from
    // the loop, and must not destroy the lease.
    QuorumLease(RedisNodes nodes, TokenKey ours, std::chrono::milliseconds ttl, std::shared_ptr<Standing> standing,
                Instant asked, std::function<void(Loss)> onEnd);

    [[nodiscard]] const TokenKey &key() const { return m_ours; }
    [[nodiscard]] const std::shared_ptr<Standing> &standing() const { return m_standing; }
    [[nodiscard]] bool isOver() const;
    [[nodiscard]] Duration validity() const;
    // The full TTL again, on every node where the key is still ours. Yes when that was a quorum.
    // The call may outlive the lease.
    [[nodiscard]] QuorumCall prolong() const;

private:
    Task<void> keep(Instant asked);
    void end(Loss loss);

    RedisNodes m_nodes;
    Loop *m_loop;
    TokenKey m_ours;
    std::chrono::milliseconds m_ttl;
    std::shared_ptr<Standing> m_standing;
    std::function<void(Loss)> m_onEnd;
    bool m_isEnded = false;
    Scope m_keeping;
};

} // namespace lockscope::recipes
