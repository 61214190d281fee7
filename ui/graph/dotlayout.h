// SPDX-License-Identifier: Apache-2.0
// Where the boxes of connected graphs stand, in columns from left to right, and the lines between them: Graphviz'
// "dot", in a program of its own (app/graphlayout). Graphviz ends the program it runs in when it meets what it did
// not expect; and its licence, the EPL-1.0, does not go into one program with Qt Charts' GPL-3.
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
