// SPDX-License-Identifier: Apache-2.0
// Requests, or time, to drain the queue against the number of contenders: a line for each recipe.
#pragma once

#include "ui/simulator/runner.h"

class QLabel;
class QPushButton;

namespace lockscope::ui {

class ScalingChart : public QFrame {
    Q_OBJECT
public:
    explicit ScalingChart(QWidget *parent = nullptr);

    // Removes all lines; add() draws those of the recipes point by point.
    void begin(const std::vector<QByteArray> &recipes);
    void add(const ScalingPoint &point);
    void showTime(bool isTime);
    // The runs next to the chart were played on real servers: the title says that the chart was not.
    void setIsElsewhere(bool isElsewhere);
    [[nodiscard]] QPushButton *timeButton() const { return m_time; }
    // The value of a line at that number of contenders, in requests or seconds; -1 if it has no such point.
    [[nodiscard]] double valueOf(int run, int contenders) const;
    // The values of all lines at that number of contenders, for the tool tip and for screen readers.
    [[nodiscard]] QString readingAt(int contenders) const;

private:
    bool event(QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

    // The part of the frame between the axes, and the values at its edges.
    struct Plot {
        QRectF area;
        double end = 1;  // at the upper edge
        double step = 1; // from one grid line to the next
        [[nodiscard]] QPointF place(double contenders, double value) const;
    };
    [[nodiscard]] Plot makePlot() const;
    [[nodiscard]] QPolygonF lineOf(std::size_t run, const Plot &plot) const;
    [[nodiscard]] QString axisLabel(double value) const;
    void drawGrid(QPainter &painter, const Plot &plot) const;
    void drawNames(QPainter &painter, const Plot &plot) const;
    void updateTexts();

    QLabel *m_title;
    QPushButton *m_time;
    QWidget *m_canvas; // keeps the room of the drawing, which the frame paints
    std::vector<QByteArray> m_recipes;
    std::vector<ScalingPoint> m_points; // by contenders
    bool m_isTime = false;
    bool m_isElsewhere = false;
};

} // namespace lockscope::ui
