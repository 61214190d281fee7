// SPDX-License-Identifier: Apache-2.0
// Who watches whom in a queue, as lines beside its rows: straight from row to row, and in lanes at the left where a
// watch skips rows. Pure: a snapshot in, a value for each row out, so that it is tested without painting.
#pragma once

#include "core/workspace/values.h"

#include <array>

namespace lockscope::ui {

// The part of a line that runs through half a row.
enum class RailPart : quint8 { None, Inferred, Seen };

struct RailRow {
    static constexpr std::size_t laneCount = 3;
    struct Lane {
        RailPart above = RailPart::None; // from the upper edge to the middle
        RailPart below = RailPart::None; // from the middle to the lower edge
        RailPart tick = RailPart::None;  // from the lane to the row's sign
        bool isTarget = false;           // the tick ends in an arrow: what is watched
        friend bool operator==(const Lane &, const Lane &) = default;
    };
    RailPart up = RailPart::None;   // the row watches the one above it
    RailPart down = RailPart::None; // the one below watches this row
    std::array<Lane, laneCount> lanes{};
    friend bool operator==(const RailRow &, const RailRow &) = default;
};

// A row for each contender, in their order. More lines at one place than there are lanes share the last of them.
[[nodiscard]] std::vector<RailRow> railsOf(const inspect::LockSnapshot &lock);

// What the lines mean, and how many waiters a release wakes; or why there are none.
[[nodiscard]] QString wakeUpText(const inspect::LockSnapshot &lock);

} // namespace lockscope::ui
