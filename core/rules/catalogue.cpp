// SPDX-License-Identifier: Apache-2.0
#include "core/rules/catalogueentry.h"

#include "core/base/text.h"

#include <algorithm>

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

QString noFencingToken()
{
    return u"no fencing token"_s;
}

RecipeInfo recipeEntry(const QByteArray &id, RecipeBackend backend, int traits, const QString &summary,
                       std::vector<QString> flaws)
{
    RecipeInfo recipe;
    recipe.id = id;
    recipe.backend = backend;
    recipe.summary = summary;
    recipe.fair = (traits & Fair) != 0;
    recipe.reentrant = (traits & Reentrant) != 0;
    recipe.teachingOnly = (traits & TeachingOnly) != 0;
    recipe.readWrite = (traits & ReadWrite) != 0;
    recipe.counted = (traits & Counted) != 0;
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

std::optional<Error> objectionTo(const QByteArray &id, RecipeBackend backend, const AcquireOptions &options)
{
    const auto *recipe = findRecipe(id);
    const auto name = label(id);
    if (!recipe)
        return Error{ErrorCode::BadInput, u"there is no recipe \"%1\"; see lockscopectl recipes"_s.arg(name)};
    if (recipe->backend != backend)
        return Error{ErrorCode::BadInput, u"recipe %1 is for another kind of server"_s.arg(name)};
    if (!recipe->acquirable)
        return Error{ErrorCode::Unsupported, u"recipe %1 can be seen but not acquired"_s.arg(name)};
    if (options.readMode && !recipe->readWrite)
        return Error{ErrorCode::BadInput, u"recipe %1 has no read mode"_s.arg(name)};
    if (options.limit < 1)
        return Error{ErrorCode::BadInput, u"a limit of %1 lets nobody in"_s.arg(options.limit)};
    if (options.limit != 1 && !recipe->counted)
        return Error{ErrorCode::BadInput, u"recipe %1 has one permit, not %2"_s.arg(name).arg(options.limit)};
    return std::nullopt;
}

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

} // namespace lockscope::recipes
