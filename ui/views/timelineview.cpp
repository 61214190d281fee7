// SPDX-License-Identifier: Apache-2.0
#include "ui/views/timelineview.h"

#include "core/base/text.h"
#include "ui/models/lockfacts.h"
#include "ui/models/screenclock.h"
#include "ui/parts/labels.h"
#include "ui/parts/parts.h"

#include <QKeyEvent>
#include <QListWidget>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>

#include <cmath>

namespace lockscope::ui {

using history::Moment;

namespace {

constexpr std::size_t mostLanes = 200;
constexpr int histogramsFrom = 620; // narrower, the lanes need the room
constexpr auto askedEvery = 1s;
constexpr int eventsWidth = 260; // the events, where they have no place of their own

QString eventTime(Moment moment)
{
    return timeOfDay(moment).toString(u"HH:mm:ss.zzz"_s);
}

} // namespace

TimelineView::TimelineView(QWidget *parent)
    : QWidget(parent), m_scope(named(new ElidedLabel(this), u"timelineScope"_s)),
      m_event(named(new ElidedLabel(this), u"timelineEvent"_s)), m_area(new LaneArea(*this)),
      m_side(new QWidget(this)), m_holds(new SpanHistogram(tr("Holds"), true, m_side)),
      m_waits(new SpanHistogram(tr("Waits"), false, m_side)), m_events(new QWidget(this)),
      m_eventsTitle(makeLabel({}, u"section"_s, m_events)),
      m_list(named(new QListWidget(m_events), u"timelineEvents"_s, tr("Events")))
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Timeline"));
    setAccessibleDescription(tr("← and → go to its events, with Shift by a second. Page Up and Page Down go by five "
                                "minutes, Home to the start, End to the live view"));
    m_scope->setProperty("look", u"muted"_s);
    m_events->hide();
    m_events->setMaximumWidth(eventsWidth);
    makeColumn(m_side, {.margins = {6, 0, 8, 0}}, {{m_holds, 1}, {m_waits, 1}});
    makeColumn(m_events, {.margins = {8, 8, 0, 0}, .spacing = 2}, {m_eventsTitle, {m_list, 1}});
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setWordWrap(true);
    m_list->setSpacing(1);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    const auto jump = [this](const QListWidgetItem *item) {
        emit momentActivated(Moment(std::chrono::milliseconds(item->data(Qt::UserRole).toLongLong())));
    };
    connect(m_list, &QListWidget::itemClicked, this, jump);
    connect(m_list, &QListWidget::itemActivated, this, jump);
    auto *range = new QPushButton(this);
    range->setProperty("look", u"flat"_s);
    range->setToolTip(tr("Time that the lanes show"));
    range->setMenu(new QMenu(range));
    for (const int minutes : {1, 5, 30})
        range->menu()->addAction(tr("%1 min").arg(minutes), this, [this, range, minutes] {
            m_range = std::chrono::minutes(minutes);
            range->setText(tr("%1 min ▾").arg(minutes));
            fit();
        });
    range->setText(tr("%1 min ▾").arg(m_range.count()));
    auto *five = makeButton(
        tr("− 5 min"), this, [this] { emit momentActivated(m_shownAt - 5min); }, u"flat"_s);
    auto *before = makeButton(
        tr("◂ Event"), this, [this] { goToEvent(true); }, u"flat"_s);
    auto *after = makeButton(
        tr("Event ▸"), this, [this] { goToEvent(false); }, u"flat"_s);
    auto *top = makeRow({.margins = {0, 0, 8, 0}, .spacing = 2}, {{m_scope, 1}, five, before, after, range});
    auto *row = makeRow({}, {{m_area, 1}, m_side, m_events});
    m_parts = {five, before, after, range, m_area, m_event};
    makeColumn(this, {.margins = {8, 4, 0, 4}, .spacing = 3}, {top, {row, 1}, m_event});
    callAfter(m_askLater, askedEvery, this, &TimelineView::ask);
    if (auto *theme = Theme::instance())
        connect(theme, &Theme::changed, this, &TimelineView::sayEvents);
    say();
}

