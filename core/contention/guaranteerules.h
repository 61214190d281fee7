// SPDX-License-Identifier: Apache-2.0
// What a recipe promises under a fault, and what not: holds, or may break, because …
//
// No recipe survives every fault: a pause longer than the lease makes two believers everywhere, an empty restart
// breaks every Redis lock. This table is what the tests hold all seeds against, and what the help shows.
#pragma once

#include "core/contention/scenario.h"

namespace lockscope::contention {

// The invariants by name, with the words a person reads: {"exclusion", "never two holders"}.
struct Invariant {
    QByteArray name;
    QString words;
};
[[nodiscard]] const std::vector<Invariant> &invariants();

struct GuaranteeRule {
    QString because;     // empty: it holds; of "exclusion" also for how long at most (overlap.h)
    bool isRare = false; // it takes another fault beside it, or more seeds than every test run plays, to be seen
    [[nodiscard]] bool mayBreak() const { return !because.isEmpty(); }
};

// `invariant` by its name. With `fenced` the guarded resource refuses older fencing tokens.
[[nodiscard]] GuaranteeRule guaranteeRule(const QByteArray &recipe, FaultKind fault, const QByteArray &invariant,
                                          bool fenced);

} // namespace lockscope::contention
