// SPDX-License-Identifier: Apache-2.0
// What is played beside each other, and where: one scenario, one seed, up to three recipes; and the ones worth showing.
#pragma once

#include "core/workspace/values.h"

#include <QString>

namespace lockscope::ui {

struct RunPlace {
    enum class Kind {
        Simulated,
        Sandbox,    // on whichever of its servers speaks the recipe's language
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
    simulate::Scenario scenario;    // its recipe is not used: those below are
    std::vector<QByteArray> recipes; // one to three
    RunPlace place{};

    [[nodiscard]] std::vector<simulate::Scenario> scenarios() const;
    // The first of its scenarios that is wrong, or that real servers cannot play, says why.
    [[nodiscard]] Result<bool> check() const;
    // Whether this fault can happen to any of the recipes.
    [[nodiscard]] bool allows(simulate::FaultKind kind) const;
};

struct Preset {
    QString title;
    Comparison comparison;
};
[[nodiscard]] const std::vector<Preset> &presets();

// The numbers of contenders of the chart.
[[nodiscard]] const std::vector<int> &chartContenders();

} // namespace lockscope::ui