// Beside the lanes again.
void TimelineView::takeEvents()
{
    auto *row = static_cast<QBoxLayout *>(layout()->itemAt(1)->layout());
    row->addWidget(m_events);
    m_events->setMaximumWidth(eventsWidth);
}

void TimelineView::setPast(bool isPast)
{
    if (std::exchange(m_isPast, isPast) == isPast)
        return;
    m_events->setVisible(isPast);
    m_side->setVisible(!isPast && width() >= histogramsFrom); // which are of the present, too
    fit();
    say();
}

void TimelineView::setLock(const inspect::LockName &lock, Moment shownAt)
{
    const bool isAnother = m_lock != lock;
    const bool isMoved = std::exchange(m_shownAt, shownAt) != shownAt;
    m_lock = lock;
    if (isAnother) {
        m_timeline = {};
        m_lanes = {};
        m_from = m_to = m_since = {};
        m_span = {};
        ask();
    } else if (const auto *past = m_backend ? m_backend->past() : nullptr;
               past && isVisible() && !m_askLater.isActive() && (past->isGoingOn() || past != m_asked)) {
        m_askLater.start();
    }
    if (!isAnother && !isMoved)
        return;
    fit();
    if (isAnother || m_isPast)
        say();
}

// The lanes stay while the moment is on them.
void TimelineView::fit()
{
    const Moment end = std::max(m_since, m_span.end);
    const bool isWhole = end - m_since <= m_range + m_range / 4;
    if (isWhole) {
        m_from = m_since;
        m_to = end;
    } else if (!m_isPast) {
        m_to = end;
        m_from = end - m_range;
    } else if (m_shownAt < m_from || m_shownAt > m_to || m_to - m_from != m_range) {
        m_from = std::clamp<Moment>(m_shownAt - m_range / 2, m_since, end - m_range);
        m_to = m_from + m_range;
    }
    m_area->changed();
}

void TimelineView::ask()
{
    auto *past = m_backend ? m_backend->past() : nullptr;
    if (!isVisible() || !m_lock || !past)
        return;
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
    m_timeline = lock.timeline;
    m_span = lock.span;
    m_since = lock.since;
    m_lanes = lanesOf(m_timeline, m_span.end, mostLanes);
    m_holds->setSpans(m_timeline.holdSpans);
    m_waits->setSpans(m_timeline.waitSpans);
    fit();
    say();
}

