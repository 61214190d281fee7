// SPDX-License-Identifier: Apache-2.0
// The places of the boxes of connected graphs, in columns from left to right, and the lines between them. Graphviz'
// "dot" computes them in a process of its own (app/graphlayout), because only a process can be stopped in the middle
// of a layout, and because Graphviz ends its process when memory is short.
#pragma once

#include "core/base/result.h"
#include "ui/graph/dotgraph.h"

#include <stop_token>

namespace lockscope::ui {

// Of each graph, in their order. Any thread but the window's: it waits for the other program, 20 s at most and no
// longer than 50 ms after `stop`.
[[nodiscard]] Result<QList<DotPlaces>> layOutByDot(const QList<DotGraph> &graphs, const std::stop_token &stop);
// By that program, whose answer is taken for nothing more than it is.
[[nodiscard]] Result<QList<DotPlaces>> layOutBy(const QString &program, const QList<DotGraph> &graphs,
                                                const std::stop_token &stop);

} // namespace lockscope::ui
