// SPDX-License-Identifier: Apache-2.0
// From "old rows, new rows" to the fewest contiguous ranges that item views are told.
#pragma once

#include <QList>

#include <utility>
#include <vector>

namespace lockscope::ui {

struct RowRange {
    int first = 0;
    int last = 0;
    friend bool operator==(const RowRange &, const RowRange &) = default;
};

// Sorted row numbers as contiguous ranges; gaps of up to `bridged` rows are swallowed.
[[nodiscard]] std::vector<RowRange> rangesOf(const std::vector<int> &sortedRows, int bridged = 0);

} // namespace lockscope::ui
