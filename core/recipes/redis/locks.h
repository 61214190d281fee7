// SPDX-License-Identifier: Apache-2.0
// The locks on Redis that are not Redisson's; each one's rules stand in its own file.
#pragma once

#include "core/base/random.h"
#include "core/recipes/keepalive.h"
#include "core/recipes/lockbase.h"
#include "core/recipes/redis/quorumlease.h"
#include "core/recipes/redis/tokenkey.h"
#include "core/redis/connection.h"

namespace lockscope::recipes {

// What the locks by one key of one Redis share.
class KeyLock : public LockBase {
public:
    // `ttl` at least 1 ms.
    KeyLock(redis::Connection &connection, RedisKey key, std::chrono::milliseconds ttl, Random random)
        : LockBase(connection.loop(), key.bytes()), m_connection(&connection), m_key(std::move(key)), m_ttl(ttl),
          m_random(std::move(random)), m_waitGroup(connection.loop())
    {
    }
    [[nodiscard]] std::function<bool(const SeenHold &)> overlooks() const override { return standsUnderOtherKeys; }

protected:
    redis::Connection *m_connection;
    RedisKey m_key;
    std::chrono::milliseconds m_ttl;
    Random m_random;
    WaitGroup m_waitGroup;
};

// redis-set-nx: the token lock on one Redis.
class SetNxLock final : public KeyLock {
public:
    using KeyLock::KeyLock;
    ~SetNxLock() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override;
    Task<Result<bool>> isStillMine(Deadline deadline) override;

private:
    Task<Result<Grant>> take(Deadline deadline) override;
    Task<Result<Grant>> poll(Deadline deadline);
    Task<Result<bool>> setOnce(TokenKey ours, TokenGuard *guard, Deadline deadline);
    [[nodiscard]] bool isHeld() const override { return m_lease && !m_lease->isOver(); }
    void letGo() override;

    std::optional<Lease> m_lease;
};

// redis-setnx-expire: the first lock everybody writes, for teaching what is wrong with it.
class SetNxExpireLock final : public KeyLock {
public:
    // `ttl` is rounded up to whole seconds: EXPIRE takes nothing else.
    using KeyLock::KeyLock;
    ~SetNxExpireLock() override { shutDown(); }

    // True whenever there was a key to delete, whosever it was.
    Task<Result<void>> release(Deadline deadline) override;
    // Whether our time is not over and the key is there: it does not say whose it is.
    Task<Result<bool>> isStillMine(Deadline deadline) override;
    void noteTakenAway(const Grant &grant) override;

private:
    Task<Result<Grant>> take(Deadline deadline) override;
    // Until released: the recipe does not look whether its time was up.
    [[nodiscard]] bool isHeld() const override { return m_life.has_value(); }
    void letGo() override;

    std::chrono::seconds m_seconds = std::chrono::ceil<std::chrono::seconds>(m_ttl);
    std::optional<KeepAlive> m_life;
};

// redis-getset: a lock whose value says until when, for teaching what is wrong with it.
class GetSetLock final : public KeyLock {
public:
    using KeyLock::KeyLock;
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

    TokenKey m_stamp{m_key, LockValue()}; // the last one we wrote
    std::optional<KeepAlive> m_life;
};

// redlock: the token lock on a majority of several independent Redis nodes.
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
