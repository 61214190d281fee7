// SPDX-License-Identifier: Apache-2.0
// From a recipe's id to its class: Redis.
#include "core/recipes/make.h"
#include "core/recipes/redis/locks.h"
#include "core/recipes/redisson/scriptlock.h"

namespace lockscope::recipes {

namespace {

std::optional<Error> objectionTo(const QByteArray &id, const RedisKey &lock, const AcquireOptions &options)
{
    if (auto no = objectionTo(id, BackendKind::Redis, options))
        return no;
    if (lock.isEmpty())
        return Error{ErrorCode::BadInput, u"a lock's key cannot be empty"_s};
    if (options.ttl.count() < 1)
        return Error{ErrorCode::BadInput, u"a lease needs a TTL of at least one millisecond"_s};
    return std::nullopt;
}

using MadeOnRedis = std::unique_ptr<Lock> (*)(redis::Connection &, const RedisKey &, const AcquireOptions &, Random);

template <class Recipe>
std::unique_ptr<Lock> leased(redis::Connection &connection, const RedisKey &lock, const AcquireOptions &options,
                             Random random)
{
    return std::make_unique<Recipe>(connection, lock, options.ttl, std::move(random));
}

// Of Redisson's, those that know their holder by process and thread.
template <auto calls, auto readCalls = calls>
std::unique_ptr<Lock> scripted(redis::Connection &connection, const RedisKey &lock, const AcquireOptions &options,
                               Random random)
{
    auto &process = RedissonProcess::of(connection, random);
    const auto callsOf = options.readMode ? readCalls : calls;
    return std::make_unique<ScriptLock>(
        connection, lock, options.ttl, std::move(random),
        [&process, callsOf, lock, ttl = options.ttl] { return callsOf(lock, process.newThread(), ttl); });
}

std::unique_ptr<Lock> permit(redis::Connection &connection, const RedisKey &lock, const AcquireOptions &options,
                             Random random)
{
    auto permits = std::make_shared<Random>(random.next());
    return std::make_unique<ScriptLock>(connection, lock, options.ttl, std::move(random), [permits, lock, options] {
        return redissonPermit(lock, permits->bytes(16), {options.limit, options.isLimitGiven}, options.ttl);
    });
}

const std::map<QByteArray, MadeOnRedis> &redisMakers()
{
    static const std::map<QByteArray, MadeOnRedis> all{
        {"redis-setnx-expire", leased<SetNxExpireLock>},
        {"redis-getset", leased<GetSetLock>},
        {"redis-set-nx", leased<SetNxLock>},
        {"redisson-lock", scripted<redissonLock>},
        {"redisson-fair-lock", scripted<redissonFairLock>},
        {"redisson-rwlock", scripted<redissonWriteLock, redissonReadLock>},
        {"redisson-fenced-lock", scripted<redissonFencedLock>},
        {"redisson-semaphore", permit},
    };
    return all;
}

} // namespace

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, redis::Connection &connection, const RedisKey &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, lock, options))
        return *no;
    if (recipeOf(id).quorum)
        return Error{ErrorCode::BadInput,
                     u"redlock needs a set of independent nodes, and this is one Redis: connect redis://a,b,c"_s};
    const auto maker = redisMakers().find(id);
    if (maker == redisMakers().end())
        return Error{ErrorCode::Unsupported, u"recipe %1 cannot be made here"_s.arg(QString::fromUtf8(id))};
    return maker->second(connection, lock, options, std::move(random));
}

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, const std::vector<redis::Connection *> &nodes,
                                       const RedisKey &lock, const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, lock, options))
        return *no;
    if (!recipeOf(id).quorum)
        return Error{ErrorCode::BadInput,
                     u"recipe %1 is for one Redis, and this is a set of nodes, which takes redlock: connect one of "
                     u"them by itself"_s.arg(QString::fromUtf8(id))};
    if (nodes.empty())
        return Error{ErrorCode::BadInput, u"redlock needs at least one node"_s};
    std::unique_ptr<Lock> made = std::make_unique<RedlockLock>(nodes, lock, options.ttl, std::move(random));
    return made;
}

} // namespace lockscope::recipes
