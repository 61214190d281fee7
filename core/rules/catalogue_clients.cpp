// SPDX-License-Identifier: Apache-2.0
// The locks of ZooKeeper's well-known clients: Curator and kazoo.
#include "core/rules/catalogue.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

std::vector<RecipeInfo> clientRecipes()
{
    using enum ReleaseWay;
    return {
        {.id = "curator-mutex", .summary = u"Apache Curator's InterProcessMutex"_s,
         .release = DeleteNode, .fair = true, .reentrant = true, .containers = true, .revocable = true,
         .requestsAcquireFree = u"2"_s, .requestsAcquireQueued = u"4"_s,
         .requestsRelease = u"1"_s, .wakeupsPerRelease = u"1"_s,
         .flaws = {u"its original ignores a suspended connection: the holder goes on believing"_s}},
        {.id = "curator-semaphore-mutex",
         .summary = u"Apache Curator's InterProcessSemaphoreMutex: a semaphore of one"_s,
         .release = DeleteNode, .fair = true, .containers = true,
         .requestsAcquireFree = u"5"_s, .requestsAcquireQueued = u"8, second in line 6"_s,
         .requestsRelease = u"1"_s, .wakeupsPerRelease = u"2"_s,
         .flaws = {u"each release wakes two: who gets in, and who moves up behind it"_s}},
        {.id = "curator-rwlock", .summary = u"Apache Curator's InterProcessReadWriteLock"_s,
         .release = DeleteNode, .fair = true, .reentrant = true, .readWrite = true, .containers = true,
         .revocable = true,
         .requestsAcquireFree = u"2"_s, .requestsAcquireQueued = u"write 4, read 2N"_s,
         .requestsRelease = u"1"_s, .wakeupsPerRelease = u"write 1, read N-1"_s,
         .flaws = {u"herd: readers all watch the lowest writer"_s,
                   u"a reader cannot become a writer: refused; Curator itself waits for ever"_s}},
        {.id = "curator-semaphore", .summary = u"Apache Curator's InterProcessSemaphoreV2"_s,
         .release = DeleteNode, .fair = true, .counted = true, .containers = true,
         .requestsAcquireFree = u"5"_s, .requestsAcquireQueued = u"8, second in line 6"_s,
         .requestsRelease = u"1"_s, .wakeupsPerRelease = u"2"_s,
         .flaws = {u"the number of permits is not stored: clients may disagree"_s,
                   u"each release wakes two: who gets in, and who moves up behind it"_s}},
        {.id = "curator-leader", .summary = u"Apache Curator's LeaderLatch or LeaderSelector"_s,
         .release = DeleteNode, .fair = true, .electsLeader = true},
        {.id = "kazoo-lock", .summary = u"kazoo's Lock"_s,
         .release = DeleteNode, .fair = true,
         .requestsAcquireFree = u"2"_s, .requestsAcquireQueued = u"4"_s,
         .requestsRelease = u"1"_s, .wakeupsPerRelease = u"1"_s,
         .flaws = {u"kazoo itself starts its wait again at every wake-up: its timeout may take longer than asked"_s,
                   u"ignores kazoo's read locks"_s}},
        {.id = "kazoo-rwlock", .summary = u"kazoo's ReadLock and WriteLock"_s,
         .release = DeleteNode, .fair = true, .readWrite = true,
         .requestsAcquireFree = u"2"_s, .requestsAcquireQueued = u"4"_s,
         .requestsRelease = u"1"_s, .wakeupsPerRelease = u"1"_s,
         .flaws = {u"a writer behind R readers lists again for each that leaves before an earlier one: up to "
                   "2+2R requests"_s,
                   u"a writer's release wakes all readers up to the next writer"_s,
                   u"kazoo itself, before 2.9: a reader waits for writers behind it, too, which wait for the "
                   "reader"_s,
                   u"a write lock without readers cannot be told from kazoo-lock"_s}},
        {.id = "kazoo-semaphore", .summary = u"kazoo's Semaphore"_s,
         .shape = Shape::Permits, .release = DeleteNode, .fair = true, .counted = true, .storesLimit = true,
         .requestsAcquireFree = u"5"_s, .requestsAcquireQueued = u"9"_s,
         .requestsRelease = u"1"_s, .wakeupsPerRelease = u"2"_s,
         .flaws = {u"kazoo itself takes eight requests for a free permit"_s,
                   u"kazoo itself does not look whether the guard still is its own: whoever removes the "
                   "guard's node may let one too many in"_s}},
    };
}

} // namespace lockscope::recipes
