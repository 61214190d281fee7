// The locks on Redis.
#include "core/recipes/catalogueentry.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

constexpr auto redisBackend = RecipeBackend::Redis;

const QString noFence = u"no fencing token"_s;

} // namespace

std::vector<RecipeInfo> redisRecipes()
{
    return {
        seenOnly(recipeEntry("redis-setnx-expire", redisBackend, TeachingOnly,
                      u"SETNX, then EXPIRE; the value is no random token"_s,
                      {u"a crash between the two commands locks for ever"_s, u"anyone can release it"_s, noFence})),
        seenOnly(recipeEntry("redis-getset", redisBackend, TeachingOnly,
                      u"SETNX and GETSET of a timestamp: the value says until when"_s,
                      {u"depends on the clocks of its clients"_s, u"a loser overwrites the winner's time"_s,
                       noFence})),
        acquirable(recipeEntry("redis-set-nx", redisBackend, 0,
                        u"SET NX PX with a random token, prolonged while held, released by compare-and-delete"_s,
                        {u"nobody is woken: waiters poll"_s, u"not fair"_s,
                         u"lost on failover: a replica that never saw the key can be promoted"_s, noFence}),
                   {u"1"_s, u"1 per try"_s, u"1"_s, u"0"_s}),
        acquirable(recipeEntry("redlock", redisBackend, 0,
                        u"the same token on a majority of independent Redis nodes, prolonged while held"_s,
                        {u"needs clocks that run alike and restarts that wait for the TTL"_s,
                         u"nobody is woken: waiters poll"_s, u"not fair"_s, noFence}),
                   {u"1 per node"_s, u"2 per node and failed round, then 1 per node"_s, u"1 per node"_s, u"0"_s}),
        seenOnly(recipeEntry("redisson-lock", redisBackend, Reentrant, u"Redisson's RLock: a hash, woken by a message"_s,
                      {u"one release wakes every waiting process"_s, noFence})),
        seenOnly(recipeEntry("redisson-fair-lock", redisBackend, Fair | Reentrant, u"Redisson's RFairLock"_s,
                      {u"queue and timeout keys have no TTL"_s, noFence})),
        seenOnly(recipeEntry("redisson-rwlock", redisBackend, Reentrant, u"Redisson's RReadWriteLock"_s,
                      {u"readers can starve a writer"_s, noFence})),
        seenOnly(recipeEntry("redisson-fenced-lock", redisBackend, Reentrant, u"Redisson's RFencedLock"_s,
                      {u"its token is lost with the data"_s})),
        seenOnly(recipeEntry("redisson-semaphore", redisBackend, 0, u"Redisson's RSemaphore and RPermitExpirableSemaphore"_s,
                      {u"a plain semaphore does not know who holds a permit"_s})),
    };
}

} // namespace lockscope::recipes
