#include "core/recipes/catalogue.h"

#include "core/base/text.h"
#include "core/recipes/redis/setnx.h"
#include "core/recipes/zookeeper/ephemeral.h"
#include "core/recipes/zookeeper/herdmutex.h"
#include "core/recipes/zookeeper/queuemutex.h"

#include <algorithm>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

constexpr auto zookeeper = RecipeBackend::ZooKeeper;
constexpr auto redisBackend = RecipeBackend::Redis;
constexpr auto mariaDb = RecipeBackend::MariaDb;

enum Trait { Fair = 1, Reentrant = 2, TeachingOnly = 4 };

struct Requests {
    QString acquireFree;
    QString acquireQueued;
    QString release;
    QString wakeups;
};

RecipeInfo info(const QByteArray &id, RecipeBackend backend, int traits, const QString &summary,
                std::vector<QString> flaws)
{
    RecipeInfo recipe;
    recipe.id = id;
    recipe.backend = backend;
    recipe.summary = summary;
    recipe.fair = (traits & Fair) != 0;
    recipe.reentrant = (traits & Reentrant) != 0;
    recipe.teachingOnly = (traits & TeachingOnly) != 0;
    recipe.flaws = std::move(flaws);
    return recipe;
}

RecipeInfo acquirable(RecipeInfo recipe, const Requests &requests)
{
    recipe.acquirable = true;
    recipe.requestsAcquireFree = requests.acquireFree;
    recipe.requestsAcquireQueued = requests.acquireQueued;
    recipe.requestsRelease = requests.release;
    recipe.wakeupsPerRelease = requests.wakeups;
    return recipe;
}

RecipeInfo seenOnly(RecipeInfo recipe)
{
    recipe.flaws.insert(recipe.flaws.begin(), u"recognised only: this build does not acquire it"_s);
    return recipe;
}

const QString noFence = u"no fencing token"_s;

std::vector<RecipeInfo> zookeeperRecipes()
{
    return {
        acquirable(info("zk-ephemeral", zookeeper, 0, u"one plain ephemeral node; every waiter watches it"_s,
                        {u"herd: one release wakes every waiter, and each of them tries a create"_s,
                         u"not fair: whoever is fastest gets in, and a waiter may starve"_s,
                         u"the name does not tell the holder: after a force-release, a late release by the old "
                         "holder deletes the next one's node"_s}),
                   {u"1"_s, u"2N-1"_s, u"1"_s, u"N-1"_s}),
        acquirable(info("zk-herd-mutex", zookeeper, Fair | TeachingOnly,
                        u"ephemeral sequential nodes; every waiter watches the children"_s,
                        {u"herd: one release wakes every waiter, and so does every arrival"_s,
                         u"each wake-up lists the whole queue again: bytes grow with the cube of the waiters"_s}),
                   {u"2"_s, u"N+1"_s, u"1"_s, u"N-1"_s}),
        acquirable(info("zk-mutex", zookeeper, Fair,
                        u"ephemeral sequential nodes, each waiter watches its predecessor; Curator's names"_s,
                        {u"not reentrant: a second acquire by the holder waits for itself"_s}),
                   {u"2"_s, u"4"_s, u"1"_s, u"1"_s}),
        seenOnly(info("zk-eager-mutex", zookeeper, Fair,
                      u"zk-mutex's layout with a faster hand-off: the event alone can grant"_s,
                      {u"three wake-ups per release instead of one"_s})),
        seenOnly(info("zk-flat-mutex", zookeeper, Fair, u"several locks in one directory, <lock>_lock_<seq>"_s,
                      {u"all locks share one counter and one child list"_s})),
        seenOnly(info("zk-shared-herd", zookeeper, Fair | TeachingOnly,
                      u"read/write lock, <host>-R-<seq> and <host>-W-<seq>; every waiter watches the children"_s,
                      {u"herd: one release wakes every waiter"_s})),
        seenOnly(info("zk-shared", zookeeper, Fair,
                      u"read/write lock, <host>-R-<seq> and <host>-W-<seq>; each waiter watches one node"_s, {})),
        seenOnly(info("zk-election", zookeeper, 0, u"the leader node or election queue of a known system"_s, {})),
        seenOnly(info("zk-lease", zookeeper, 0, u"a node that says until when it is locked"_s,
                      {u"depends on the clocks of its clients"_s})),
        seenOnly(info("zookeeper-recipe-lock", zookeeper, Fair, u"ZooKeeper's own lock recipe, x-<session>-<seq>"_s,
                      {u"a waiter whose predecessor vanishes early gives up its place (C recipe)"_s})),
    };
}

