// SPDX-License-Identifier: Apache-2.0
// The forms of the tokens that Redis lock clients write: what is built in (resources/rules/token-forms.json) and what
// a person adds (docs/rules.md). Any thread.
#pragma once

#include "core/rules/rulepattern.h"

#include <QString>

#include <vector>

namespace lockscope::recipes {

struct TokenForm {
    QString client;                 // who writes it; empty: several do
    QString file;                   // empty: it is built in
    std::optional<RulePattern> key; // empty: of any key
    // Its groups: `holder`, what it says of its owner; `uuid1`, the hex digits of a UUID made from the time, which
    // has to be one of the last year.
    std::optional<RulePattern> value;
    QString why;
    bool isProof = false;       // key and value are of a form that only one client writes
    bool isSure = false;        // confidence high, not medium
    bool besideWakeUps = false; // only where python-redis-lock's list of wake-ups stands beside the key

    // What tells it from the others of its file.
    [[nodiscard]] QString name() const { return client.isEmpty() ? why : client + QStringLiteral(": ") + why; }
};

// In the order in which they are asked.
[[nodiscard]] const std::vector<TokenForm> &builtInTokenForms();

} // namespace lockscope::recipes
