// SPDX-License-Identifier: Apache-2.0
// What the pages show: the sum of all they were told. Pages hear of differences only, so to show them another moment
// is to tell them the difference between two of these.
#pragma once

#include <version>

#include "core/workspace/backend.h"

#include <map>

namespace lockscope::ui {

struct Shown {
    std::map<inspect::LockName, inspect::LockSnapshot> locks;
    std::map<ConnectionName, ConnectionStatus> statuses;
    std::map<ConnectionName, std::vector<inspect::SessionSnapshot>> sessions;
    std::map<ConnectionName, std::vector<inspect::Coverage>> coverage;
};

[[nodiscard]] Batch difference(const Shown &from, const Shown &to);

// As it was then. Nothing may be written to any of its connections. Those of `known` that the recording says nothing
// of are there, not connected.
// What a connection's message is then, of which the recording says nothing: nor that it was broken.
[[nodiscard]] QString nothingRecorded();
[[nodiscard]] Shown shownOf(PastPicture past, const std::map<ConnectionName, ConnectionStatus> &known);

} // namespace lockscope::ui
