// SPDX-License-Identifier: Apache-2.0
// The lanes of a lock's timeline: how they are painted, and how they are dragged.
#include "ui/models/lockfacts.h"
#include "ui/models/screenclock.h"
#include "ui/parts/parts.h"
#include "ui/views/timelineview.h"

#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>

namespace lockscope::ui {

namespace {

constexpr double laneHigh = 20;
constexpr double wholeHigh = 22; // of what is recorded, above the lanes
constexpr double stubWide = 14;  // of the time before it, which has no end
constexpr double axisHigh = 20;

QString laneTime(history::Moment moment)
{
    return timeOfDay(moment).toString(u"HH:mm:ss"_s);
}

// Over what is later than the view.
QColor laterVeil()
{
    auto color = Theme::tokens().panel;
    color.setAlphaF(0.6F);
    return color;
}

} // namespace

LaneArea::LaneArea(TimelineView &view) : QAbstractScrollArea(&view), m_view(view)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setMinimumHeight(60);
}

// Of a client's name with its host as much as there is room for.
double LaneArea::namesWidth() const
{
    return std::clamp(viewport()->width() / 4.0, 132.0, 250.0);
}

QRectF LaneArea::lanesRect() const
{
    const QRectF all(viewport()->rect());
    return {namesWidth(), wholeHigh, std::max(20.0, all.width() - namesWidth() - 12),
            std::max(0.0, all.height() - wholeHigh - axisHigh)};
}

TimeAxis LaneArea::wholeAxis() const
{
    return {m_view.since(), std::max(m_view.since(), m_view.end()), lanesRect().left() + stubWide,
            lanesRect().width() - stubWide};
}

void LaneArea::changed()
{
    const auto high = static_cast<int>(laneHigh * static_cast<double>(m_view.lanes().lanes.size()));
    const int page = static_cast<int>(lanesRect().height());
    auto *bar = verticalScrollBar();
    const bool wasAtEnd = bar->value() == bar->maximum();
    bar->setRange(0, std::max(0, high - page));
    bar->setPageStep(page);
    bar->setSingleStep(static_cast<int>(laneHigh));
    if (wasAtEnd) // the newest are below
        bar->setValue(bar->maximum());
    viewport()->update();
}

void LaneArea::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    changed();
}

// All that is recorded: what was held, which part the lanes show, and what cannot be reached.
void LaneArea::paintWhole(QPainter &painter) const
{
    const auto &tokens = Theme::tokens();
    const auto axis = wholeAxis();
    const QRectF box(lanesRect().left(), 2, lanesRect().width(), wholeHigh - 8);
    painter.fillRect(QRectF(box.topLeft(), QSizeF(stubWide, box.height())), QBrush(tokens.muted, Qt::BDiagPattern));
    painter.setPen(Qt::NoPen);
    painter.setBrush(tokens.hold);
    for (const auto &lane : m_view.lanes().lanes) {
        for (const auto &bar : lane.bars) {
            const double left = axis.xOf(bar.from);
            if (bar.holds)
                painter.drawRect(
                    QRectF(left, box.top() + 4, std::max(1.0, axis.xOf(bar.to) - left), box.height() - 8));
        }
    }
    const double shownAt = axis.xOf(m_view.shownAt());
    if (m_view.isPast())
        painter.fillRect(QRectF(QPointF(shownAt, box.top()), box.bottomRight()), laterVeil());
    painter.setBrush(Qt::NoBrush);
    painter.setPen(tokens.line);
    painter.drawRect(box);
    painter.setPen(QPen(m_view.isPast() ? tokens.past : tokens.accent, 1.5));
    const double left = axis.xOf(m_view.from());
    painter.drawRect(QRectF(left, box.top(), axis.xOf(m_view.to()) - left, box.height()));
    if (m_view.isPast())
        painter.drawLine(QPointF(shownAt, box.top()), QPointF(shownAt, box.bottom()));
    painter.setPen(tokens.muted);
    painter.setFont(textFont(12));
    painter.drawText(QRectF(8, box.top(), namesWidth() - 14, box.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     TimelineView::tr("Recorded"));
}

// Where the window stands: what is later is veiled.
void LaneArea::paintMarker(QPainter &painter) const
{
    const auto &tokens = Theme::tokens();
    const auto rect = lanesRect();
    const double x = lanesAxis().xOf(m_view.shownAt());
    painter.fillRect(QRectF(QPointF(x, rect.top()), rect.bottomRight()), laterVeil());
    painter.setPen(QPen(tokens.past, 2.5));
    painter.drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()));
    painter.setPen(Qt::NoPen);
    painter.setBrush(tokens.past);
    painter.drawEllipse(QPointF(x, rect.top()), 5, 5);
    painter.setFont(textFont(11, QFont::DemiBold));
    QRectF tag(0, 0, painter.fontMetrics().horizontalAdvance(u"00:00:00"_s) + 12, axisHigh - 2);
    tag.moveCenter(QPointF(std::clamp(x, tag.width() / 2, viewport()->width() - tag.width() / 2), 0));
    tag.moveTop(rect.bottom() + 2);
    painter.drawRoundedRect(tag, 4, 4);
    painter.setPen(tokens.onPast);
    drawTabular(painter, tag, Qt::AlignCenter, laneTime(m_view.shownAt()));
}

