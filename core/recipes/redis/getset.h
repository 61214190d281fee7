// SPDX-License-Identifier: Apache-2.0
// redis-getset: a lock whose value says until when, for teaching what is wrong with it.
#pragma once

#include "core/base/random.h"
#include "core/recipes/lockbase.h"
#include "core/recipes/keepalive.h"
#include "core/recipes/redis/tokenkey.h"
#include "core/recipes/waitgroup.h"

namespace lockscope::recipes {

class GetSetLock final : public LockBase {
public:
    GetSetLock(redis::Connection &connection, RedisKey key, std::chrono::milliseconds ttl, Random random);
    ~GetSetLock() override { shutDown(); }

    // NotHeld when the time that the key says is past: then it is left alone.
    Task<Result<void>> release(Deadline deadline) override;
    // Whether our time is not over and the key says one that is not past: a loser may have changed it.
    Task<Result<bool>> isStillMine(Deadline deadline) override;

    [[nodiscard]] std::function<bool(const SeenHold &)> overlooks() const override;

private:
    Task<Result<Grant>> take(Deadline deadline) override;
    // Until released: the recipe looks at the clock only then.
    [[nodiscard]] bool isHeld() const override { return m_life.has_value(); }
    void letGo() override;

    redis::Connection *m_connection;
    TokenKey m_stamp; // the last one we wrote
    std::chrono::milliseconds m_ttl;
    Random m_random;
    WaitGroup m_waitGroup;
    std::optional<KeepAlive> m_life;
};

} // namespace lockscope::recipes
