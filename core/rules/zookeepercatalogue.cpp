// SPDX-License-Identifier: Apache-2.0
// The textbook recipes on ZooKeeper, and what is only seen there.
#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::recipes {

namespace {

// The locks of ZooKeeper's well-known clients: Curator and kazoo.
std::vector<RecipeInfo> zooKeeperClientRecipes()
{
    using enum ReleaseMechanism;
    return {
        {.id = "curator-mutex",
         .summary = u"Apache Curator's InterProcessMutex"_s,
         .listedWatch = ListedWatch::Always,
         .release = DeleteNode,
         .fair = true,
         .reentrant = true,
         .containers = true,
         .revocable = true,
         .counts = {.acquireFree = u"2"_s, .acquireQueued = u"4"_s, .release = u"1"_s, .wakeUps = u"1"_s},
         .flaws = {u"the original client ignores a suspended connection, so the holder continues"_s}},
        {.id = "curator-semaphore-mutex",
         .summary = u"Apache Curator's InterProcessSemaphoreMutex: a semaphore of one"_s,
         .release = DeleteNode,
         .fair = true,
         .containers = true,
         .counts =
             {.acquireFree = u"5"_s, .acquireQueued = u"8, second in line 6"_s, .release = u"1"_s, .wakeUps = u"2"_s},
         .flaws = {u"each release wakes two: who gets in, and who moves up behind it"_s}},
        {.id = "curator-rwlock",
         .summary = u"Apache Curator's InterProcessReadWriteLock"_s,
         .listedWatch = ListedWatch::Always,
         .release = DeleteNode,
         .fair = true,
         .reentrant = true,
         .readWrite = true,
         .containers = true,
         .revocable = true,
         .counts = {.acquireFree = u"2"_s,
                    .acquireQueued = u"write 4, read 2N"_s,
                    .release = u"1"_s,
                    .wakeUps = u"write 1, read N-1"_s},
         .flaws = {u"herd: readers all watch the lowest writer"_s,
                   u"a reader cannot become a writer: refused; Curator itself waits forever"_s}},
        {.id = "curator-semaphore",
         .summary = u"Apache Curator's InterProcessSemaphoreV2"_s,
         .listedWatch = ListedWatch::Always,
         .release = DeleteNode,
         .fair = true,
         .counted = true,
         .containers = true,
         .counts =
             {.acquireFree = u"5"_s, .acquireQueued = u"8, second in line 6"_s, .release = u"1"_s, .wakeUps = u"2"_s},
         .flaws = {u"the number of permits is not stored: clients may disagree"_s,
                   u"each release wakes two: who gets in, and who moves up behind it"_s}},
        {.id = "curator-leader",
         .summary = u"Apache Curator's LeaderLatch or LeaderSelector"_s,
         .listedWatch = ListedWatch::Always,
         .release = DeleteNode,
         .playedBy = "curator-mutex",
         .fair = true,
         .electsLeader = true},
        {.id = "kazoo-lock",
         .summary = u"kazoo's Lock"_s,
         .listedWatch = ListedWatch::Always,
         .release = DeleteNode,
         .fair = true,
         .counts = {.acquireFree = u"2"_s, .acquireQueued = u"4"_s, .release = u"1"_s, .wakeUps = u"1"_s},
         .flaws =
             {u"a disconnected original client continues as the holder, unless its application listens for that"_s,
              u"kazoo itself starts its wait again at every wake-up: its timeout may take longer than asked"_s,
              u"ignores kazoo's read locks"_s}},
        {.id = "kazoo-rwlock",
         .summary = u"kazoo's ReadLock and WriteLock"_s,
         .listedWatch = ListedWatch::Always,
         .release = DeleteNode,
         .fair = true,
         .readWrite = true,
         .counts = {.acquireFree = u"2"_s, .acquireQueued = u"4"_s, .release = u"1"_s, .wakeUps = u"1"_s},
         .flaws = {u"a writer behind R readers lists again for each that leaves before an earlier one: up to "
                   "2+2R requests"_s,
                   u"a writer's release wakes all readers up to the next writer"_s,
                   u"kazoo itself, before 2.9: a reader waits for writers behind it, too, which wait for the "
                   "reader"_s,
                   u"a write lock without readers cannot be distinguished from kazoo-lock"_s}},
        {.id = "kazoo-semaphore",
         .summary = u"kazoo's Semaphore"_s,
         .shape = Shape::Permits,
         .listedWatch = ListedWatch::Always,
         .release = DeleteNode,
         .fair = true,
         .counted = true,
         .storesLimit = true,
         .counts = {.acquireFree = u"5"_s, .acquireQueued = u"9"_s, .release = u"1"_s, .wakeUps = u"2"_s},
         .flaws =
             {u"kazoo itself takes eight requests for a free permit"_s,
              u"kazoo itself does not check that the guard is still its own: removing the guard's node may admit one holder too many"_s}},
    };
}

std::vector<RecipeInfo> textbookRecipes()
{
    using enum ReleaseMechanism;
    return {
        {.id = "zk-ephemeral",
         .summary = u"one plain ephemeral node; every waiter watches it"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "One ephemeral node"),
         .shape = Shape::Node,
         .release = DeleteNode,
         .counts = {.acquireFree = u"1"_s, .acquireQueued = u"2N-1"_s, .release = u"3"_s, .wakeUps = u"N-1"_s},
         .flaws =
             {u"herd: one release wakes every waiter, and each of them tries a create"_s,
              u"not fair: the fastest client gets the lock, and a waiter may starve"_s,
              u"the name does not identify the holder: a release reads the node's owner before deleting it, two round trips"_s,
              u"a holder force-released between that read and its delete deletes the next holder's node"_s}},
        {.id = "zk-herd-mutex",
         .summary = u"ephemeral sequential nodes; every waiter watches the children"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "Watch the children"),
         .release = DeleteNode,
         .fair = true,
         .teachingOnly = true,
         .counts = {.acquireFree = u"2"_s, .acquireQueued = u"N+1"_s, .release = u"1"_s, .wakeUps = u"N-1"_s},
         .flaws = {u"herd: one release wakes every waiter, and so does every arrival"_s,
                   u"each wake-up lists the whole queue again: bytes grow with the cube of the waiters"_s}},
        {.id = "zk-mutex",
         .summary = u"ephemeral sequential nodes, each waiter watches its predecessor; Curator's names"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "Watch the predecessor"),
         .listedWatch = ListedWatch::OfKnownClients,
         .release = DeleteNode,
         .preferred = true,
         .fair = true,
         .containers = true,
         .counts = {.acquireFree = u"2"_s, .acquireQueued = u"4"_s, .release = u"1"_s, .wakeUps = u"1"_s},
         .flaws = {u"not reentrant: a second acquire by the holder waits for itself"_s}},
        {.id = "zk-eager-mutex",
         .summary = u"zk-mutex's layout with a faster hand-off: the event alone can grant"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "Predecessor, faster hand-off"),
         .release = DeleteNode,
         .fair = true,
         .counts = {.acquireFree = u"2"_s, .acquireQueued = u"6"_s, .release = u"1"_s, .wakeUps = u"2"_s},
         .flaws = {u"two wake-ups per release instead of one, and the holder is notified of its own"_s,
                   u"without network delay it gains nothing over zk-mutex"_s,
                   u"not reentrant: a second acquire by the holder waits for itself"_s}},
        {.id = "zk-flat-mutex",
         .summary = u"several locks in one directory, <lock>_lock_<seq>"_s,
         .shape = Shape::FlatQueue,
         .release = DeleteNode,
         .fair = true,
         .counts = {.acquireFree = u"2"_s, .acquireQueued = u"4"_s, .release = u"1"_s, .wakeUps = u"1"_s},
         .flaws = {u"all locks share one counter and one child list"_s, u"a lock's name cannot contain _lock_"_s}},
        // The counts of both are those of writers, who wait for one another.
        {.id = "zk-shared-herd",
         .summary = u"read/write lock, <host>-R-<seq> and <host>-W-<seq>; every waiter watches the children"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "Readers and writers watch the children"),
         .release = DeleteNode,
         .fair = true,
         .teachingOnly = true,
         .readWrite = true,
         .counts = {.acquireFree = u"2"_s, .acquireQueued = u"N+1"_s, .release = u"1"_s, .wakeUps = u"N-1"_s},
         .flaws = {u"herd: one release wakes every waiter, and so does every arrival"_s,
                   u"each wake-up lists the whole queue again"_s,
                   u"no upgrade: a reader that asks to write waits for itself"_s}},
        {.id = "zk-shared",
         .summary = u"read/write lock, <host>-R-<seq> and <host>-W-<seq>; each waiter watches one node"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "Readers and writers watch one node"),
         .release = DeleteNode,
         .fair = true,
         .readWrite = true,
         .counts = {.acquireFree = u"2"_s, .acquireQueued = u"4"_s, .release = u"1"_s, .wakeUps = u"1"_s},
         .flaws = {u"a writer's release wakes every reader behind it, up to the next writer"_s,
                   u"a writer behind R readers may have to list and watch again for each: up to 2+2R requests"_s,
                   u"no upgrade: a reader that asks to write waits for itself"_s}},
    };
}

