// SPDX-License-Identifier: Apache-2.0
// Graphviz' "dot", as a library: where the boxes of one connected graph stand, in columns from left to right, and the
// lines between them. Any thread; one at a time, for libgvc has state of its own.
#pragma once

#include "core/base/result.h"

#include <QPointF>
#include <QSizeF>

#include <utility>
#include <vector>

namespace lockscope::ui {

struct DotGraph {
    std::vector<QSizeF> boxes;
    std::vector<std::pair<int, int>> lines;  // from one box to another, to the right where that is possible
    std::vector<std::vector<int>> columns{}; // boxes that stand in one column, in this order from top to bottom
};

struct DotPlaces {
    std::vector<QPointF> centres;            // of the boxes; the top left of everything is 0, 0
    std::vector<std::vector<QPointF>> lines; // Bézier curves: a beginning, then three points for each
    QSizeF size;
};

[[nodiscard]] Result<DotPlaces> layOutByDot(const DotGraph &graph);

} // namespace lockscope::ui
