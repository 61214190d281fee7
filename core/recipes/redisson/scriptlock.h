// SPDX-License-Identifier: Apache-2.0
// What all of Redisson's locks share: they enter by one script, wait for a message, renew a lease while
// they hold, and leave by one script. Which scripts those are is the recipe (scriptset.h).
#pragma once

#include "core/recipes/lockbase.h"
#include "core/recipes/keepalive.h"
#include "core/recipes/redisson/process.h"
#include "core/recipes/redisson/scriptcalls.h"

namespace lockscope::recipes {

class ScriptLock final : public LockBase {
public:
    // Makes the scripts of one holder; called again when another id is needed: for a permit with every
    // hold, for the others after something of the last hold may still be under way.
    using Recipe = std::function<ScriptSet()>;

    ScriptLock(redis::Connection &connection, const RedisKey &key, std::chrono::milliseconds ttl, Random random,
               Recipe recipe);
    ~ScriptLock() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override;
    Task<Result<bool>> isStillMine(Deadline deadline) override;
    [[nodiscard]] std::function<bool(const SeenHold &)> overlooks() const override;
    [[nodiscard]] int holdCount() const override { return isHeld() ? static_cast<int>(m_held->count) : 0; }

private:
    struct Held {
        Held(Grant what, qint64 times, Loop &loop, std::chrono::milliseconds ttl, Instant asked,
             KeepAlive::Prolong prolong, std::function<void(Loss)> onEnd)
            : grant(std::move(what)), count(times), life(loop, ttl, asked, std::move(prolong), std::move(onEnd))
        {
        }
        Grant grant;
        qint64 count;
        KeepAlive life;
    };

    Task<Result<Grant>> take(Deadline deadline) override;
    Task<Result<Grant>> enter(Deadline deadline);
    Task<Result<Grant>> reenter(Deadline deadline) override;
    Grant hold(const Entered &entered, Instant asked);
    // It is not ours any more, and we learn of it.
    void forfeit();
    [[nodiscard]] bool isHeld() const override { return m_held && !m_held->life.isOver(); }
    void letGo() override;

    redis::Connection *m_connection;
    std::chrono::milliseconds m_ttl;
    Random m_random;
    Recipe m_recipe;
    ScriptSet m_scripts;
    bool m_needsNewId = false;
    WaitGroup m_waitGroup;
    std::optional<Held> m_held;
};

} // namespace lockscope::recipes
