// What is played beside each other: one scenario, one seed, up to three recipes; and the ones worth showing.
#pragma once

#include "core/simulate/scenario.h"

#include <QString>

namespace lockscope::ui {

struct Comparison {
    simulate::Scenario scenario;    // its recipe is not used: those below are
    std::vector<QByteArray> recipes; // one to three

    [[nodiscard]] std::vector<simulate::Scenario> scenarios() const;
    // The first of its scenarios that is wrong says why.
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
