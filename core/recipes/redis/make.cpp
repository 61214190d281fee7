// From a recipe's id to its class: Redis.
#include "core/recipes/catalogueentry.h"
#include "core/recipes/redis/setnx.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, redis::Connection &connection, const RedisKey &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objectionTo(id, RecipeBackend::Redis, options))
        return *no;
    if (lock.isEmpty())
        return Error{ErrorCode::BadInput, u"a lock's key cannot be empty"_s};
    if (options.ttl.count() < 1)
        return Error{ErrorCode::BadInput, u"a lease needs a TTL of at least one millisecond"_s};
    std::unique_ptr<Lock> made = std::make_unique<SetNxLock>(connection, lock, options.ttl, std::move(random));
    return made;
}

} // namespace lockscope::recipes
