// SPDX-License-Identifier: Apache-2.0
// The locks on Redis.
#include "core/rules/catalogueentry.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

constexpr auto redisBackend = RecipeBackend::Redis;

const QString lostOnFailover = u"lost on failover: a replica that never saw the key can be promoted"_s;
// SUBSCRIBE and UNSUBSCRIBE among them.
const QString queuedAmongAll = u"N + 3, each in a process of its own"_s;
// What Redisson does not wait for, either.
const QString unlatched = u"1, and DEL of its latch afterwards"_s;

} // namespace

std::vector<RecipeInfo> redisRecipes()
{
    return {
        acquirable(recipeEntry("redis-setnx-expire", redisBackend, TeachingOnly,
                        u"SETNX, then EXPIRE; the value is no random token"_s,
                        {u"a crash between the two commands, or a reply that is lost, locks for ever"_s,
                         u"anyone can release it, and who works longer than its TTL releases the next one's"_s,
                         u"the TTL is not prolonged"_s, u"nobody is woken: waiters poll"_s, u"not fair"_s, noFencingToken()}),
                   {u"2"_s, u"1 per try, and EXPIRE"_s, u"1"_s, u"0"_s}),
        acquirable(recipeEntry("redis-getset", redisBackend, TeachingOnly,
                        u"SETNX and GETSET of a timestamp: the value says until when"_s,
                        {u"depends on the clocks of its clients"_s, u"a loser overwrites the winner's time"_s,
                         u"two that ask in the same millisecond write the same time, and look alike"_s,
                         u"within its time anyone can release it"_s, u"the time is not prolonged"_s,
                         u"nobody is woken: waiters poll"_s, u"not fair"_s, noFencingToken()}),
                   {u"1"_s, u"2 per try, 3 when it takes over"_s, u"2"_s, u"0"_s}),
        acquirable(recipeEntry("redis-set-nx", redisBackend, 0,
                        u"SET NX PX with a random token, prolonged while held, released by compare-and-delete"_s,
                        {u"nobody is woken: waiters poll"_s, u"not fair"_s, lostOnFailover, noFencingToken()}),
                   {u"1"_s, u"1 per try"_s, u"1"_s, u"0"_s}),
        acquirable(recipeEntry("redlock", redisBackend, 0,
                        u"the same token on a majority of independent Redis nodes, prolonged while held"_s,
                        {u"needs clocks that run alike and restarts that wait for the TTL"_s,
                         u"nobody is woken: waiters poll"_s, u"not fair"_s, noFencingToken()}),
                   {u"1 per node"_s, u"2 per node and failed round, then 1 per node"_s, u"1 per node"_s, u"0"_s}),
        acquirable(recipeEntry("redisson-lock", redisBackend, Reentrant,
                        u"Redisson's RLock: a hash, woken by a message"_s,
                        {u"one release wakes every waiting process"_s, u"not fair"_s, lostOnFailover, noFencingToken()}),
                   {u"1"_s, queuedAmongAll, unlatched, u"one per waiting process"_s}),
        acquirable(recipeEntry("redisson-fair-lock", redisBackend, Fair | Reentrant,
                        u"Redisson's RFairLock: its RLock with a queue, the first of which is woken"_s,
                        {u"queue and timeout keys have no TTL"_s,
                         u"a waiter that died keeps the others waiting until its time is up"_s, lostOnFailover, noFencingToken()}),
                   {u"1"_s, u"5"_s, unlatched, u"1"_s}),
        acquirable(recipeEntry("redisson-rwlock", redisBackend, Reentrant | ReadWrite,
                        u"Redisson's RReadWriteLock: readers share, a writer is alone"_s,
                        {u"readers can starve a writer"_s, u"a reader that begins to write waits for itself"_s,
                         u"not fair"_s, lostOnFailover, noFencingToken()}),
                   {u"1"_s, queuedAmongAll, unlatched,
                    u"a writer's: every waiter; the last reader's: one per waiting process"_s}),
        acquirable(recipeEntry("redisson-fenced-lock", redisBackend, Reentrant,
                        u"Redisson's RFencedLock: its RLock with a fencing token"_s,
                        {u"its token is lost with the data"_s, u"one release wakes every waiting process"_s,
                         u"not fair"_s, lostOnFailover}),
                   {u"1"_s, queuedAmongAll, unlatched, u"one per waiting process"_s}),
        acquirable(recipeEntry("redisson-semaphore", redisBackend, Counted,
                        u"Redisson's RPermitExpirableSemaphore (its RSemaphore is recognised, too)"_s,
                        {u"a plain RSemaphore does not know who holds a permit"_s,
                         u"one release wakes every waiting process"_s, u"not fair"_s,
                         u"the number of permits stays when nobody holds one"_s, lostOnFailover, noFencingToken()}),
                   {u"1"_s, queuedAmongAll, u"1"_s, u"as many as permits are left, in every waiting process"_s}),
    };
}

} // namespace lockscope::recipes
