// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/redisson/make.h"

#include "core/recipes/redisson/scriptlock.h"

namespace lockscope::recipes::redisson {

namespace {

using Ttl = std::chrono::milliseconds;
using MovesOf = Moves (*)(const RedisKey &, const QByteArray &, Ttl);

// Null unless it is one of those that know their holder by process and thread.
MovesOf movesOf(const QByteArray &id, bool readMode)
{
    if (id == "redisson-lock")
        return redissonLock;
    if (id == "redisson-fair-lock")
        return redissonFairLock;
    if (id == "redisson-fenced-lock")
        return redissonFencedLock;
    if (id == "redisson-rwlock")
        return readMode ? redissonReadLock : redissonWriteLock;
    return nullptr;
}

std::unique_ptr<Lock> makeSemaphore(redis::Connection &connection, const RedisKey &lock, int limit, Ttl ttl,
                                    Random random)
{
    auto permits = std::make_shared<Random>(random.next());
    return std::make_unique<ScriptLock>(connection, lock, ttl, std::move(random), [permits, lock, limit, ttl] {
        return redissonPermit(lock, permits->bytes(16), limit, ttl);
    });
}

} // namespace

std::unique_ptr<Lock> make(const QByteArray &id, redis::Connection &connection, const RedisKey &lock,
                           const AcquireOptions &options, Random random)
{
    const auto ttl = options.ttl;
    if (id == "redisson-semaphore")
        return makeSemaphore(connection, lock, options.limit, ttl, std::move(random));
    const auto moves = movesOf(id, options.readMode);
    if (!moves)
        return nullptr;
    auto &process = RedissonProcess::of(connection, random);
    return std::make_unique<ScriptLock>(connection, lock, ttl, std::move(random), [&process, moves, lock, ttl] {
        return moves(lock, process.newThread(), ttl);
    });
}

} // namespace lockscope::recipes::redisson
