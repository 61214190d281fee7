// SPDX-License-Identifier: Apache-2.0
// redis-set-nx: the token lock on one Redis.
#pragma once

#include "core/base/random.h"
#include "core/recipes/lockbase.h"
#include "core/recipes/redis/lease.h"

namespace lockscope::recipes {

class SetNxLock final : public LockBase {
public:
    // `ttl` at least 1 ms.
    SetNxLock(redis::Connection &connection, RedisKey key, std::chrono::milliseconds ttl, Random random);
    ~SetNxLock() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override;
    Task<Result<bool>> isStillMine(Deadline deadline) override;
    [[nodiscard]] std::function<bool(const SeenHold &)> overlooks() const override;

private:
    Task<Result<Grant>> take(Deadline deadline) override;
    Task<Result<Grant>> poll(Deadline deadline);
    Task<Result<bool>> setOnce(TokenKey ours, TokenGuard *guard, Deadline deadline);
    [[nodiscard]] bool isHeld() const override { return m_lease && !m_lease->isOver(); }
    void letGo() override;

    redis::Connection *m_connection;
    RedisKey m_key;
    std::chrono::milliseconds m_ttl;
    Random m_random;
    WaitGroup m_waitGroup;
    std::optional<Lease> m_lease;
};

} // namespace lockscope::recipes
