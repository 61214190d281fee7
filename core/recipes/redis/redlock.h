// SPDX-License-Identifier: Apache-2.0
// redlock: the token lock on a majority of several independent Redis nodes.
#pragma once

#include "core/base/random.h"
#include "core/recipes/lockbase.h"
#include "core/recipes/redis/quorumlease.h"

namespace lockscope::recipes {

class RedlockLock final : public LockBase {
public:
    // At least one node; `ttl` at least 1 ms.
    RedlockLock(RedisNodes nodes, RedisKey key, std::chrono::milliseconds ttl, Random random);
    ~RedlockLock() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override;
    Task<Result<bool>> isStillMine(Deadline deadline) override;
    // For how long the lock may still be believed in; zero when it is not held.
    [[nodiscard]] Duration validity() const { return m_lease ? m_lease->validity() : Duration::zero(); }

private:
    Task<Result<Grant>> take(Deadline deadline) override;
    Task<Result<Grant>> rounds(Deadline deadline);
    Task<Result<bool>> round();
    [[nodiscard]] std::optional<Error> hopeless() const;
    [[nodiscard]] Error tooLate() const;
    [[nodiscard]] bool isHeld() const override { return m_lease && !m_lease->isOver(); }
    void letGo() override;
    [[nodiscard]] int quorum() const;
    [[nodiscard]] int spare() const; // how many nodes may be missing

    RedisNodes m_nodes;
    Loop *m_loop;
    RedisKey m_key;
    std::chrono::milliseconds m_ttl;
    Random m_random;
    std::vector<WaitGroup> m_waitGroups; // what is being taken away, per node
    int m_silent = 0;                    // nodes that did not answer in the last round
    bool m_wasRefused = false;           // in some round enough of them answered, and it was another's
    std::optional<QuorumLease> m_lease;
};

} // namespace lockscope::recipes
