// The locks of ZooKeeper's well-known clients: Curator and kazoo.
#include "core/recipes/catalogueentry.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

constexpr auto zookeeper = RecipeBackend::ZooKeeper;

} // namespace

std::vector<RecipeInfo> clientRecipes()
{
    return {
        seenOnly(recipeEntry("curator-mutex", zookeeper, Fair | Reentrant, u"Apache Curator's InterProcessMutex"_s,
                      {u"ignores a suspended connection: the holder goes on believing"_s})),
        seenOnly(recipeEntry("curator-semaphore-mutex", zookeeper, Fair,
                      u"Apache Curator's InterProcessSemaphoreMutex: a semaphore of one"_s, {})),
        seenOnly(recipeEntry("curator-rwlock", zookeeper, Fair | Reentrant, u"Apache Curator's InterProcessReadWriteLock"_s,
                      {u"herd: readers all watch the lowest writer"_s})),
        seenOnly(recipeEntry("curator-semaphore", zookeeper, Fair, u"Apache Curator's InterProcessSemaphoreV2"_s,
                      {u"the number of permits is not stored: clients may disagree"_s})),
        seenOnly(recipeEntry("curator-leader", zookeeper, Fair, u"Apache Curator's LeaderLatch or LeaderSelector"_s, {})),
        seenOnly(recipeEntry("kazoo-lock", zookeeper, Fair, u"kazoo's Lock"_s,
                      {u"the wait starts again at every wake-up: a timeout may take longer than asked"_s,
                       u"ignores kazoo's read locks"_s})),
        seenOnly(recipeEntry("kazoo-rwlock", zookeeper, Fair, u"kazoo's ReadLock and WriteLock"_s, {})),
        seenOnly(recipeEntry("kazoo-semaphore", zookeeper, Fair, u"kazoo's Semaphore"_s,
                      {u"eight requests to acquire a free permit"_s})),
    };
}

} // namespace lockscope::recipes
