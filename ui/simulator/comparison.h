// SPDX-License-Identifier: Apache-2.0
// What is played beside each other, and where: one scenario, one seed, up to three recipes; and the ones worth
// showing.
#pragma once

#include "ui/models/connectionbook.h"

namespace lockscope::ui {

struct RunPlace {
    enum class Kind {
        Simulated,
        Sandbox, // on whichever of its servers speaks the recipe's language
        Connection,
    };
    Kind kind = Kind::Simulated;
    ConnectionName connection{};               // of Kind::Connection
    int mostSessions = mostSessionsUnlessSaid; // on real servers
    [[nodiscard]] bool isReal() const { return kind != Kind::Simulated; }
    friend bool operator==(const RunPlace &, const RunPlace &) = default;
};

// "the sandbox", "orders-zk".
[[nodiscard]] QString placeName(const RunPlace &place);

struct Comparison {
    contention::Scenario scenario;   // its recipe is not used: those below are
    std::vector<QByteArray> recipes; // one to three
    RunPlace place{};

    [[nodiscard]] std::vector<contention::Scenario> scenarios() const;
    // The first of its scenarios that is wrong, or that real servers cannot play, says why.
    [[nodiscard]] Result<void> check() const;
    // Whether this fault can happen to any of the recipes.
    [[nodiscard]] bool allows(contention::FaultKind kind) const;
};

struct Preset {
    QString title;
    Comparison comparison;
};
[[nodiscard]] std::vector<Preset> presets(); // in the language that is spoken

// The numbers of contenders of the chart.
[[nodiscard]] const std::vector<int> &chartContenders();

// Where scenarios can be played, as far as the window knows: the simulated world always, the sandbox, and the open
// connections; never those marked production. Each that cannot be chosen says why.
struct PlaceChoice {
    RunPlace place;
    QString title;    // "Simulated world", "Sandbox", "orders-zk"
    QString obstacle; // why nothing can be played there; empty: it can
    friend bool operator==(const PlaceChoice &, const PlaceChoice &) = default;
    [[nodiscard]] QString text() const
    {
        return obstacle.isEmpty() ? title : title + QStringLiteral(" — ") + obstacle;
    }
};
[[nodiscard]] std::vector<PlaceChoice> placeChoices(const ConnectionBook &book);

// What the backend is asked for, one run for each recipe; of a comparison on real servers. Refused: production,
// read-only; NotConnected; BadInput: what cannot be played there, or is for another kind of server.
[[nodiscard]] Result<std::vector<RealRunOptions>> realRuns(const ConnectionBook &book, const Comparison &comparison);
// Whether it is to be played on a server of the sandbox that is not connected: it has to be started, or connected to
// again.
[[nodiscard]] bool wantsSandbox(const ConnectionBook &book, const Comparison &comparison);

} // namespace lockscope::ui
