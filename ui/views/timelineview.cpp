// SPDX-License-Identifier: Apache-2.0
#include "ui/views/timelineview.h"

#include "core/base/clock.h"
#include "core/base/duration.h"
#include "core/base/text.h"
#include "ui/models/lockfacts.h"
#include "ui/models/screenclock.h"
#include "ui/parts/layouts.h"
#include "ui/parts/parts.h"
#include "ui/theme/theme.h"

#include <QDateTime>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

namespace lockscope::ui {

using history::Moment;

namespace {

constexpr std::size_t mostLanes = 200;
constexpr int histogramsFrom = 620; // narrower, the lanes need the room
constexpr auto askedEvery = 1s;

QString eventTime(Moment moment)
{
    return timeOfDay(moment).toString(u"HH:mm:ss.zzz"_s);
}

} // namespace

TimelineView::TimelineView(QWidget *parent)
    : QWidget(parent), m_scope(named(makeLabel({}, u"muted"_s, this), u"timelineScope"_s)),
      m_event(named(makeLabel({}, {}, this), u"timelineEvent"_s)), m_area(new LaneArea(*this)),
      m_side(new QWidget(this)), m_holds(new SpanHistogram(tr("Holds"), true, m_side)),
      m_waits(new SpanHistogram(tr("Waits"), false, m_side))
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Timeline"));
    for (auto *line : {m_scope, m_event})
        line->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    makeColumn(m_side, {.margins = {6, 0, 8, 0}}, {{m_holds, 1}, {m_waits, 1}});
    auto *row = makeRow({}, {{m_area, 1}, m_side});
    makeColumn(this, {.margins = {8, 8, 0, 4}, .spacing = 3}, {m_scope, {row, 1}, m_event});
    m_askLater.setSingleShot(true);
    m_askLater.setInterval(askedEvery);
    connect(&m_askLater, &QTimer::timeout, this, &TimelineView::ask);
    say();
}

void TimelineView::setLock(const inspect::LockName &lock, Moment shownAt)
{
    const bool isAnother = m_lock != lock;
    m_lock = lock;
    m_shownAt = shownAt;
    m_area->changed();
    if (isAnother) {
        m_timeline = {};
        m_lanes = {};
        m_current = -1;
        say();
        ask();
    } else if (const auto *past = m_backend ? m_backend->past() : nullptr;
               past && isVisible() && !m_askLater.isActive() && (past->isGoingOn() || past != m_asked)) {
        m_askLater.start();
    }
}

void TimelineView::ask()
{
    auto *past = m_backend ? m_backend->past() : nullptr;
    if (!isVisible() || !m_lock)
        return;
    if (!past) {
        m_scope->setText(tr("Nothing is recorded: the recorder is off"));
        return;
    }
    m_asked = past;
    const auto now = [] { return std::chrono::floor<std::chrono::milliseconds>(programClock().now()); };
    past->lock(*m_lock, past->isGoingOn() ? now() : Moment::max(), m_backend->clientLabels(), this,
               [this, lock = *m_lock, now, asked = now()](const Result<LockPast> &answer) {
                   m_askLater.setInterval(std::max<std::chrono::milliseconds>(askedEvery, 10 * (now() - asked)));
                   if (m_lock != lock)
                       return;
                   if (answer)
                       take(*answer);
                   else
                       m_scope->setText(label(answer.error().message.toUtf8(), 300));
               });
}

void TimelineView::take(const LockPast &lock)
{
    const auto chosen =
        m_current >= 0 ? std::optional(m_timeline.events[static_cast<std::size_t>(m_current)].at) : std::nullopt;
    m_timeline = lock.timeline;
    m_span = lock.span;
    m_to = lock.span.end;
    m_from = m_timeline.events.empty() ? lock.span.begin : std::min(m_to, m_timeline.events.front().at);
    m_lanes = lanesOf(m_timeline, m_to, mostLanes);
    m_holds->setSpans(m_timeline.holdSpans);
    m_waits->setSpans(m_timeline.waitSpans);
    m_current = -1;
    if (chosen) {
        const auto at = std::ranges::find(m_timeline.events, *chosen, &history::TimelineEvent::at);
        m_current = at == m_timeline.events.end() ? -1 : static_cast<int>(at - m_timeline.events.begin());
    }
    say();
    m_area->changed();
}

void TimelineView::say()
{
    if (m_timeline.events.empty()) {
        m_scope->setText(m_lock ? tr("Nothing is recorded of it yet") : QString());
    } else {
        auto words =
            tr("%1 to %2 · %3 · %4 forced")
                .arg(eventTime(m_from).left(8), eventTime(m_to).left(8),
                     m_timeline.handOffs == 1 ? tr("1 hand-off") : tr("%1 hand-offs").arg(m_timeline.handOffs),
                     QString::number(m_timeline.forced));
        if (m_timeline.gaps.count > 0)
            words = tr("%1 · gaps: median %2, longest %3")
                        .arg(words, formatDuration(m_timeline.gaps.p50), formatDuration(m_timeline.gaps.max));
        if (m_lanes.leftOut > 0)
            words = tr("%1 · without %2 earlier contenders").arg(words, QString::number(m_lanes.leftOut));
        m_scope->setText(words);
        m_scope->setToolTip(tr(
            "Shows what was observed. Changes between two reads are missing. A gap is a time when no client held the lock although a client was waiting. A hand-off seen in one read counts as a gap of 0."));
    }
    m_event->setText(eventText());
}

