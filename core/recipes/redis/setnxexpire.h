// SPDX-License-Identifier: Apache-2.0
// redis-setnx-expire: the first lock everybody writes, for teaching what is wrong with it.
#pragma once

#include "core/base/random.h"
#include "core/recipes/lockbase.h"
#include "core/recipes/keepalive.h"
#include "core/recipes/waitgroup.h"
#include "core/redis/connection.h"

namespace lockscope::recipes {

class SetNxExpireLock final : public LockBase {
public:
    // `ttl` is rounded up to whole seconds: EXPIRE takes nothing else.
    SetNxExpireLock(redis::Connection &connection, RedisKey key, std::chrono::milliseconds ttl, Random random);
    ~SetNxExpireLock() override { shutDown(); }

    // True whenever there was a key to delete, whosever it was.
    Task<Result<void>> release(Deadline deadline) override;
    // Whether our time is not over and the key is there: it does not say whose it is.
    Task<Result<bool>> isStillMine(Deadline deadline) override;
    void noteTakenAway(const Grant &grant) override;
    [[nodiscard]] std::function<bool(const SeenHold &)> overlooks() const override;

private:
    Task<Result<Grant>> take(Deadline deadline) override;
    // Until released: the recipe does not look whether its time was up.
    [[nodiscard]] bool isHeld() const override { return m_life.has_value(); }
    void letGo() override;

    redis::Connection *m_connection;
    RedisKey m_key;
    std::chrono::seconds m_ttl;
    Random m_random;
    WaitGroup m_waitGroup;
    std::optional<KeepAlive> m_life;
};

} // namespace lockscope::recipes
