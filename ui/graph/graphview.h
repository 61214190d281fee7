// SPDX-License-Identifier: Apache-2.0
// The graph on screen. ← and → walk along the lines, ↑ and ↓ to what stands above and below, Enter opens; + and −
// zoom, 0 goes back to 100 %, F fits all of it in.
#pragma once

#include "ui/graph/graphlayout.h"

#include <QAbstractScrollArea>

class QPainter;

namespace lockscope::ui {

// Boxes on a plane that scrolls and zooms, by Ctrl and the wheel, too; a tool tip says what the pointer rests on.
class GraphView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit GraphView(QWidget *parent = nullptr);

    // What is chosen stays chosen, and stays where it is on screen. Until somebody chooses, scrolls or zooms, what
    // the heading speaks of is in sight.
    void show(std::shared_ptr<const GraphSight> sight);
    // False if there is no such node.
    bool choose(const QByteArray &key);
    [[nodiscard]] const GraphNode *current() const;
    // All of it, and it stays so until somebody zooms; or of what is too large to be read so, what is chosen or what
    // the heading speaks of.
    void fit();
    void zoomBy(int steps); // 0: to 100 %
    [[nodiscard]] qreal zoom() const { return m_zoom; }
    // In the view's own coordinates.
    [[nodiscard]] QRectF boxOnScreen(int node) const;
    [[nodiscard]] bool isAllInSight() const;

signals:
    void activated(const lockscope::ui::GraphNode &node);
    void currentChanged();
    void zoomChanged();
    void resized();

private:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    bool viewportEvent(QEvent *event) override;
    [[nodiscard]] int boxCount() const { return static_cast<int>(m_sight->layout.boxes.size()); }
    [[nodiscard]] QRectF boxOf(int node) const;     // at 100 %
    [[nodiscard]] int boxAt(QPoint position) const; // -1 for none
    void setZoom(qreal zoom);
    [[nodiscard]] QPointF origin() const; // of the plane, in the viewport
    void fitBars();
    void scrollBy(QPoint by);
    // No further than it takes, with room around it.
    void reveal(int node);
    void showSubject();
    void bringToMiddle(int node);
    void select(int node);
    void walk(int key);
    [[nodiscard]] int currentNode() const; // -1 for none
    [[nodiscard]] int firstNode() const;   // that the keyboard comes to; -1 for none
    [[nodiscard]] bool isNeighbour(int a, int b) const;
    [[nodiscard]] qreal fittingZoom() const;

    std::shared_ptr<const GraphSight> m_sight;
    QByteArray m_current;
    qreal m_zoom = 1;
    bool m_fits = true;
    bool m_isTouched = false;
    std::optional<QPoint> m_dragged;
};

// How the graph looks: clients round, locks with corners, holds solid, waits dashed with an arrow; a deadlock and who
// holds others up by shape, word and colour.
enum class NodeLook { Usual, Current, CurrentWithFocus };

void paintGraphNode(QPainter &painter, const GraphNode &node, const QRectF &box, NodeLook look);
// Lines that lead to what is chosen are thicker.
void paintGraphLine(QPainter &painter, const GraphArc &arc, const GraphLine &line, bool isThick);

// What the shapes and lines mean, in one row.
class GraphLegend : public QWidget {
    Q_OBJECT
public:
    explicit GraphLegend(QWidget *parent = nullptr);
    [[nodiscard]] QSize sizeHint() const override { return {static_cast<int>(std::ceil(draw(nullptr))), 24}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {0, 24}; }

private:
    void paintEvent(QPaintEvent *event) override;

    // Returns where it ends.
    qreal draw(QPainter *painter) const;
};

} // namespace lockscope::ui
