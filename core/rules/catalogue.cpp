// SPDX-License-Identifier: Apache-2.0
#include "core/rules/catalogue.h"

#include "core/base/text.h"

#include <algorithm>

namespace lockscope::recipes {

const std::vector<RecipeInfo> &catalogue()
{
    static const auto all = [] {
        std::vector<RecipeInfo> recipes;
#define LOCKSCOPE_RECIPES(Name)                                                                                      \
    for (auto &recipe : recipesOf##Name()) {                                                                         \
        recipe.backend = BackendKind::Name;                                                                          \
        recipes.push_back(std::move(recipe));                                                                        \
    }
        LOCKSCOPE_BACKENDS(LOCKSCOPE_RECIPES)
#undef LOCKSCOPE_RECIPES
        for (auto &recipe : recipes) {
            recipe.acquirable = !recipe.counts.acquireFree.isEmpty();
            if (!recipe.acquirable)
                recipe.flaws.insert(recipe.flaws.begin(), u"recognised only: this build does not acquire it"_s);
            if (!recipe.fenced)
                recipe.flaws.push_back(u"no fencing token"_s);
        }
        return recipes;
    }();
    return all;
}

const RecipeInfo *findRecipe(const QByteArray &id)
{
    const auto at = std::ranges::find(catalogue(), id, &RecipeInfo::id);
    return at == catalogue().end() ? nullptr : &*at;
}

const RecipeInfo &recipeOf(const QByteArray &id)
{
    static const RecipeInfo unknown;
    const auto *found = findRecipe(id);
    return found ? *found : unknown;
}

std::optional<Error> objectionTo(const QByteArray &id, BackendKind backend, const AcquireOptions &options)
{
    const auto *recipe = findRecipe(id);
    const auto name = label(id);
    if (!recipe)
        return Error{ErrorCode::BadInput, u"unknown recipe \"%1\"; see lockscopectl recipes"_s.arg(name)};
    if (recipe->backend != backend)
        return Error{ErrorCode::BadInput, u"recipe %1 is for another kind of server"_s.arg(name)};
    if (!recipe->acquirable)
        return Error{ErrorCode::Unsupported, u"recipe %1 can be seen but not acquired"_s.arg(name)};
    if (options.readMode && !recipe->readWrite)
        return Error{ErrorCode::BadInput, u"recipe %1 has no read mode"_s.arg(name)};
    if (options.limit < 1)
        return Error{ErrorCode::BadInput, u"a limit of %1 admits no client"_s.arg(options.limit)};
    if (options.limit != 1 && !recipe->counted)
        return Error{ErrorCode::BadInput,
                     u"recipe %1 has one permit, not %2"_s.arg(name, QString::number(options.limit))};
    return std::nullopt;
}

} // namespace lockscope::recipes
