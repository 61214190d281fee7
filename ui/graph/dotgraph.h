// SPDX-License-Identifier: Apache-2.0
// What is asked of Graphviz' "dot" and what it answers, as two programs hand it to each other: boxes by their size
// and number alone. No word that a server said goes to Graphviz.
#pragma once

#include <QDataStream>
#include <QList>
#include <QPointF>
#include <QSizeF>

#include <utility>

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

} // namespace lockscope::ui
