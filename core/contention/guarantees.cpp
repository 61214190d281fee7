// SPDX-License-Identifier: Apache-2.0
#include "core/contention/guarantees.h"

#include "core/rules/catalogue.h"

#include <algorithm>

namespace lockscope::contention {

bool isOffered(const QByteArray &recipe, const QByteArray &invariant)
{
    const auto *info = recipes::findRecipe(recipe);
    if (!info)
        return true; // a mistake made on purpose: held against what its recipe keeps
    // As the checkers look at it: those who get permits may overtake each other on their way back from the server.
    if (invariant == "order")
        return info->fair && !info->counted;
    if (invariant == "tokens")
        return info->fenced;
    return invariant != "exclusion" || !isOptimistic(info->id);
}

std::vector<QByteArray> guaranteedRecipes()
{
    std::vector<QByteArray> ids;
    for (const auto &recipe : recipes::catalogue()) {
        if (recipe.acquirable && recipe.simulated)
            ids.push_back(recipe.id);
    }
    return ids;
}

std::vector<Guarantee> guaranteesOf(const QByteArray &recipe, FaultKind fault, bool fenced)
{
    using Verdict = Guarantee::Verdict;
    const auto *info = recipes::findRecipe(recipe);
    if (!info || std::ranges::count(faultsFor(recipe), fault) == 0)
        return {};
    std::vector<Guarantee> all;
    for (const auto &invariant : invariants()) {
        if (!isOffered(recipe, invariant.name)) {
            all.push_back({invariant.name, Verdict::NotGuaranteed, {}});
            continue;
        }
        const auto expected = guaranteeRule(recipe, fault, invariant.name, fenced);
        const auto verdict = !expected.mayBreak() ? Verdict::Holds
                             : expected.isRare    ? Verdict::MayBreakRarely
                                                  : Verdict::MayBreak;
        all.push_back({invariant.name, verdict, expected.because});
    }
    return all;
}

} // namespace lockscope::contention
