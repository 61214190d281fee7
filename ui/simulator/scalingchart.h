// SPDX-License-Identifier: Apache-2.0
// Requests, or time, to drain the queue against the number of contenders: a line for each recipe.
#pragma once

#include <version>

#include "ui/simulator/runner.h"

#include <QFrame>

class QChart;
class QChartView;
class QGraphicsSimpleTextItem;
class QLabel;
class QLineSeries;
class QPushButton;
class QValueAxis;

namespace lockscope::ui {

class ScalingChart : public QFrame {
    Q_OBJECT
public:
    explicit ScalingChart(QWidget *parent = nullptr);

    // Empties it; `why`, if given, is said in place of lines.
    void begin(const std::vector<QByteArray> &recipes, const QString &why = {});
    void add(const ScalingPoint &point);
    void showTime(bool isTime);
    // The runs beside it were played on real servers: it says that it was not.
    void setIsElsewhere(bool isElsewhere);
    [[nodiscard]] QPushButton *timeButton() const { return m_time; }
    // What a line says for that many contenders; -1 if it has no such point.
    [[nodiscard]] double valueOf(int run, int contenders) const;

protected:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void sayWords();
    void draw();
    void showTitle();
    void dress();
    void placeNames();

    QLabel *m_title;
    QLabel *m_notice;
    QPushButton *m_time;
    QChart *m_chart;
    QChartView *m_view;
    QValueAxis *m_x;
    QValueAxis *m_y;
    std::vector<QLineSeries *> m_lines;
    std::vector<QGraphicsSimpleTextItem *> m_names;
    std::vector<QByteArray> m_recipes;
    std::vector<ScalingPoint> m_points;
    bool m_isTime = false;
    bool m_isElsewhere = false;
};

} // namespace lockscope::ui
