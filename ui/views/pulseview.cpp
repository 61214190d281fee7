// SPDX-License-Identifier: Apache-2.0
#include "ui/views/pulseview.h"

#include "ui/theme/theme.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto shown = 60s;

qreal seconds(std::chrono::system_clock::duration span)
{
    return std::chrono::duration<qreal>(span).count();
}

} // namespace

PulseView::PulseView(QWidget *parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setAccessibleName(u"Lease pulse"_s);
}

void PulseView::show(const LeasePulse &pulse, LeasePulse::Time now)
{
    m_pulse = pulse;
    m_now = now;
    setAccessibleDescription(pulse.text(now));
    setToolTip(u"The last 60 s: what was left of the lease, and each renewal that was seen"_s);
    update();
}

void PulseView::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area = QRectF(rect()).adjusted(2, 3, -2, -3);
    painter.setPen(t.line);
    painter.drawLine(area.bottomLeft(), area.bottomRight());
    const auto &beats = m_pulse.beats();
    qreal most = 1;
    for (const auto &beat : beats)
        most = std::max(most, seconds(beat.expires - beat.at));
    const auto place = [&](LeasePulse::Time at, qreal left) {
        return QPointF(area.right() - seconds(m_now - at) / seconds(shown) * area.width(),
                       area.bottom() - std::max(0.0, left) / most * area.height());
    };
    painter.setClipRect(area.adjusted(-1, -2, 1, 2));
    QPainterPath curve;
    for (std::size_t i = 0; i < beats.size(); ++i) {
        const auto until = i + 1 < beats.size() ? beats[i + 1].at : m_now;
        const auto from = place(beats[i].at, seconds(beats[i].expires - beats[i].at));
        if (i == 0)
            curve.moveTo(from);
        else
            curve.lineTo(from);
        curve.lineTo(place(until, seconds(beats[i].expires - until)));
    }
    painter.setPen(QPen(t.hold, 1.6));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(curve);
}

} // namespace lockscope::ui

#include "moc_pulseview.cpp"
