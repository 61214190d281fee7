// SPDX-License-Identifier: Apache-2.0
#include "ui/views/queuerailpaint.h"

#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QPainter>

namespace lockscope::ui {

namespace {

constexpr qreal railSignLeft = 52; // of the middle of the sign
constexpr qreal railSignRadius = 10;
constexpr qreal laneLeft = 36, laneStep = 11; // lanes go to the left from there
constexpr qreal arrowSize = 4;

void paintLine(QPainter &painter, RailPart part, QPointF from, QPointF to)
{
    if (part == RailPart::None)
        return;
    const Tokens &t = Theme::tokens();
    QPen pen(part == RailPart::Seen ? t.accent : t.muted, 1.6);
    if (part == RailPart::Inferred)
        pen.setDashPattern({2.5, 2.5});
    painter.setPen(pen);
    painter.drawLine(from, to);
}

void paintArrow(QPainter &painter, RailPart part, QPointF tip, QPointF along)
{
    const Tokens &t = Theme::tokens();
    const QPointF across(-along.y(), along.x());
    painter.setPen(Qt::NoPen);
    painter.setBrush(part == RailPart::Seen ? t.accent : t.muted);
    painter.drawPolygon(QPolygonF(
        {tip, tip - along * 2 * arrowSize + across * arrowSize, tip - along * 2 * arrowSize - across * arrowSize}));
    painter.setBrush(Qt::NoBrush);
}

void paintSign(QPainter &painter, QPointF center, const Pill &pill)
{
    const Tokens &t = Theme::tokens();
    const QColor color = toneColor(t, pill.tone);
    const bool isPlace = pill.word.front().isDigit();
    const QRectF circle(center.x() - railSignRadius, center.y() - railSignRadius, 2 * railSignRadius,
                        2 * railSignRadius);
    if (!isPlace) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(t.panel);
        painter.drawEllipse(circle);
        painter.setBrush(Qt::NoBrush);
        painter.save();
        painter.translate(center);
        painter.scale(1.6, 1.6);
        paintShape(painter, QRectF(-6, -6, 12, 12), pill.shape, color);
        painter.restore();
        return;
    }
    painter.setPen(QPen(color, 1.5));
    painter.setBrush(toneSoft(t, pill.tone));
    painter.drawEllipse(circle);
    painter.setBrush(Qt::NoBrush);
    painter.setFont(textFont(11, QFont::DemiBold));
    painter.drawText(circle, Qt::AlignCenter, pill.word.section(u' ', 0, 0));
}

} // namespace

void paintRails(QPainter &painter, const QRect &box, const RailRow &rail, const Pill &pill)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(box);
    const qreal middle = box.top() + (box.height() - 1) / 2.0;
    const QPointF sign(box.left() + railSignLeft, middle);
    const QPointF top(sign.x(), box.top()), bottom(sign.x(), box.bottom() + 1);
    paintLine(painter, rail.up, sign - QPointF(0, railSignRadius), top);
    paintLine(painter, rail.down, bottom, sign + QPointF(0, railSignRadius + arrowSize));
    if (rail.down != RailPart::None)
        paintArrow(painter, rail.down, sign + QPointF(0, railSignRadius + 1), {0, -1});
    for (std::size_t i = 0; i < rail.lanes.size(); ++i) {
        const auto &lane = rail.lanes[i];
        const qreal x = box.left() + laneLeft - laneStep * static_cast<qreal>(i);
        paintLine(painter, lane.above, {x, middle}, {x, qreal(box.top())});
        paintLine(painter, lane.below, {x, qreal(box.bottom() + 1)}, {x, middle});
        const QPointF end = sign - QPointF(railSignRadius + (lane.isTarget ? 2 * arrowSize : 0), 0);
        paintLine(painter, lane.tick, {x, middle}, end);
        if (lane.isTarget)
            paintArrow(painter, lane.tick, sign - QPointF(railSignRadius + 1, 0), {1, 0});
    }
    paintSign(painter, sign, pill);
    painter.restore();
}

void paintTwoLines(QPainter &painter, const QRect &box, const QString &first, const QString &second,
                   Qt::Alignment alignment, bool isName)
{
    const Tokens &t = Theme::tokens();
    const QFont upper = textFont(13, isName ? QFont::DemiBold : QFont::Normal), lower = textFont(12);
    const QRectF top(box.left(), box.top(), box.width(), box.height() / 2.0);
    const QRectF bottom = top.translated(0, top.height());
    const auto drawIn = [&](const QRectF &line, const QFont &font, const QColor &color, const QString &text) {
        painter.setFont(font);
        painter.setPen(color);
        const auto shown = elidedClient(QFontMetricsF(font), text, line.width(), Qt::ElideRight);
        if (alignment == Qt::AlignRight && shown == text)
            drawTabular(painter, line, alignment | Qt::AlignVCenter, text);
        else
            painter.drawText(line, int(alignment | Qt::AlignVCenter) | Qt::TextSingleLine, shown);
    };
    // Of one line it stands in the middle.
    drawIn(second.isEmpty() ? QRectF(box) : top, upper, t.text, first);
    drawIn(bottom, lower, t.muted, second);
}

} // namespace lockscope::ui
