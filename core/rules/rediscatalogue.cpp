// SPDX-License-Identifier: Apache-2.0
// The locks on Redis.
#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::recipes {

namespace {

const QString lostOnFailover = u"lost on failover: a replica that never saw the key can be promoted"_s;
const QString wakesAllProcesses = u"one release wakes every waiting process"_s;
// SUBSCRIBE and UNSUBSCRIBE among them.
const QString queuedAmongAll = u"N + 3, each in a process of its own"_s;
// What Redisson does not wait for, either.
const QString unlatched = u"1, and DEL of its latch afterwards"_s;

std::vector<RecipeInfo> tokenRecipes()
{
    using enum ReleaseMechanism;
    using enum WakeUp;
    return {
        {.id = "redis-setnx-expire",
         .summary = u"SETNX, then EXPIRE; the value is not a random token"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "SETNX, then EXPIRE"),
         .shape = Shape::Key,
         .endsBy = EndsBy::Lease,
         .wakeUp = Polling,
         .release = CompareAndDelete,
         .teachingOnly = true,
         .fenced = false,
         .namesHolder = false,
         .atomicAcquire = false,
         .counts = {.acquireFree = u"2"_s,
                    .acquireQueued = u"1 per try, and EXPIRE"_s,
                    .release = u"1"_s,
                    .wakeUps = u"0"_s},
         .flaws = {u"a crash between the two commands, or a reply that is lost, locks for ever"_s,
                   u"anyone can release it, and who works longer than its TTL releases the next one's"_s,
                   u"the TTL is not prolonged"_s, u"waiters are not woken; they poll"_s, u"not fair"_s}},
        {.id = "redis-getset",
         .summary = u"SETNX and GETSET of a timestamp: the value says until when"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "A time in the value"),
         .shape = Shape::Key,
         .endsBy = EndsBy::Timestamp,
         .wakeUp = Polling,
         .release = CompareAndDelete,
         .teachingOnly = true,
         .fenced = false,
         .namesHolder = false,
         .counts = {.acquireFree = u"1"_s,
                    .acquireQueued = u"2 per try, 3 when it takes over"_s,
                    .release = u"2"_s,
                    .wakeUps = u"0"_s},
         .flaws = {u"depends on the clocks of its clients"_s, u"a loser overwrites the winner's time"_s,
                   u"two that ask in the same millisecond write the same time, and look alike"_s,
                   u"within its time anyone can release it"_s, u"the time is not prolonged"_s,
                   u"waiters are not woken; they poll"_s, u"not fair"_s}},
        {.id = "redis-set-nx",
         .summary = u"SET NX PX with a random token, prolonged while held, released by compare-and-delete"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "Polling"),
         .shape = Shape::Key,
         .endsBy = EndsBy::Lease,
         .wakeUp = Polling,
         .release = CompareAndDelete,
         .fenced = false,
         .renewed = true,
         .counts = {.acquireFree = u"1"_s, .acquireQueued = u"1 per try"_s, .release = u"1"_s, .wakeUps = u"0"_s},
         .flaws = {u"waiters are not woken; they poll"_s, u"not fair"_s, lostOnFailover}},
        {.id = "redlock",
         .summary = u"the same token on a majority of independent Redis nodes, prolonged while held"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "Quorum of nodes"),
         .shape = Shape::Key,
         .endsBy = EndsBy::Lease,
         .wakeUp = Polling,
         .release = QuorumDelete,
         .releaseRefusal = u"the nodes it lives on are not known"_s,
         .quorum = true,
         .fenced = false,
         .renewed = true,
         .counts = {.acquireFree = u"1 per node"_s,
                    .acquireQueued = u"2 per node and failed round, then 1 per node"_s,
                    .release = u"1 per node"_s,
                    .wakeUps = u"0"_s},
         .flaws = {u"needs clocks that run alike and restarts that wait for the TTL"_s,
                   u"waiters are not woken; they poll"_s, u"not fair"_s}},
    };
}

