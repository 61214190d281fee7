// SPDX-License-Identifier: Apache-2.0
// How the graph looks: clients round, locks with corners, holds solid, waits dashed with an arrow; a deadlock and who
// holds others up by shape, word and colour.
#pragma once

#include "ui/graph/graphlayout.h"

#include <QWidget>

class QPainter;

namespace lockscope::ui {

enum class NodeLook { Usual, Current, CurrentWithFocus };

void paintGraphNode(QPainter &painter, const GraphNode &node, const QRectF &box, NodeLook look);
// Lines that lead to what is chosen are thicker.
void paintGraphLine(QPainter &painter, const GraphArc &arc, const GraphLine &line, bool isThick);

// What the shapes and lines mean, in one row.
class GraphLegend : public QWidget {
    Q_OBJECT
public:
    explicit GraphLegend(QWidget *parent = nullptr);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    // Returns where it ends.
    qreal draw(QPainter *painter) const;
};

} // namespace lockscope::ui