QString TimelineView::scopeText() const
{
    return m_scope->text();
}

QString TimelineView::eventText() const
{
    if (m_timeline.events.empty())
        return {};
    if (m_current < 0)
        return tr("← → from event to event, Enter shows the window as of it");
    const auto &event = m_timeline.events[static_cast<std::size_t>(m_current)];
    const QString who =
        event.contender.id.isEmpty() ? QString() : whoIsByName(event.contender, m_timeline.backend) + u' ';
    return tr("%1 of %2: %3 %4")
        .arg(QString::number(m_current + 1), QString::number(m_timeline.events.size()), eventTime(event.at),
             who + harmless(history::wordsOf(event)));
}

void TimelineView::setCurrent(int event)
{
    const auto count = static_cast<int>(m_timeline.events.size());
    m_current = count == 0 ? -1 : std::clamp(event, 0, count - 1);
    m_event->setText(eventText());
    m_area->viewport()->update();
}

void TimelineView::keyPressEvent(QKeyEvent *event)
{
    const auto last = static_cast<int>(m_timeline.events.size()) - 1;
    switch (event->key()) {
    case Qt::Key_Left: setCurrent(m_current < 0 ? last : m_current - 1); break;
    case Qt::Key_Right: setCurrent(m_current < 0 ? last : m_current + 1); break;
    case Qt::Key_Home: setCurrent(0); break;
    case Qt::Key_End: setCurrent(last); break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_current >= 0)
            emit momentActivated(m_timeline.events[static_cast<std::size_t>(m_current)].at);
        break;
    default: QWidget::keyPressEvent(event);
    }
}

void TimelineView::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    ask();
}

void TimelineView::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    m_side->setVisible(width() >= histogramsFrom);
}

void TimelineView::focusInEvent(QFocusEvent *event)
{
    QWidget::focusInEvent(event);
    m_area->viewport()->update();
}

void TimelineView::focusOutEvent(QFocusEvent *event)
{
    QWidget::focusOutEvent(event);
    m_area->viewport()->update();
}

namespace {

constexpr double laneHigh = 20;
constexpr double namesWide = 132;
constexpr double axisHigh = 16;

QString laneTime(history::Moment moment)
{
    return timeOfDay(moment).toString(u"HH:mm:ss"_s);
}

} // namespace

LaneArea::LaneArea(TimelineView &view) : QAbstractScrollArea(&view), m_view(view)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setMinimumHeight(60);
}

QRectF LaneArea::lanesRect() const
{
    const QRectF all(viewport()->rect());
    return {namesWide, 0, std::max(20.0, all.width() - namesWide - 12), all.height() - axisHigh};
}

