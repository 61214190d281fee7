// SPDX-License-Identifier: Apache-2.0
// Runs as an animated PNG, which browsers play and every other program shows as a still picture.
#pragma once

#include "core/base/result.h"
#include "ui/simulator/runpicture.h"

namespace lockscope::ui {

struct AnimationPace {
    int frames = 120; // of them all; the last one stays
    std::chrono::milliseconds each{100};
    std::chrono::milliseconds lastFor{4000};
};

// From their beginning to their end, what is to come hidden. Takes seconds; any thread.
[[nodiscard]] Result<QByteArray> animated(const std::vector<RunPicture> &runs, const Tokens &tokens,
                                          const AnimationPace &pace = {});

} // namespace lockscope::ui
