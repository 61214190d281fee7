// SPDX-License-Identifier: Apache-2.0
// How the entries of the catalogue are written down, one file of them per family. For catalogue*.cpp only.
#pragma once

#include "core/rules/catalogue.h"

namespace lockscope::recipes {

enum Trait {
    Fair = 1,
    Reentrant = 2,
    TeachingOnly = 4,
    ReadWrite = 8, // takes --mode
    Counted = 16,  // takes --limit
};

struct Requests {
    QString acquireFree;
    QString acquireQueued;
    QString release;
    QString wakeups;
};

[[nodiscard]] RecipeInfo recipeEntry(const QByteArray &id, RecipeBackend backend, int traits, const QString &summary,
                                     std::vector<QString> flaws);
[[nodiscard]] RecipeInfo acquirable(RecipeInfo recipe, const Requests &requests);
[[nodiscard]] RecipeInfo seenOnly(RecipeInfo recipe);

// A flaw of every lock on a server that counts nothing upwards.
[[nodiscard]] QString noFencingToken();

// The families, in the order of the catalogue.
[[nodiscard]] std::vector<RecipeInfo> zookeeperRecipes();
[[nodiscard]] std::vector<RecipeInfo> clientRecipes();
[[nodiscard]] std::vector<RecipeInfo> redisRecipes();
[[nodiscard]] std::vector<RecipeInfo> sqlRecipes();

} // namespace lockscope::recipes
