// SPDX-License-Identifier: Apache-2.0
// The table recipe × fault × invariant as values, for the help of both programs. It is the one the tests hold all
// seeds against: nothing is written down twice.
#pragma once

#include "core/contention/scenario.h"

namespace lockscope::contention {

// What a recipe promises under a fault, and what not: holds, or may break, because …
//
// No recipe survives every fault: a pause longer than the lease makes two believers everywhere, an empty restart
// breaks every Redis lock. This table is what the tests hold all seeds against, and what the help shows.

// The invariants by name, with the words a person reads: {"exclusion", "never two holders"}.
struct Invariant {
    QByteArray name;
    QString words;
};
[[nodiscard]] const std::vector<Invariant> &invariants();

struct GuaranteeRule {
    QString because;     // empty: it holds; of "exclusion" also for how long at most (faults.h)
    bool isRare = false; // it takes another fault beside it, or more seeds than every test run plays, to be seen
    [[nodiscard]] bool mayBreak() const { return !because.isEmpty(); }
};

// `invariant` by its name. With `fenced` the guarded resource refuses older fencing tokens.
[[nodiscard]] GuaranteeRule guaranteeRule(const QByteArray &recipe, FaultKind fault, const QByteArray &invariant,
                                          bool fenced);

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
