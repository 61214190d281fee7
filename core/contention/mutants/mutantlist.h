// SPDX-License-Identifier: Apache-2.0
// Recipes with one mistake each, for lessons and for the checkers' own test: whoever cannot find these finds
// nothing. They exist in the simulated world alone. Which there are; what they do is in mutants.h.
#pragma once

#include "core/rules/catalogue.h"

namespace lockscope::contention {

struct Mutant {
    QByteArray id;                                                // "broken-…"
    QByteArray of;                                                // the recipe it is a mistake in
    const char *title;                                            // of a run in the window, as a recipe's
    QString summary;                                              // what is wrong, and when that shows
    std::optional<std::chrono::milliseconds> wait = std::nullopt; // shows only where a wait ends, such as this one
};
[[nodiscard]] const std::vector<Mutant> &mutants();
[[nodiscard]] const Mutant *findMutant(const QByteArray &id);
// What can be played by this id: the catalogue's entry, also of a mutant. Null when there is none.
[[nodiscard]] const recipes::RecipeInfo *playable(const QByteArray &id);

} // namespace lockscope::contention