void TimelineView::say()
{
    const bool isRecorded = m_backend && m_backend->past();
    for (auto *part : m_parts)
        part->setVisible(isRecorded);
    m_side->setVisible(!m_isPast && width() >= histogramsFrom && isRecorded);
    const auto since = tr("Recorded since %1").arg(eventTime(m_since).left(8));
    if (!isRecorded) {
        m_scope->setText(tr("Nothing is recorded: the recorder is off"));
    } else if (m_timeline.events.empty()) {
        m_scope->setText(!m_lock || m_span.end == Moment{} ? QString()
                                                           : tr("%1. Nothing of this lock yet").arg(since));
    } else if (m_isPast) {
        m_scope->setText(since);
    } else {
        auto words =
            tr("%1 · %2 · %3 forced")
                .arg(since, m_timeline.handOffs == 1 ? tr("1 hand-off") : tr("%1 hand-offs").arg(m_timeline.handOffs),
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
    sayEvents();
}

// Those around the moment that is shown; what is later is pale.
void TimelineView::sayEvents()
{
    if (!m_isPast)
        return;
    constexpr std::ptrdiff_t mostOnEachSide = 100;
    const auto &tokens = Theme::tokens();
    const auto &events = m_timeline.events;
    const auto later = std::ranges::upper_bound(events, m_shownAt, {}, &history::TimelineEvent::at);
    const auto add = [&](Moment at, const QString &text, const QColor &color) {
        auto *item = new QListWidgetItem(text, m_list);
        item->setData(Qt::UserRole, qint64(at.time_since_epoch().count()));
        item->setForeground(color);
        return item;
    };
    const auto addEvent = [&](const history::TimelineEvent &event, const QColor &color) {
        const auto who = event.contender.id.isEmpty()
                             ? QString()
                             : u"\n      "_s + whoIsByName(event.contender, m_timeline.backend);
        add(event.at, eventTime(event.at).chopped(2) + u"  "_s + harmless(history::wordsOf(event)) + who, color);
    };
    m_list->clear();
    for (auto at = later - std::min(mostOnEachSide, later - events.begin()); at != later; ++at)
        addEvent(*at, tokens.text);
    auto *here = add(m_shownAt, tr("%1  viewing").arg(eventTime(m_shownAt).chopped(2)), tokens.past);
    here->setBackground(tokens.pastSoft);
    for (auto at = later; at != later + std::min(mostOnEachSide, events.end() - later); ++at)
        addEvent(*at, tokens.muted);
    m_list->scrollToItem(here, QAbstractItemView::PositionAtCenter);
    m_eventsTitle->setText(tr("EVENTS, %1 EARLIER, %2 LATER").arg(later - events.begin()).arg(events.end() - later));
}

// The last one that had happened.
QString TimelineView::eventText() const
{
    const auto &events = m_timeline.events;
    if (!m_isPast)
        return events.empty() ? QString() : tr("Drag here, or press ← and →, to go back to its events");
    const auto later = std::ranges::upper_bound(events, m_shownAt, {}, &history::TimelineEvent::at);
    if (later == events.begin())
        return tr("Before its first recorded event");
    const auto &event = *std::prev(later);
    const QString who =
        event.contender.id.isEmpty() ? QString() : whoIsByName(event.contender, m_timeline.backend) + u' ';
    return tr("%1 of %2: %3 %4")
        .arg(QString::number(later - events.begin()), QString::number(events.size()), eventTime(event.at),
             who + harmless(history::wordsOf(event)));
}

void TimelineView::goToEvent(bool isBefore)
{
    if (m_span.end == history::Moment{})
        return; // its events are not read yet
    const auto &events = m_timeline.events;
    const auto at = isBefore ? std::ranges::lower_bound(events, m_shownAt, {}, &history::TimelineEvent::at)
                             : std::ranges::upper_bound(events, m_shownAt, {}, &history::TimelineEvent::at);
    if (isBefore)
        emit momentActivated(at == events.begin() ? m_since : std::prev(at)->at);
    else if (at != events.end())
        emit momentActivated(at->at);
    else
        leavePast();
}

// To the live view, or the end of a file.
void TimelineView::leavePast()
{
    if (m_span.end != history::Moment{})
        emit momentActivated(m_span.end + 24h);
}

void TimelineView::keyPressEvent(QKeyEvent *event)
{
    if (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier))
        return QWidget::keyPressEvent(event);
    const bool isByTime = event->modifiers() & Qt::ShiftModifier;
    const int key = event->key();
    if ((key == Qt::Key_Left || key == Qt::Key_Right) && !isByTime)
        goToEvent(key == Qt::Key_Left);
    else if (key == Qt::Key_Left || key == Qt::Key_Right)
        emit momentActivated(m_shownAt + (key == Qt::Key_Left ? -1s : 1s));
    else if (key == Qt::Key_PageUp || key == Qt::Key_PageDown)
        emit momentActivated(m_shownAt + (key == Qt::Key_PageUp ? -5min : 5min));
    else if (key == Qt::Key_Home && m_span.end != history::Moment{})
        emit momentActivated(m_since);
    else if (key == Qt::Key_End)
        leavePast();
    else
        QWidget::keyPressEvent(event);
}

void TimelineView::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    ask();
}

void TimelineView::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    m_side->setVisible(!m_isPast && width() >= histogramsFrom && m_area->isVisibleTo(this));
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
