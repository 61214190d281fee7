// SPDX-License-Identifier: Apache-2.0
// Graphviz' "dot", as a library. One thread: libgvc has state of its own.
#pragma once

#include "core/base/result.h"
#include "ui/graph/dotgraph.h"

namespace lockscope {

[[nodiscard]] Result<ui::DotPlaces> placesByDot(const ui::DotGraph &graph);

} // namespace lockscope