double LaneArea::xOf(history::Moment moment) const
{
    const auto rect = lanesRect();
    const auto whole = std::max<double>(1, static_cast<double>((m_view.to() - m_view.from()).count()));
    const auto part = static_cast<double>((std::clamp(moment, m_view.from(), m_view.to()) - m_view.from()).count());
    return rect.left() + part / whole * rect.width();
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

// Solid: holds. Outlined: waits. A cross at the end: forced.
void LaneArea::paintLane(QPainter &painter, const TimelineLane &lane, double y) const
{
    const auto &tokens = Theme::tokens();
    painter.setFont(textFont(12));
    painter.setPen(tokens.text);
    const QRectF name(8, y, namesWide - 14, laneHigh);
    const auto who = whoIsByName(lane.contender, m_view.timeline().backend);
    painter.drawText(name, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(painter.font()).elidedText(who, Qt::ElideRight, name.width()));
    for (const auto &bar : lane.bars) {
        const double left = xOf(bar.from);
        const QRectF shape(left, y + (bar.holds ? 4 : 7), std::max(2.0, xOf(bar.to) - left),
                           laneHigh - (bar.holds ? 8 : 14));
        painter.setPen(bar.holds ? QPen(Qt::NoPen) : QPen(tokens.wait, 1));
        painter.setBrush(bar.holds ? tokens.hold : tokens.waitSoft);
        painter.drawRect(shape);
        if (!bar.isForced)
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
    const auto fill = [&](const TimelineSpan &span, const QBrush &brush) {
        const double left = xOf(span.from);
        painter.fillRect(QRectF(left, rect.top(), std::max(1.5, xOf(span.to) - left), rect.height()), brush);
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
    paintSpans(painter);
    const auto &lanes = m_view.lanes().lanes;
    const double scrolled = verticalScrollBar()->value();
    painter.setClipRect(QRectF(0, 0, viewport()->width(), rect.bottom()));
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const double y = static_cast<double>(i) * laneHigh - scrolled;
        if (y > -laneHigh && y < rect.bottom())
            paintLane(painter, lanes[i], y);
    }
    painter.setClipping(false);
    const auto line = [&](history::Moment at, const QPen &pen) {
        painter.setPen(pen);
        painter.drawLine(QPointF(xOf(at), rect.top()), QPointF(xOf(at), rect.bottom() + 3));
    };
    if (m_view.shownAt() < m_view.to())
        line(m_view.shownAt(), QPen(tokens.warning, 2));
    if (m_view.current() >= 0)
        line(m_view.timeline().events[static_cast<std::size_t>(m_view.current())].at,
             QPen(tokens.accent, m_view.hasFocus() ? 2 : 1, Qt::DashLine));
    if (lanes.empty())
        return;
    painter.setPen(tokens.muted);
    painter.setFont(textFont(11));
    const QRectF axis(rect.left(), rect.bottom() + 1, rect.width(), axisHigh - 1);
    drawTabular(painter, axis, Qt::AlignLeft, laneTime(m_view.from()));
    drawTabular(painter, axis, Qt::AlignRight, laneTime(m_view.to()));
}

// The event that is nearest to the pointer.
void LaneArea::mousePressEvent(QMouseEvent *event)
{
    m_view.setFocus(Qt::MouseFocusReason);
    const auto &events = m_view.timeline().events;
    if (events.empty())
        return;
    const double x = event->position().x();
    const auto nearest =
        std::ranges::min_element(events, {}, [&](const auto &one) { return std::abs(xOf(one.at) - x); });
    m_view.setCurrent(static_cast<int>(nearest - events.begin()));
}

void LaneArea::mouseDoubleClickEvent(QMouseEvent *event)
{
    mousePressEvent(event);
    if (m_view.current() >= 0)
        emit m_view.momentActivated(m_view.timeline().events[static_cast<std::size_t>(m_view.current())].at);
}

SpanHistogram::SpanHistogram(const QString &title, bool holds, QWidget *parent)
    : QWidget(parent), m_title(title), m_isOfHolds(holds)
{
    setFixedWidth(210);
    setMinimumHeight(56);
}

void SpanHistogram::setSpans(const std::vector<std::chrono::milliseconds> &sorted)
{
    m_bins = binsOf(sorted);
    m_words = sorted.empty() ? tr("%1: no whole one seen").arg(m_title)
                             : tr("%1: n %2 · median %3 · p95 %4")
                                   .arg(m_title, QString::number(sorted.size()),
                                        formatDuration(history::percentileOf(sorted, 50)),
                                        formatDuration(history::percentileOf(sorted, 95)));
    setToolTip(tr("%1\nBins from below 10 ms, each ten times as long. Median and p95 are spans that were really "
                  "there (nearest rank), recorded from their beginning to their end.")
                   .arg(m_words));
    setAccessibleName(m_words);
    update();
}

// How many there are stands above the rest where one line is too narrow for both.
QStringList SpanHistogram::linesIn(int width) const
{
    const auto end = m_words.indexOf(u" · "_s);
    if (end < 0 || QFontMetricsF(textFont(11)).horizontalAdvance(m_words) <= width)
        return {m_words};
    return {m_words.left(end), m_words.mid(end + 3)};
}

void SpanHistogram::paintEvent(QPaintEvent *)
{
    constexpr double lineHeight = 15;
    static const QStringList ends{u"10 ms"_s, {}, u"1 s"_s, {}, u"100 s"_s, {}, u"2.8 h"_s, {}};
    const auto &tokens = Theme::tokens();
    QPainter painter(this);
    painter.setFont(textFont(11));
    painter.setPen(tokens.muted);
    const auto lines = linesIn(width());
    for (qsizetype line = 0; line < lines.size(); ++line)
        painter.drawText(QRectF(0, lineHeight * static_cast<double>(line), width(), lineHeight),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         QFontMetricsF(painter.font()).elidedText(lines[line], Qt::ElideRight, width()));
    const double top = lineHeight * static_cast<double>(lines.size()) + 2;
    const int most = *std::ranges::max_element(m_bins);
    if (most == 0)
        return;
    const double wide = static_cast<double>(width()) / spanBins;
    const double high = height() - 15 - top;
    for (std::size_t bin = 0; bin < spanBins; ++bin) {
        const QRectF cell(wide * static_cast<double>(bin), top, wide - 3, high);
        const double part = high * m_bins[bin] / most;
        painter.fillRect(QRectF(cell.left(), cell.bottom() - part, cell.width(), part),
                         m_isOfHolds ? tokens.hold : tokens.wait);
        painter.setPen(tokens.line);
        painter.drawLine(cell.bottomLeft(), cell.bottomRight());
        const auto &end = ends[static_cast<qsizetype>(bin)]; // where this one ends, and the next begins
        if (end.isEmpty())
            continue;
        const QPointF edge(cell.right() + 1.5, cell.bottom());
        painter.drawLine(edge, edge + QPointF(0, 3));
        painter.setPen(tokens.muted);
        painter.drawText(QRectF(edge.x() - wide, edge.y() + 2, 2 * wide, 13), Qt::AlignHCenter, end);
    }
}

} // namespace lockscope::ui

#include "moc_timelineview.cpp"
