// SPDX-License-Identifier: Apache-2.0
// A lock over time, as it was recorded: who waited and who held in lanes, what was forced, when nobody held although
// somebody waited, how long holds and waits took. Arrows go from event to event, Enter shows the window as of one.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/timelinelanes.h"

#include <QAbstractScrollArea>
#include <QTimer>
#include <QWidget>

class QLabel;

namespace lockscope::ui {

class LaneArea;
class SpanHistogram;

class TimelineView : public QWidget {
    Q_OBJECT
public:
    using Moment = history::Moment;

    explicit TimelineView(QWidget *parent = nullptr);

    // Whose recorder, or opened file, is asked.
    void setBackend(Backend *backend) { m_backend = backend; }
    // The lock that is shown, and the moment it is shown as of; told again it may have changed.
    void setLock(const inspect::LockName &lock, Moment shownAt);
    [[nodiscard]] const history::Timeline &timeline() const { return m_timeline; }
    [[nodiscard]] const TimelineLanes &lanes() const { return m_lanes; }
    [[nodiscard]] Moment from() const { return m_from; }
    [[nodiscard]] Moment to() const { return m_to; }
    [[nodiscard]] Moment shownAt() const { return m_shownAt; }
    // Of the events; -1: none is chosen.
    [[nodiscard]] int current() const { return m_current; }
    void setCurrent(int event);
    [[nodiscard]] QString scopeText() const;
    [[nodiscard]] QString eventText() const;

signals:
    void momentActivated(std::chrono::sys_time<std::chrono::milliseconds> moment);

private:
    void showEvent(QShowEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;

    friend class LaneArea;
    void ask();
    void take(const LockPast &lock);
    void say();

    Backend *m_backend = nullptr;
    const Past *m_asked = nullptr; // only compared: it may be gone
    std::optional<inspect::LockName> m_lock;
    history::Timeline m_timeline;
    TimelineLanes m_lanes;
    RecordedSpan m_span;
    Moment m_from{}, m_to{}, m_shownAt{};
    int m_current = -1;
    QTimer m_askLater; // a busy lock changes with every frame
    QLabel *m_scope;
    QLabel *m_event;
    LaneArea *m_area;
    QWidget *m_side;
    SpanHistogram *m_holds;
    SpanHistogram *m_waits;
};

// The lanes of a lock's timeline, and how long its holds and waits took, as pictures.
class LaneArea : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit LaneArea(TimelineView &view);
    void changed();

private:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
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

private:
    void paintEvent(QPaintEvent *event) override;

    QString m_title;
    bool m_isOfHolds;
    QString m_words;
    std::array<int, spanBins> m_bins{};
};

} // namespace lockscope::ui
