// SPDX-License-Identifier: Apache-2.0
#include "ui/models/rowdelta.h"

namespace lockscope::ui {

std::vector<RowRange> rangesOf(const std::vector<int> &sortedRows, int bridged)
{
    std::vector<RowRange> ranges;
    for (const int row : sortedRows) {
        if (!ranges.empty() && row <= ranges.back().last + 1 + bridged)
            ranges.back().last = std::max(ranges.back().last, row);
        else
            ranges.push_back({row, row});
    }
    return ranges;
}

} // namespace lockscope::ui
