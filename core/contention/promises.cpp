// SPDX-License-Identifier: Apache-2.0
#include "core/contention/promises.h"

#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::contention {

namespace {

// As the checkers look at it: those who get permits may overtake each other on their way back from the server.
bool isPromised(const recipes::RecipeInfo &recipe, const QByteArray &invariant)
{
    if (invariant == "order")
        return recipe.fair && !recipe.counted;
    return invariant != "exclusion" || !isOptimistic(recipe.id);
}

} // namespace

std::vector<QByteArray> promisingRecipes()
{
    std::vector<QByteArray> ids;
    for (const auto &recipe : recipes::catalogue()) {
        if (recipe.acquirable)
            ids.push_back(recipe.id);
    }
    return ids;
}

std::vector<Promise> promisesOf(const QByteArray &recipe, FaultKind fault, bool fenced)
{
    using Verdict = Promise::Verdict;
    const auto *info = recipes::findRecipe(recipe);
    if (!info || std::ranges::count(faultsFor(recipe), fault) == 0)
        return {};
    std::vector<Promise> all;
    for (const auto &invariant : invariants()) {
        if (!isPromised(*info, invariant.name)) {
            all.push_back({invariant.name, Verdict::NotPromised, {}});
            continue;
        }
        const auto expected = expectationOf(recipe, fault, invariant.name, fenced);
        const auto verdict = !expected.mayBreak() ? Verdict::Holds
            : expected.isRare                     ? Verdict::MayBreakRarely
                                                  : Verdict::MayBreak;
        all.push_back({invariant.name, verdict, expected.because});
    }
    return all;
}

} // namespace lockscope::contention
