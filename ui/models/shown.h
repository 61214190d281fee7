// SPDX-License-Identifier: Apache-2.0
// What the pages show: the sum of all they were told. Pages hear of differences only, so to show them another moment
// is to tell them the difference between two of these.
#pragma once

#include "core/workspace/backend.h"

namespace lockscope::ui {

// Its connections are told by their statuses, which say more than a LinkState.
struct Shown : inspect::StateSnapshot {
    std::map<ConnectionName, ConnectionStatus> statuses;
};

[[nodiscard]] Batch difference(const Shown &from, const Shown &to);

// As it was then. Nothing may be written to any of its connections. Those of `known` that the recording says nothing
// of are there, not connected.
[[nodiscard]] Shown shownOf(PastPicture past, const std::map<ConnectionName, ConnectionStatus> &known);

} // namespace lockscope::ui
