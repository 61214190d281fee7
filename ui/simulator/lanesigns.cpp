// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/lanesigns.h"

#include "ui/simulator/messagepaint.h"
#include "ui/theme/theme.h"

#include <QPainter>

namespace lockscope::ui {

QColor blend(const QColor &over, const QColor &under, float amount)
{
    const auto mix = [amount](float a, float b) { return a * amount + b * (1 - amount); };
    return QColor::fromRgbF(mix(over.redF(), under.redF()), mix(over.greenF(), under.greenF()),
                            mix(over.blueF(), under.blueF()));
}

QColor waitFill(const Tokens &t)
{
    return blend(t.wait, t.panel, t.dark ? 0.42f : 0.36f);
}

void drawCross(QPainter &painter, QPointF centre, double half, const QColor &colour, double width)
{
    painter.setPen(QPen(colour, width, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(centre + QPointF(-half, -half), centre + QPointF(half, half));
    painter.drawLine(centre + QPointF(-half, half), centre + QPointF(half, -half));
    painter.setPen(Qt::NoPen);
}

void drawBar(QPainter &painter, const QRectF &rect, double radius, const QColor &colour)
{
    painter.setBrush(colour);
    if (radius <= 0 || rect.width() < 2 * radius)
        painter.fillRect(rect, colour);
    else
        painter.drawRoundedRect(rect, radius, radius);
}

void drawFrame(QPainter &painter, const QRectF &rect, const QColor &colour, Qt::PenStyle style, const Tokens &t)
{
    painter.fillRect(rect, blend(colour, t.panel, 0.22f));
    if (rect.width() < 3 || rect.height() < 4)
        return;
    painter.setPen(QPen(colour, 1.6, style));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect.adjusted(0.8, 0.8, -0.8, -0.8));
    painter.setPen(Qt::NoPen);
}

void drawHatch(QPainter &painter, const QRectF &rect, const Tokens &t)
{
    QBrush hatch(t.panel, Qt::BDiagPattern);
    painter.fillRect(rect, hatch);
    painter.setPen(QPen(t.warning, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
    painter.setPen(Qt::NoPen);
}

void drawTriangle(QPainter &painter, QPointF centre, double half, const QColor &colour)
{
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    const QPointF corners[] = {centre + QPointF(0, -half), centre + QPointF(half, half * 0.8),
                               centre + QPointF(-half, half * 0.8)};
    painter.drawPolygon(corners, 3);
}

void drawWrite(QPainter &painter, QPointF centre, double half, bool isRefused, const Tokens &t)
{
    const QPointF corners[] = {centre + QPointF(0, -half), centre + QPointF(half * 0.8, 0), centre + QPointF(0, half),
                               centre + QPointF(-half * 0.8, 0)};
    painter.setPen(QPen(t.panel, 1));
    painter.setBrush(isRefused ? t.panel : t.text);
    painter.drawPolygon(corners, 4);
    painter.setPen(Qt::NoPen);
    if (!isRefused)
        return;
    painter.setPen(QPen(t.critical, 1.6));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolygon(corners, 4);
    painter.drawLine(centre + QPointF(-half, half), centre + QPointF(half, -half));
    painter.setPen(Qt::NoPen);
}

void drawAct(QPainter &painter, QPointF centre, double half, const Tokens &t)
{
    const QPointF prompt[] = {centre + QPointF(-half * 0.8, -half * 0.8), centre,
                              centre + QPointF(-half * 0.8, half * 0.8)};
    painter.setBrush(Qt::NoBrush);
    for (const auto &pen : {QPen(t.panel, 4), QPen(t.text, 1.8)}) { // first what it stands on
        painter.setPen(pen);
        painter.drawPolyline(prompt, 3);
        painter.drawLine(centre + QPointF(1, half * 0.8), centre + QPointF(half, half * 0.8));
    }
    painter.setPen(Qt::NoPen);
}

void drawGivesUp(QPainter &painter, QPointF centre, double half, const Tokens &t)
{
    painter.setPen(QPen(t.text, 2));
    painter.drawLine(centre + QPointF(0, -half), centre + QPointF(0, half));
    painter.drawLine(centre + QPointF(-half, 0), centre);
    painter.setPen(Qt::NoPen);
}

void drawLoses(QPainter &painter, QPointF centre, double half, const Tokens &t)
{
    painter.setPen(QPen(t.warning, 1.8));
    painter.setBrush(t.panel);
    painter.drawRect(QRectF(centre - QPointF(half, half) * 0.75, QSizeF(1.5 * half, 1.5 * half)));
    painter.drawLine(centre + QPointF(-half, half), centre + QPointF(half, -half));
    painter.setPen(Qt::NoPen);
}

void paintGlyph(QPainter &painter, const QRectF &rect, LaneGlyph glyph, const Tokens &t)
{
    painter.setPen(Qt::NoPen);
    const QPointF c = rect.center();
    const auto centred = [&](double height) { return QRectF(rect.left(), c.y() - height / 2, rect.width(), height); };
    switch (glyph) {
    case LaneGlyph::Waits: drawBar(painter, centred(5), 2, waitFill(t)); break;
    case LaneGlyph::Holds: drawBar(painter, centred(11), 3, t.hold); break;
    case LaneGlyph::Paused:
        drawBar(painter, centred(11), 0, t.hold);
        drawHatch(painter, centred(11), t);
        break;
    case LaneGlyph::Dead: drawCross(painter, c, 4, t.text, 2); break;
    case LaneGlyph::Woken:
        painter.setBrush(t.accent);
        painter.drawEllipse(c, 3.6, 3.6);
        break;
    case LaneGlyph::WokenInVain: // hollow
        painter.setPen(QPen(t.critical, 1.7));
        painter.setBrush(t.panel);
        painter.drawEllipse(c, 2.9, 2.9);
        painter.setPen(Qt::NoPen);
        break;
    case LaneGlyph::Request: painter.fillRect(QRectF(c.x(), c.y() - 3, 1, 6), t.muted); break;
    case LaneGlyph::Fault: drawTriangle(painter, c, 5, t.warning); break;
    case LaneGlyph::HasOne: drawBar(painter, centred(5), 2, t.hold); break;
    case LaneGlyph::Reads: drawFrame(painter, centred(11), t.hold, Qt::SolidLine, t); break;
    case LaneGlyph::Works: drawFrame(painter, centred(11), t.hold, Qt::DashLine, t); break;
    case LaneGlyph::Write: drawWrite(painter, c, 5, false, t); break;
    case LaneGlyph::WriteRefused: drawWrite(painter, c, 5, true, t); break;
    case LaneGlyph::Act: drawAct(painter, c, 5, t); break;
    case LaneGlyph::GivesUp: drawGivesUp(painter, c, 5, t); break;
    case LaneGlyph::Loses: drawLoses(painter, c, 5, t); break;
    case LaneGlyph::Breaks:
        painter.setPen(QPen(t.critical, 1.5, Qt::DashLine));
        painter.drawLine(QPointF(c.x(), rect.top() + 2), QPointF(c.x(), rect.bottom() - 1));
        drawCross(painter, c, 3.5, t.critical, 2);
        break;
    case LaneGlyph::ServerDown:
    case LaneGlyph::SentRequest:
    case LaneGlyph::SentReply:
    case LaneGlyph::SentEvent:
    case LaneGlyph::SentInVain: paintMessageGlyph(painter, rect, glyph, t); break;
    }
}

} // namespace lockscope::ui
