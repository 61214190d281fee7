// SPDX-License-Identifier: Apache-2.0
// What is asked of Graphviz' "dot" and what it answers, as two programs hand it to each other: boxes by their size
// and number alone. No word that a server said goes to Graphviz.
#pragma once

#include "core/base/result.h"

#include <QDataStream>
#include <QList>
#include <QPointF>
#include <QSizeF>

#include <stop_token>

namespace lockscope::ui {

struct DotGraph {
    QList<QSizeF> boxes;
    QList<std::pair<qint32, qint32>> lines; // from one box to another, to the right where that is possible
    QList<QList<qint32>> columns{};         // boxes that stand in one column, in this order from top to bottom
};

struct DotPlaces {
    QList<QPointF> centres;      // of the boxes; the top left of everything is 0, 0
    QList<QList<QPointF>> lines; // Bézier curves: a beginning, then three points for each; none: none was drawn
    QSizeF size;
};

// Both programs are of one build and take the same.
constexpr auto dotStreamVersion = QDataStream::Qt_6_4;

inline QDataStream &operator<<(QDataStream &to, const DotGraph &graph)
{
    return to << graph.boxes << graph.lines << graph.columns;
}
inline QDataStream &operator>>(QDataStream &from, DotGraph &graph)
{
    return from >> graph.boxes >> graph.lines >> graph.columns;
}
inline QDataStream &operator<<(QDataStream &to, const DotPlaces &places)
{
    return to << places.centres << places.lines << places.size;
}
inline QDataStream &operator>>(QDataStream &from, DotPlaces &places)
{
    return from >> places.centres >> places.lines >> places.size;
}

// The places of the boxes of connected graphs, in columns from left to right, and the lines between them. Graphviz'
// "dot" computes them in a process of its own (app/graphlayout), because only a process can be stopped in the middle
// of a layout, and because Graphviz ends its process when memory is short.

// Of each graph, in their order. Any thread but the window's: it waits for the other program, 20 s at most and no
// longer than 50 ms after `stop`.
[[nodiscard]] Result<QList<DotPlaces>> layOutByDot(const QList<DotGraph> &graphs, const std::stop_token &stop);
// By that program, whose answer is taken for nothing more than it is.
[[nodiscard]] Result<QList<DotPlaces>> layOutBy(const QString &program, const QList<DotGraph> &graphs,
                                                const std::stop_token &stop);

} // namespace lockscope::ui
