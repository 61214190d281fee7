// SPDX-License-Identifier: Apache-2.0
// Where scenarios can be played, as far as the window knows: the simulated world always, the sandbox, and the open
// connections; never those marked production. Each that cannot be chosen says why.
#pragma once

#include "ui/models/connectionbook.h"
#include "ui/simulator/comparison.h"

namespace lockscope::ui {

struct PlaceChoice {
    RunPlace place;
    QString title;    // "Simulated world", "Sandbox", "orders-zk"
    QString obstacle; // why nothing can be played there; empty: it can
    friend bool operator==(const PlaceChoice &, const PlaceChoice &) = default;
    [[nodiscard]] QString text() const { return obstacle.isEmpty() ? title : title + QStringLiteral(" — ") + obstacle; }
};
[[nodiscard]] std::vector<PlaceChoice> placeChoices(const ConnectionBook &book);

// What the backend is asked for, one run for each recipe; of a comparison on real servers. Refused: production,
// read-only; NotConnected; BadInput: what cannot be played there, or is for another kind of server.
[[nodiscard]] Result<std::vector<RealRunOptions>> realRuns(const ConnectionBook &book, const Comparison &comparison);
// Whether it is to be played on a server of the sandbox that is not connected: it has to be started, or connected to again.
[[nodiscard]] bool wantsSandbox(const ConnectionBook &book, const Comparison &comparison);

} // namespace lockscope::ui