std::vector<RecipeInfo> seenOnZooKeeper()
{
    return {
        {.id = "zk-election",
         .summary = u"the leader node or election queue of a known system"_s,
         .listedWatch = ListedWatch::OfKnownClients,
         .release = ReleaseMechanism::DeleteNode,
         .electsLeader = true},
        {.id = "zk-lease",
         .summary = u"a node that says until when it is locked"_s,
         .shape = Shape::Node,
         .endsBy = EndsBy::Timestamp,
         .wakeUp = WakeUp::Polling,
         .releaseRefusal = u"the node holds a date, not an owner's presence; wait until it has passed"_s,
         .flaws = {u"depends on the clocks of its clients"_s}},
        {.id = "zookeeper-recipe-lock",
         .summary = u"ZooKeeper's own lock recipe, x-<session>-<seq>"_s,
         .listedWatch = ListedWatch::Always,
         .release = ReleaseMechanism::DeleteNode,
         .playedBy = "zk-mutex",
         .fair = true,
         .flaws = {u"a waiter whose predecessor vanishes early gives up its place (C recipe)"_s}},
    };
}

} // namespace

std::vector<RecipeInfo> recipesOfZooKeeper()
{
    auto all = textbookRecipes();
    std::ranges::move(seenOnZooKeeper(), std::back_inserter(all));
    std::ranges::move(zooKeeperClientRecipes(), std::back_inserter(all));
    return all;
}

} // namespace lockscope::recipes
