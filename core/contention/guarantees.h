// SPDX-License-Identifier: Apache-2.0
// The table recipe × fault × invariant as values, for the help of both programs. It is the one the tests hold all
// seeds against (guaranteerules.h): nothing is written down twice.
#pragma once

#include "core/contention/guaranteerules.h"

namespace lockscope::contention {

struct Guarantee {
    enum class Verdict {
        Holds,
        MayBreak,
        MayBreakRarely, // with another fault beside it, or in very few schedules
        NotGuaranteed,  // not by this recipe, with or without a fault
    };
    QByteArray invariant;
    Verdict verdict = Verdict::Holds;
    QString because; // of what may break
    [[nodiscard]] bool mayBreak() const { return verdict == Verdict::MayBreak || verdict == Verdict::MayBreakRarely; }
};

// Whether the recipe is to keep this at all: not everyone has an order, tokens, or holders that keep others out.
[[nodiscard]] bool isOffered(const QByteArray &recipe, const QByteArray &invariant);
// The rows: every recipe that can be played and is no mistake on purpose.
[[nodiscard]] std::vector<QByteArray> guaranteedRecipes();
// One cell: a promise for each invariant, in their order; none where the fault is not simulated for the recipe.
[[nodiscard]] std::vector<Guarantee> guaranteesOf(const QByteArray &recipe, FaultKind fault, bool fenced);

} // namespace lockscope::contention
