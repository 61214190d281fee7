// SPDX-License-Identifier: Apache-2.0
// From the indexes of a command, which may count from the end, to places in a collection.
#pragma once

#include <QtGlobal>

#include <algorithm>

namespace lockscope::world {

struct IndexRange {
    qint64 first = 0;
    qint64 end = 0; // past the last
};
[[nodiscard]] inline IndexRange rangeOf(qint64 first, qint64 last, qint64 size)
{
    first = std::max<qint64>(first < 0 ? first + size : first, 0);
    last = std::min(last < 0 ? last + size : last, size - 1);
    return first > last ? IndexRange{} : IndexRange{first, last + 1};
}

} // namespace lockscope::world
