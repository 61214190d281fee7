// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/timetrack.h"

#include "ui/models/screenclock.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QDateTime>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr double lineBelow = 15; // the middle of the line
constexpr double handleSize = 7;

QString trackTime(TimeTrack::Moment moment)
{
    return timeOfDay(moment).toString(u"HH:mm:ss"_s);
}

} // namespace

TimeTrack::TimeTrack(QWidget *parent) : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setFixedHeight(40);
    setMinimumWidth(160);
    setAccessibleName(tr("Time"));
    setAccessibleDescription(
        tr("← and → go by a second, with Shift by half a minute, Page Up and Page Down by five"));
}

void TimeTrack::setSpan(Moment begin, Moment end)
{
    m_begin = begin;
    m_end = std::max(begin, end);
    update();
}

void TimeTrack::setMoment(std::optional<Moment> at)
{
    m_at = at;
    update();
}

void TimeTrack::setMarks(std::vector<Moment> marks)
{
    m_marks = std::move(marks);
    update();
}

std::optional<TimeTrack::Moment> TimeTrack::markBefore() const
{
    const auto at = std::ranges::lower_bound(m_marks, m_at.value_or(m_end + 1ms));
    return at == m_marks.begin() ? std::nullopt : std::optional(*std::prev(at));
}

std::optional<TimeTrack::Moment> TimeTrack::markAfter() const
{
    const auto at = std::ranges::upper_bound(m_marks, m_at.value_or(m_end));
    return at == m_marks.end() ? std::nullopt : std::optional(*at);
}

QRectF TimeTrack::line() const
{
    return {handleSize + 1, lineBelow - 2, width() - 2 * handleSize - 2, 4};
}

double TimeTrack::xOf(Moment moment) const
{
    const auto whole = static_cast<double>((m_end - m_begin).count());
    const auto part = static_cast<double>((std::clamp(moment, m_begin, m_end) - m_begin).count());
    return line().left() + (whole > 0 ? part / whole : 1.0) * line().width();
}

TimeTrack::Moment TimeTrack::momentAt(double x) const
{
    const double part = std::clamp((x - line().left()) / line().width(), 0.0, 1.0);
    return m_begin + std::chrono::milliseconds(std::llround(part * static_cast<double>((m_end - m_begin).count())));
}

void TimeTrack::paintEvent(QPaintEvent *)
{
    const auto &tokens = Theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(tokens.line);
    painter.drawRoundedRect(line(), 2, 2);
    const double x = xOf(m_at.value_or(m_end));
    painter.setBrush(m_at ? tokens.warning : tokens.accent);
    painter.drawRoundedRect(QRectF(line().topLeft(), QPointF(x, line().bottom())), 2, 2);
    // One mark a pixel: a busy lock has thousands.
    painter.setBrush(tokens.text);
    int last = -1;
    for (const auto mark : m_marks) {
        const int at = static_cast<int>(xOf(mark));
        if (mark >= m_begin && std::exchange(last, at) != at)
            painter.drawRect(QRectF(at, lineBelow - 8, 1.5, 16));
    }
    painter.setBrush(m_at ? tokens.warning : tokens.accent);
    painter.setPen(QPen(hasFocus() ? tokens.text : tokens.panel, 2));
    if (m_at) // a diamond in the past, a disc now: not by colour alone
        painter.drawPolygon(
            QPolygonF(QList<QPointF>{QPointF(x, lineBelow - handleSize - 1), QPointF(x + handleSize, lineBelow),
                                     QPointF(x, lineBelow + handleSize + 1), QPointF(x - handleSize, lineBelow)}));
    else
        painter.drawEllipse(QPointF(x, lineBelow), handleSize - 1, handleSize - 1);
    painter.setPen(tokens.muted);
    painter.setFont(textFont(11));
    const QRectF below(0, 25, width(), 15);
    drawTabular(painter, below, Qt::AlignLeft, trackTime(m_begin));
    drawTabular(painter, below, Qt::AlignRight, trackTime(m_end));
}

void TimeTrack::mousePressEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton)
        emit sought(momentAt(event->position().x()));
}

void TimeTrack::mouseMoveEvent(QMouseEvent *event)
{
    const auto moment = momentAt(event->position().x());
    setToolTip(trackTime(moment));
    if (event->buttons() & Qt::LeftButton)
        emit sought(moment);
}

void TimeTrack::keyPressEvent(QKeyEvent *event)
{
    const bool isLong = event->modifiers() & Qt::ShiftModifier;
    if (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) {
        QWidget::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Left: emit stepped(isLong ? -30s : -1s); break;
    case Qt::Key_Right: emit stepped(isLong ? 30s : 1s); break;
    case Qt::Key_PageUp: emit stepped(-5min); break;
    case Qt::Key_PageDown: emit stepped(5min); break;
    case Qt::Key_Home: emit sought(m_begin); break;
    case Qt::Key_End: emit sought(m_end); break;
    default: QWidget::keyPressEvent(event);
    }
}

} // namespace lockscope::ui

#include "moc_timetrack.cpp"
