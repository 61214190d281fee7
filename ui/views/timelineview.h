// SPDX-License-Identifier: Apache-2.0
// A lock over time, as it was recorded: who waited and who held in lanes, what was forced, when nobody held although
// somebody waited, how long holds and waits took. It is dragged, and arrows go from event to event: the window shows
// what was then. Above the lanes is all that is recorded, below or beside them are the events.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/timelinelanes.h"

#include <QAbstractScrollArea>
#include <QLabel>
#include <QTimer>

class QListWidget;

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
    // That moment is not the present.
    void setPast(bool isPast);
    [[nodiscard]] bool isPast() const { return m_isPast; }
    [[nodiscard]] const history::Timeline &timeline() const { return m_timeline; }
    [[nodiscard]] const TimelineLanes &lanes() const { return m_lanes; }
    // Of what the lanes show, and of all that is recorded; nothing before `since` can be shown.
    [[nodiscard]] Moment from() const { return m_from; }
    [[nodiscard]] Moment to() const { return m_to; }
    [[nodiscard]] Moment since() const { return m_since; }
    [[nodiscard]] Moment end() const { return m_span.end; }
    [[nodiscard]] bool goesOn() const { return m_backend && m_backend->past() && m_backend->past()->isGoingOn(); }
    [[nodiscard]] Moment shownAt() const { return m_shownAt; }
    [[nodiscard]] QString scopeText() const { return m_scope->text(); }
    [[nodiscard]] QString eventText() const;
    // The events around the moment that is shown, for whoever has more room for them; its place is beside the lanes.
    [[nodiscard]] QWidget &events() const { return *m_events; }
    void takeEvents();

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
    void sayEvents();
    void fit();
    void goToEvent(bool isBefore);
    void leavePast();

    Backend *m_backend = nullptr;
    const Past *m_asked = nullptr; // only compared: it may be gone
    std::optional<inspect::LockName> m_lock;
    history::Timeline m_timeline;
    TimelineLanes m_lanes;
    RecordedSpan m_span;
    Moment m_since{}, m_from{}, m_to{}, m_shownAt{};
    bool m_isPast = false;
    std::chrono::minutes m_range{5}; // of the lanes
    QTimer m_askLater;               // a busy lock changes with every frame
    QLabel *m_scope;
    QLabel *m_event;
    QList<QWidget *> m_parts; // that need a recording
    LaneArea *m_area;
    QWidget *m_side;
    SpanHistogram *m_holds;
    SpanHistogram *m_waits;
    QWidget *m_events;
    QLabel *m_eventsTitle;
    QListWidget *m_list;
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
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *) override { m_drag.reset(); }
    [[nodiscard]] double namesWidth() const;
    [[nodiscard]] QRectF lanesRect() const;
    [[nodiscard]] TimeAxis lanesAxis() const
    {
        return {m_view.from(), m_view.to(), lanesRect().left(), lanesRect().width()};
    }
    [[nodiscard]] TimeAxis wholeAxis() const;
    void seek(double x);
    void paintWhole(QPainter &painter) const;
    void paintLane(QPainter &painter, const TimelineLane &lane, double y) const;
    void paintSpans(QPainter &painter) const;
    void paintMarker(QPainter &painter) const;

    TimelineView &m_view;
    std::optional<TimeAxis> m_drag; // as it was when the drag began: what is shown moves meanwhile
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