std::vector<RecipeInfo> redissonRecipes()
{
    using enum ReleaseMechanism;
    using enum WakeUp;
    return {
        {.id = "redisson-lock",
         .summary = u"Redisson's RLock: a hash, woken by a message"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "Publish and subscribe"),
         .shape = Shape::Hash,
         .endsBy = EndsBy::Lease,
         .wakeUp = Message,
         .release = RedissonUnlock,
         .reentrant = true,
         .fenced = false,
         .renewed = true,
         .counts = {.acquireFree = u"1"_s,
                    .acquireQueued = queuedAmongAll,
                    .release = unlatched,
                    .wakeUps = u"one per waiting process"_s},
         .flaws =
             {wakesAllProcesses, u"not fair"_s,
              u"the original client does not report a failed renewal to its application, so the holder continues"_s,
              lostOnFailover}},
        {.id = "redisson-fair-lock",
         .summary = u"Redisson's RFairLock: its RLock with a queue, the first of which is woken"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "A fair queue"),
         .shape = Shape::Hash,
         .endsBy = EndsBy::Lease,
         .wakeUp = Message,
         .release = RedissonUnlock,
         .fair = true,
         .reentrant = true,
         .fenced = false,
         .renewed = true,
         .lastingQueue = true,
         .counts = {.acquireFree = u"1"_s, .acquireQueued = u"5"_s, .release = unlatched, .wakeUps = u"1"_s},
         .flaws = {u"queue and timeout keys have no TTL"_s,
                   u"a waiter that died keeps the others waiting until its time is up"_s, lostOnFailover}},
        {.id = "redisson-rwlock",
         .summary = u"Redisson's RReadWriteLock: readers share, a writer is alone"_s,
         .shape = Shape::Hash,
         .endsBy = EndsBy::Lease,
         .wakeUp = Message,
         .release = RedissonUnlock,
         .reentrant = true,
         .readWrite = true,
         .fenced = false,
         .renewed = true,
         .counts = {.acquireFree = u"1"_s,
                    .acquireQueued = queuedAmongAll,
                    .release = unlatched,
                    .wakeUps = u"a writer's: every waiter; the last reader's: one per waiting process"_s},
         .flaws = {u"readers can starve a writer"_s, u"a reader that begins to write waits for itself"_s,
                   u"not fair"_s, lostOnFailover}},
        {.id = "redisson-fenced-lock",
         .summary = u"Redisson's RFencedLock: its RLock with a fencing token"_s,
         .shape = Shape::Hash,
         .endsBy = EndsBy::Lease,
         .wakeUp = Message,
         .release = RedissonUnlock,
         .reentrant = true,
         .tellsClientsTokens = true,
         .losesTokensWithData = true,
         .renewed = true,
         .counts = {.acquireFree = u"1"_s,
                    .acquireQueued = queuedAmongAll,
                    .release = unlatched,
                    .wakeUps = u"one per waiting process"_s},
         .flaws = {u"its token is lost with the data"_s, wakesAllProcesses, u"not fair"_s, lostOnFailover}},
        {.id = "redisson-semaphore",
         .summary = u"Redisson's RPermitExpirableSemaphore (its RSemaphore is recognised, too)"_s,
         .shape = Shape::Counter,
         .endsBy = EndsBy::PermitDeadline,
         .wakeUp = Message,
         .release = RedissonPermit,
         .releaseRefusal = u"the holders of its permits are not stored, so they cannot be distinguished"_s,
         .counted = true,
         .storesLimit = true,
         .fenced = false,
         .renewed = true,
         .counts = {.acquireFree = u"1"_s,
                    .acquireQueued = queuedAmongAll,
                    .release = u"1"_s,
                    .wakeUps = u"as many as permits are left, in every waiting process"_s},
         .flaws = {u"a plain RSemaphore does not know who holds a permit"_s, wakesAllProcesses, u"not fair"_s,
                   u"the number of permits remains when no client holds one"_s, lostOnFailover}},
    };
}

// Of clients that are not played here, and of rules.
std::vector<RecipeInfo> seenRecipes()
{
    return {
        {.id = "redis-semaphore",
         .summary = u"permits as members of a sorted set, or fields of a hash"_s,
         .shape = Shape::Hash,
         .endsBy = EndsBy::Lease,
         .wakeUp = WakeUp::Polling,
         .release = ReleaseMechanism::MemberBack,
         .releaseRefusal = u"how its client returns a permit differs between versions; return it there"_s,
         .fenced = false},
        {.id = "redis-rwlock",
         .summary = u"readers as members of a set or as a count, a writer in a key"_s,
         .shape = Shape::Hash,
         .endsBy = EndsBy::Lease,
         .wakeUp = WakeUp::Polling,
         .releaseRefusal =
             u"its keys are its client's alone to change; stop the client, or wait for the end of its lease"_s,
         .readWrite = true,
         .fenced = false},
        {.id = "redis-session",
         .summary = u"a session's hash with a counter of tries, and who has it"_s,
         .shape = Shape::Hash,
         .endsBy = EndsBy::Lease,
         .wakeUp = WakeUp::Polling,
         .releaseRefusal =
             u"its key is the session: deleting it would log its visitor out, and who waits breaks the lock by itself"_s,
         .fenced = false},
        {.id = "redis-rule",
         .summary = u"a lock by a rule of yours: a hash, a sorted set, or what has no way of release"_s,
         .shape = Shape::Hash,
         .endsBy = EndsBy::Lease,
         .wakeUp = WakeUp::Polling,
         .release = ReleaseMechanism::ByRule,
         .releaseRefusal =
             u"the rule by which it was recognised has no way of release that compares whose it is (docs/rules.md)"_s,
         .fenced = false},
    };
}

} // namespace

std::vector<RecipeInfo> recipesOfRedis()
{
    auto all = tokenRecipes();
    std::ranges::move(redissonRecipes(), std::back_inserter(all));
    std::ranges::move(seenRecipes(), std::back_inserter(all));
    return all;
}

} // namespace lockscope::recipes
