// SPDX-License-Identifier: Apache-2.0
// The textbook recipes on ZooKeeper, and what is only seen there.
#include "core/rules/catalogueentry.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

std::vector<RecipeInfo> zookeeperRecipes()
{
    constexpr auto zookeeper = RecipeBackend::ZooKeeper;
    return {
        acquirable(recipeEntry("zk-ephemeral", zookeeper, 0, u"one plain ephemeral node; every waiter watches it"_s,
                        {u"herd: one release wakes every waiter, and each of them tries a create"_s,
                         u"not fair: whoever is fastest gets in, and a waiter may starve"_s,
                         u"the name does not tell the holder: a release looks whose the node is before it deletes it, "
                         "two round trips"_s,
                         u"a holder released by force between that look and its delete deletes the next one's node"_s}),
                   {u"1"_s, u"2N-1"_s, u"3"_s, u"N-1"_s}),
        acquirable(recipeEntry("zk-herd-mutex", zookeeper, Fair | TeachingOnly,
                        u"ephemeral sequential nodes; every waiter watches the children"_s,
                        {u"herd: one release wakes every waiter, and so does every arrival"_s,
                         u"each wake-up lists the whole queue again: bytes grow with the cube of the waiters"_s}),
                   {u"2"_s, u"N+1"_s, u"1"_s, u"N-1"_s}),
        acquirable(recipeEntry("zk-mutex", zookeeper, Fair,
                        u"ephemeral sequential nodes, each waiter watches its predecessor; Curator's names"_s,
                        {u"not reentrant: a second acquire by the holder waits for itself"_s}),
                   {u"2"_s, u"4"_s, u"1"_s, u"1"_s}),
        acquirable(recipeEntry("zk-eager-mutex", zookeeper, Fair,
                        u"zk-mutex's layout with a faster hand-off: the event alone can grant"_s,
                        {u"two wake-ups per release instead of one, and the holder hears of its own"_s,
                         u"without network delay it gains nothing over zk-mutex"_s,
                         u"not reentrant: a second acquire by the holder waits for itself"_s}),
                   {u"2"_s, u"6"_s, u"1"_s, u"2"_s}),
        acquirable(recipeEntry("zk-flat-mutex", zookeeper, Fair, u"several locks in one directory, <lock>_lock_<seq>"_s,
                        {u"all locks share one counter and one child list"_s,
                         u"a lock's name cannot contain _lock_"_s}),
                   {u"2"_s, u"4"_s, u"1"_s, u"1"_s}),
        // The counts are those of writers, who wait for one another.
        acquirable(recipeEntry("zk-shared-herd", zookeeper, Fair | TeachingOnly | ReadWrite,
                        u"read/write lock, <host>-R-<seq> and <host>-W-<seq>; every waiter watches the children"_s,
                        {u"herd: one release wakes every waiter, and so does every arrival"_s,
                         u"each wake-up lists the whole queue again"_s,
                         u"no upgrade: a reader that asks to write waits for itself"_s}),
                   {u"2"_s, u"N+1"_s, u"1"_s, u"N-1"_s}),
        acquirable(recipeEntry("zk-shared", zookeeper, Fair | ReadWrite,
                        u"read/write lock, <host>-R-<seq> and <host>-W-<seq>; each waiter watches one node"_s,
                        {u"a writer's release wakes every reader behind it, up to the next writer"_s,
                         u"a writer behind R readers may have to list and watch again for each: up to 2+2R requests"_s,
                         u"no upgrade: a reader that asks to write waits for itself"_s}),
                   {u"2"_s, u"4"_s, u"1"_s, u"1"_s}),
        seenOnly(recipeEntry("zk-election", zookeeper, 0, u"the leader node or election queue of a known system"_s, {})),
        seenOnly(recipeEntry("zk-lease", zookeeper, 0, u"a node that says until when it is locked"_s,
                      {u"depends on the clocks of its clients"_s})),
        seenOnly(recipeEntry("zookeeper-recipe-lock", zookeeper, Fair, u"ZooKeeper's own lock recipe, x-<session>-<seq>"_s,
                      {u"a waiter whose predecessor vanishes early gives up its place (C recipe)"_s})),
    };
}

} // namespace lockscope::recipes
