// How the entries of the catalogue are written down, one file of them per family. For catalogue*.cpp only.
#pragma once

#include "core/recipes/catalogue.h"

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

// Why this recipe cannot be made on such a server with these options: unknown, of another backend,
// only seen, without a read mode or a limit.
[[nodiscard]] std::optional<Error> objectionTo(const QByteArray &id, RecipeBackend backend,
                                               const AcquireOptions &options);

} // namespace lockscope::recipes
