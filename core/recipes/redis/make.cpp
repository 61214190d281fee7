// SPDX-License-Identifier: Apache-2.0
// From a recipe's id to its class: Redis.
#include "core/recipes/make.h"
#include "core/recipes/redis/getset.h"
#include "core/recipes/redis/redlock.h"
#include "core/recipes/redis/setnx.h"
#include "core/recipes/redis/setnxexpire.h"
#include "core/recipes/redisson/make.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

std::optional<Error> objectionTo(const QByteArray &id, const RedisKey &lock, const AcquireOptions &options)
{
    if (auto no = objectionTo(id, RecipeBackend::Redis, options))
        return no;
    if (lock.isEmpty())
        return Error{ErrorCode::BadInput, u"a lock's key cannot be empty"_s};
    if (options.ttl.count() < 1)
        return Error{ErrorCode::BadInput, u"a lease needs a TTL of at least one millisecond"_s};
    return std::nullopt;
}

std::unique_ptr<Lock> makeToken(const QByteArray &id, redis::Connection &connection, const RedisKey &lock,
                                const AcquireOptions &options, Random random)
{
    if (id == "redis-setnx-expire")
        return std::make_unique<SetNxExpireLock>(connection, lock, options.ttl, std::move(random));
    if (id == "redis-getset")
        return std::make_unique<GetSetLock>(connection, lock, options.ttl, std::move(random));
    if (id == "redis-set-nx")
        return std::make_unique<SetNxLock>(connection, lock, options.ttl, std::move(random));
    return nullptr;
}

} // namespace

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, redis::Connection &connection, const RedisKey &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, lock, options))
        return *no;
    if (id == "redlock")
        return Error{ErrorCode::BadInput,
                     u"redlock needs a set of independent nodes, and this is one Redis: connect redis://a,b,c"_s};
    for (const auto make : {makeToken, redisson::make}) {
        if (auto made = make(id, connection, lock, options, random))
            return made;
    }
    return Error{ErrorCode::Unsupported, u"recipe %1 cannot be made here"_s.arg(QString::fromUtf8(id))};
}

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, const std::vector<redis::Connection *> &nodes,
                                       const RedisKey &lock, const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, lock, options))
        return *no;
    if (id != "redlock")
        return Error{ErrorCode::BadInput,
                     u"recipe %1 is for one Redis, and this is a set of nodes, which takes redlock: connect one of "
                     u"them by itself"_s.arg(QString::fromUtf8(id))};
    if (nodes.empty())
        return Error{ErrorCode::BadInput, u"redlock needs at least one node"_s};
    std::unique_ptr<Lock> made = std::make_unique<RedlockLock>(nodes, lock, options.ttl, std::move(random));
    return made;
}

} // namespace lockscope::recipes
