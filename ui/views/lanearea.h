// SPDX-License-Identifier: Apache-2.0
// The lanes of a lock's timeline, and how long its holds and waits took, as pictures.
#pragma once

#include "ui/models/timelinelanes.h"

#include <QAbstractScrollArea>

namespace lockscope::ui {

class TimelineView;

class LaneArea : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit LaneArea(TimelineView &view);
    void changed();

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;

private:
    [[nodiscard]] QRectF lanesRect() const;
    [[nodiscard]] double xOf(history::Moment moment) const;
    void paintLane(QPainter &painter, const TimelineLane &lane, double y) const;
    void paintSpans(QPainter &painter) const;

    TimelineView &m_view;
};

class SpanHistogram : public QWidget {
    Q_OBJECT
public:
    SpanHistogram(const QString &title, bool holds, QWidget *parent);
    void setSpans(const std::vector<std::chrono::milliseconds> &sorted);
    [[nodiscard]] const QString &words() const { return m_words; }
    [[nodiscard]] QStringList linesIn(int width) const; // as they are painted
    [[nodiscard]] QSize sizeHint() const override { return {210, 84}; }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QString m_title;
    bool m_isOfHolds;
    QString m_words;
    std::array<int, spanBins> m_bins{};
};

} // namespace lockscope::ui