// Solid: holds. Outlined: waits. A cross at the end: forced.
void LaneArea::paintLane(QPainter &painter, const TimelineLane &lane, double y) const
{
    const auto &tokens = Theme::tokens();
    painter.setFont(textFont(12));
    painter.setPen(tokens.text);
    const auto axis = lanesAxis();
    const QRectF name(8, y, namesWidth() - 14, laneHigh);
    const auto who = whoIsByName(lane.contender, m_view.timeline().backend);
    painter.drawText(name, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(painter.font()).elidedText(who, Qt::ElideRight, name.width()));
    for (const auto &bar : lane.bars) {
        if (bar.to < axis.from || bar.from > axis.to)
            continue;
        const double left = axis.xOf(bar.from);
        const QRectF shape(left, y + (bar.holds ? 4 : 7), std::max(2.0, axis.xOf(bar.to) - left),
                           laneHigh - (bar.holds ? 8 : 14));
        painter.setPen(bar.holds ? QPen(Qt::NoPen) : QPen(tokens.wait, 1));
        painter.setBrush(bar.holds ? tokens.hold : tokens.waitSoft);
        painter.drawRect(shape);
        if (!bar.isForced || bar.to > axis.to)
            continue;
        painter.setPen(QPen(tokens.critical, 2.5));
        const QPointF end(shape.right(), y + laneHigh / 2);
        painter.drawLine(end + QPointF(-5, -5), end + QPointF(5, 5));
        painter.drawLine(end + QPointF(-5, 5), end + QPointF(5, -5));
    }
}

// Behind the lanes: when nobody held although somebody waited, and when nothing was seen.
void LaneArea::paintSpans(QPainter &painter) const
{
    const auto &tokens = Theme::tokens();
    const auto rect = lanesRect();
    const auto axis = lanesAxis();
    const auto fill = [&](const TimelineSpan &span, const QBrush &brush) {
        const double left = axis.xOf(span.from);
        if (span.to >= axis.from && span.from <= axis.to)
            painter.fillRect(QRectF(left, rect.top(), std::max(1.5, axis.xOf(span.to) - left), rect.height()), brush);
    };
    for (const auto &span : m_view.lanes().gaps)
        fill(span, tokens.warningSoft);
    for (const auto &span : m_view.lanes().unseen)
        fill(span, QBrush(tokens.muted, Qt::BDiagPattern));
}

void LaneArea::paintEvent(QPaintEvent *)
{
    const auto &tokens = Theme::tokens();
    QPainter painter(viewport());
    painter.setRenderHint(QPainter::Antialiasing);
    const auto rect = lanesRect();
    if (m_view.end() == history::Moment{})
        return;
    paintWhole(painter);
    paintSpans(painter);
    const auto &lanes = m_view.lanes().lanes;
    const double scrolled = verticalScrollBar()->value();
    painter.setClipRect(QRectF(0, rect.top(), viewport()->width(), rect.height()));
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const double y = rect.top() + static_cast<double>(i) * laneHigh - scrolled;
        if (y > rect.top() - laneHigh && y < rect.bottom())
            paintLane(painter, lanes[i], y);
    }
    painter.setClipping(false);
    painter.setPen(tokens.muted);
    painter.setFont(textFont(11));
    const QRectF axis(rect.left(), rect.bottom() + 3, rect.width(), axisHigh - 3);
    const bool isAtEnd = m_view.to() >= m_view.end();
    drawTabular(painter, axis, Qt::AlignLeft, laneTime(m_view.from()));
    const auto to = laneTime(m_view.to());
    drawTabular(painter, axis, Qt::AlignRight, isAtEnd && m_view.goesOn() ? TimelineView::tr("live %1").arg(to) : to);
    painter.setPen(QPen(isAtEnd ? tokens.text : tokens.line, 1.5));
    painter.drawLine(rect.topRight(), rect.bottomRight());
    if (m_view.isPast())
        paintMarker(painter);
    if (m_view.hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(tokens.accent, 2));
        painter.drawRect(QRectF(viewport()->rect()).adjusted(1, 1, -1, -1));
    }
}

void LaneArea::mousePressEvent(QMouseEvent *event)
{
    m_view.setFocus(Qt::MouseFocusReason);
    const bool isOnTime = event->position().x() >= lanesRect().left(); // not on a client's name
    if (event->button() != Qt::LeftButton || m_view.end() == history::Moment{} || !isOnTime)
        return;
    m_drag = event->position().y() < lanesRect().top() ? wholeAxis() : lanesAxis();
    seek(event->position().x());
}

void LaneArea::mouseMoveEvent(QMouseEvent *event)
{
    if (m_drag)
        seek(event->position().x());
}

// At the right end is the live view.
void LaneArea::seek(double x)
{
    const auto moment = m_drag->momentAt(x);
    if (moment >= m_drag->to && m_drag->to >= m_view.end())
        m_view.leavePast();
    else
        emit m_view.momentActivated(moment);
}

} // namespace lockscope::ui