std::vector<RecipeInfo> clientRecipes()
{
    return {
        seenOnly(info("curator-mutex", zookeeper, Fair | Reentrant, u"Apache Curator's InterProcessMutex"_s,
                      {u"ignores a suspended connection: the holder goes on believing"_s})),
        seenOnly(info("curator-semaphore-mutex", zookeeper, Fair,
                      u"Apache Curator's InterProcessSemaphoreMutex: a semaphore of one"_s, {})),
        seenOnly(info("curator-rwlock", zookeeper, Fair | Reentrant, u"Apache Curator's InterProcessReadWriteLock"_s,
                      {u"herd: readers all watch the lowest writer"_s})),
        seenOnly(info("curator-semaphore", zookeeper, Fair, u"Apache Curator's InterProcessSemaphoreV2"_s,
                      {u"the number of permits is not stored: clients may disagree"_s})),
        seenOnly(info("curator-leader", zookeeper, Fair, u"Apache Curator's LeaderLatch or LeaderSelector"_s, {})),
        seenOnly(info("kazoo-lock", zookeeper, Fair, u"kazoo's Lock"_s,
                      {u"the wait starts again at every wake-up: a timeout may take longer than asked"_s,
                       u"ignores kazoo's read locks"_s})),
        seenOnly(info("kazoo-rwlock", zookeeper, Fair, u"kazoo's ReadLock and WriteLock"_s, {})),
        seenOnly(info("kazoo-semaphore", zookeeper, Fair, u"kazoo's Semaphore"_s,
                      {u"eight requests to acquire a free permit"_s})),
    };
}

std::vector<RecipeInfo> redisRecipes()
{
    return {
        seenOnly(info("redis-setnx-expire", redisBackend, TeachingOnly,
                      u"SETNX, then EXPIRE; the value is no random token"_s,
                      {u"a crash between the two commands locks for ever"_s, u"anyone can release it"_s, noFence})),
        seenOnly(info("redis-getset", redisBackend, TeachingOnly,
                      u"SETNX and GETSET of a timestamp: the value says until when"_s,
                      {u"depends on the clocks of its clients"_s, u"a loser overwrites the winner's time"_s,
                       noFence})),
        acquirable(info("redis-set-nx", redisBackend, 0,
                        u"SET NX PX with a random token, prolonged while held, released by compare-and-delete"_s,
                        {u"nobody is woken: waiters poll"_s, u"not fair"_s,
                         u"lost on failover: a replica that never saw the key can be promoted"_s, noFence}),
                   {u"1"_s, u"1 per try"_s, u"1"_s, u"0"_s}),
        seenOnly(info("redlock", redisBackend, 0, u"the same token on a majority of independent Redis nodes"_s,
                      {u"needs clocks that run alike and restarts that wait for the TTL"_s, noFence})),
        seenOnly(info("redisson-lock", redisBackend, Reentrant, u"Redisson's RLock: a hash, woken by a message"_s,
                      {u"one release wakes every waiting process"_s, noFence})),
        seenOnly(info("redisson-fair-lock", redisBackend, Fair | Reentrant, u"Redisson's RFairLock"_s,
                      {u"queue and timeout keys have no TTL"_s, noFence})),
        seenOnly(info("redisson-rwlock", redisBackend, Reentrant, u"Redisson's RReadWriteLock"_s,
                      {u"readers can starve a writer"_s, noFence})),
        seenOnly(info("redisson-fenced-lock", redisBackend, Reentrant, u"Redisson's RFencedLock"_s,
                      {u"its token is lost with the data"_s})),
        seenOnly(info("redisson-semaphore", redisBackend, 0, u"Redisson's RSemaphore and RPermitExpirableSemaphore"_s,
                      {u"a plain semaphore does not know who holds a permit"_s})),
    };
}

