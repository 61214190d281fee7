// SPDX-License-Identifier: Apache-2.0
// The locks of ZooKeeper's well-known clients: Curator and kazoo.
#include "core/rules/catalogueentry.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

std::vector<RecipeInfo> clientRecipes()
{
    constexpr auto zookeeper = RecipeBackend::ZooKeeper;
    return {
        acquirable(recipeEntry("curator-mutex", zookeeper, Fair | Reentrant, u"Apache Curator's InterProcessMutex"_s,
                        {u"its original ignores a suspended connection: the holder goes on believing"_s}),
                   {u"2"_s, u"4"_s, u"1"_s, u"1"_s}),
        acquirable(recipeEntry("curator-semaphore-mutex", zookeeper, Fair,
                        u"Apache Curator's InterProcessSemaphoreMutex: a semaphore of one"_s,
                        {u"each release wakes two: who gets in, and who moves up behind it"_s}),
                   {u"5"_s, u"8, second in line 6"_s, u"1"_s, u"2"_s}),
        acquirable(recipeEntry("curator-rwlock", zookeeper, Fair | Reentrant | ReadWrite,
                        u"Apache Curator's InterProcessReadWriteLock"_s,
                        {u"herd: readers all watch the lowest writer"_s,
                         u"a reader cannot become a writer: refused; Curator itself waits for ever"_s}),
                   {u"2"_s, u"write 4, read 2N"_s, u"1"_s, u"write 1, read N-1"_s}),
        acquirable(recipeEntry("curator-semaphore", zookeeper, Fair | Counted,
                        u"Apache Curator's InterProcessSemaphoreV2"_s,
                        {u"the number of permits is not stored: clients may disagree"_s,
                         u"each release wakes two: who gets in, and who moves up behind it"_s}),
                   {u"5"_s, u"8, second in line 6"_s, u"1"_s, u"2"_s}),
        seenOnly(recipeEntry("curator-leader", zookeeper, Fair, u"Apache Curator's LeaderLatch or LeaderSelector"_s, {})),
        acquirable(recipeEntry("kazoo-lock", zookeeper, Fair, u"kazoo's Lock"_s,
                        {u"kazoo itself starts its wait again at every wake-up: its timeout may take longer than asked"_s,
                         u"ignores kazoo's read locks"_s}),
                   {u"2"_s, u"4"_s, u"1"_s, u"1"_s}),
        acquirable(recipeEntry("kazoo-rwlock", zookeeper, Fair | ReadWrite, u"kazoo's ReadLock and WriteLock"_s,
                        {u"a writer behind R readers lists again for each that leaves before an earlier one: up to "
                         "2+2R requests"_s,
                         u"a writer's release wakes all readers up to the next writer"_s,
                         u"kazoo itself, before 2.9: a reader waits for writers behind it, too, which wait for the reader"_s,
                         u"a write lock without readers cannot be told from kazoo-lock"_s}),
                   {u"2"_s, u"4"_s, u"1"_s, u"1"_s}),
        acquirable(recipeEntry("kazoo-semaphore", zookeeper, Fair | Counted, u"kazoo's Semaphore"_s,
                        {u"kazoo itself takes eight requests for a free permit"_s,
                         u"kazoo itself does not look whether the guard still is its own: whoever removes the "
                         "guard's node may let one too many in"_s}),
                   {u"5"_s, u"9"_s, u"1"_s, u"2"_s}),
    };
}

} // namespace lockscope::recipes
