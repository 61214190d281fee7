// SPDX-License-Identifier: Apache-2.0
// How much an act on a lock has to be confirmed: the more can break, the more keys it takes.
#pragma once

#include "ui/models/connectionbook.h"

namespace lockscope::ui {

struct Friction {
    bool typesName = false;   // production: the lock's name is typed
    bool wantsReason = false; // production
    bool oneKey = false;      // development, the sandbox: Ctrl+Enter in the form is enough
    friend bool operator==(const Friction &, const Friction &) = default;
};

// By how the connection is marked, and by the settings' "confirm/development": "one-key" (unless said) or "reason".
// What nobody marked is not known to be harmless: no key of its own, and a click.
[[nodiscard]] Friction frictionOf(const ConnectionBook &book, const ConnectionName &name);

} // namespace lockscope::ui
