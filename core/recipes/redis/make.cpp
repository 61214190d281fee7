// From a recipe's id to its class: Redis.
#include "core/recipes/catalogueentry.h"
#include "core/recipes/redis/getset.h"
#include "core/recipes/redis/setnx.h"
#include "core/recipes/redis/setnxexpire.h"
#include "core/recipes/redisson/scriptlock.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

using Ttl = std::chrono::milliseconds;
using RedissonMoves = Moves (*)(const RedisKey &, const QByteArray &, Ttl);

// Null unless it is one of Redisson's locks.
RedissonMoves redissonMoves(const QByteArray &id, bool readMode)
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

std::unique_ptr<Lock> makeRedisson(RedissonMoves moves, redis::Connection &connection, const RedisKey &lock,
                                   Ttl ttl, Random random)
{
    auto &process = RedissonProcess::of(connection, random);
    return std::make_unique<ScriptLock>(connection, lock, ttl, std::move(random), [&process, moves, lock, ttl] {
        return moves(lock, process.newThread(), ttl);
    });
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

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, redis::Connection &connection, const RedisKey &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, RecipeBackend::Redis, options))
        return *no;
    if (lock.isEmpty())
        return Error{ErrorCode::BadInput, u"a lock's key cannot be empty"_s};
    if (options.ttl.count() < 1)
        return Error{ErrorCode::BadInput, u"a lease needs a TTL of at least one millisecond"_s};
    std::unique_ptr<Lock> made;
    if (const auto moves = redissonMoves(id, options.readMode))
        made = makeRedisson(moves, connection, lock, options.ttl, std::move(random));
    else if (id == "redisson-semaphore")
        made = makeSemaphore(connection, lock, options.limit, options.ttl, std::move(random));
    else if (id == "redis-setnx-expire")
        made = std::make_unique<SetNxExpireLock>(connection, lock, options.ttl, std::move(random));
    else if (id == "redis-getset")
        made = std::make_unique<GetSetLock>(connection, lock, options.ttl, std::move(random));
    else
        made = std::make_unique<SetNxLock>(connection, lock, options.ttl, std::move(random));
    return made;
}

} // namespace lockscope::recipes