std::vector<RecipeInfo> sqlRecipes()
{
    return {
        seenOnly(info("sql-for-update", mariaDb, 0, u"a row locked by SELECT … FOR UPDATE"_s,
                      {u"a server shows it only while contended"_s})),
        seenOnly(info("sql-version", mariaDb, 0, u"optimistic: a version column, compared when writing"_s,
                      {u"nothing is held, so nothing can be seen"_s})),
        seenOnly(info("sql-get-lock", mariaDb, Reentrant, u"a lock named by GET_LOCK"_s,
                      {u"not replicated: each server has its own"_s})),
    };
}

// Why this recipe cannot be made here with these options.
std::optional<Error> objection(const QByteArray &id, RecipeBackend backend, const AcquireOptions &options)
{
    const auto *recipe = findRecipe(id);
    const auto name = label(id);
    if (!recipe)
        return Error{ErrorCode::BadInput, u"there is no recipe \"%1\"; see lockscopectl recipes"_s.arg(name)};
    if (recipe->backend != backend)
        return Error{ErrorCode::BadInput, u"recipe %1 is for another kind of server"_s.arg(name)};
    if (!recipe->acquirable)
        return Error{ErrorCode::Unsupported, u"recipe %1 can be seen but not acquired"_s.arg(name)};
    if (options.readMode)
        return Error{ErrorCode::BadInput, u"recipe %1 has no read mode"_s.arg(name)};
    if (options.limit != 1)
        return Error{ErrorCode::BadInput, u"recipe %1 has one permit, not %2"_s.arg(name).arg(options.limit)};
    return std::nullopt;
}

} // namespace

const std::vector<RecipeInfo> &catalogue()
{
    static const auto all = [] {
        auto recipes = zookeeperRecipes();
        for (auto part : {clientRecipes(), redisRecipes(), sqlRecipes()})
            std::move(part.begin(), part.end(), std::back_inserter(recipes));
        return recipes;
    }();
    return all;
}

const RecipeInfo *findRecipe(const QByteArray &id)
{
    const auto at = std::find_if(catalogue().begin(), catalogue().end(),
                                 [&](const RecipeInfo &recipe) { return recipe.id == id; });
    return at == catalogue().end() ? nullptr : &*at;
}

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objection(id, zookeeper, options))
        return *no;
    if (!lock.bytes().startsWith('/') || lock.isRoot())
        return Error{ErrorCode::BadInput, u"\"%1\" is no path of a lock"_s.arg(label(lock.bytes()))};
    std::unique_ptr<Lock> made;
    if (id == "zk-ephemeral")
        made = std::make_unique<EphemeralLock>(session, lock, std::move(random));
    else if (id == "zk-herd-mutex")
        made = std::make_unique<HerdMutex>(session, lock, std::move(random));
    else
        made = std::make_unique<QueueMutex>(session, lock, std::move(random));
    return made;
}

Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, redis::Connection &connection, const RedisKey &lock,
                                       const AcquireOptions &options, Random random)
{
    if (const auto no = objection(id, redisBackend, options))
        return *no;
    if (lock.isEmpty())
        return Error{ErrorCode::BadInput, u"a lock's key cannot be empty"_s};
    if (options.ttl.count() < 1)
        return Error{ErrorCode::BadInput, u"a lease needs a TTL of at least one millisecond"_s};
    std::unique_ptr<Lock> made = std::make_unique<SetNxLock>(connection, lock, options.ttl, std::move(random));
    return made;
}

} // namespace lockscope::recipes
