// SPDX-License-Identifier: Apache-2.0
#include "ui/views/timelineview.h"

#include "core/base/clock.h"
#include "core/base/duration.h"
#include "core/base/text.h"
#include "ui/models/lockfacts.h"
#include "ui/models/screenclock.h"
#include "ui/parts/parts.h"
#include "ui/views/lanearea.h"

#include <QBoxLayout>
#include <QDateTime>
#include <QKeyEvent>
#include <QLabel>

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
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
    : QWidget(parent), m_scope(makeLabel({}, u"muted"_s, this)), m_event(makeLabel({}, {}, this)),
      m_area(new LaneArea(*this)), m_side(new QWidget(this)), m_holds(new SpanHistogram(tr("Holds"), true, m_side)),
      m_waits(new SpanHistogram(tr("Waits"), false, m_side))
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Timeline"));
    m_scope->setObjectName(u"timelineScope"_s);
    m_event->setObjectName(u"timelineEvent"_s);
    for (auto *line : {m_scope, m_event})
        line->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto *side = new QVBoxLayout(m_side);
    side->setContentsMargins(6, 0, 8, 0);
    side->addWidget(m_holds, 1);
    side->addWidget(m_waits, 1);
    auto *row = new QHBoxLayout;
    row->addWidget(m_area, 1);
    row->addWidget(m_side);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 0, 4);
    column->setSpacing(3);
    column->addWidget(m_scope);
    column->addLayout(row, 1);
    column->addWidget(m_event);
    m_askLater.setSingleShot(true);
    m_askLater.setInterval(askedEvery);
    connect(&m_askLater, &QTimer::timeout, this, &TimelineView::ask);
    say();
}

void TimelineView::setBackend(Backend *backend)
{
    m_backend = backend;
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
            words += tr(" · gaps: median %1, longest %2")
                         .arg(spokenDuration(m_timeline.gaps.p50), spokenDuration(m_timeline.gaps.max));
        if (m_lanes.leftOut > 0)
            words += tr(" · without %1 earlier contenders").arg(m_lanes.leftOut);
        m_scope->setText(words);
        m_scope->setToolTip(
            tr("What was seen, and recorded: what came and went between two looks is not there. A gap is "
               "when nobody held it although somebody waited; one look that saw the end and the next "
               "holder counts as 0."));
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

} // namespace lockscope::ui

#include "moc_timelineview.cpp"
