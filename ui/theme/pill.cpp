// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/pill.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QPixmapCache>
#include <QSvgRenderer>

#include <cmath>

namespace lockscope::ui {

constexpr qreal padding = 7;
constexpr qreal shapeSide = 9;
constexpr qreal gap = 5;
constexpr qreal pillHeight = 21;

QColor toneColor(const Tokens &t, Tone tone)
{
    switch (tone) {
    case Tone::Hold: return t.hold;
    case Tone::Wait: return t.wait;
    case Tone::Critical: return t.critical;
    case Tone::Warning: return t.warning;
    case Tone::Free: return t.free;
    case Tone::Ok: return t.ok;
    case Tone::Past: return t.past;
    }
    return t.text;
}

QColor toneSoft(const Tokens &t, Tone tone)
{
    switch (tone) {
    case Tone::Hold: return t.holdSoft;
    case Tone::Wait: return t.waitSoft;
    case Tone::Critical: return t.criticalSoft;
    case Tone::Warning: return t.warningSoft;
    case Tone::Free: return t.freeSoft;
    case Tone::Ok: return t.okSoft;
    case Tone::Past: return t.pastSoft;
    }
    return t.panel;
}

QFont pillFont()
{
    return textFont(12, QFont::DemiBold);
}

QSizeF pillSize(const Pill &pill)
{
    const qreal shape = pill.shape == PillShape::None ? 0 : shapeSide + (pill.word.isEmpty() ? 0 : gap);
    return {padding * 2 + shape + std::ceil(QFontMetricsF(pillFont()).horizontalAdvance(pill.word)), pillHeight};
}

void paintShape(QPainter &painter, const QRectF &rect, PillShape shape, const QColor &colour)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    QRectF box(0, 0, shapeSide, shapeSide);
    box.moveCenter(rect.center());
    const QPen line(colour, 1.6, Qt::SolidLine, Qt::FlatCap);
    switch (shape) {
    case PillShape::None: break;
    case PillShape::Disc:
        painter.setPen(Qt::NoPen);
        painter.setBrush(colour);
        painter.drawEllipse(box.adjusted(0.5, 0.5, -0.5, -0.5));
        break;
    case PillShape::Ring:
        painter.setPen(line);
        painter.drawEllipse(box.adjusted(0.8, 0.8, -0.8, -0.8));
        break;
    case PillShape::Quarter:
        painter.setPen(line);
        painter.drawEllipse(box.adjusted(0.8, 0.8, -0.8, -0.8));
        painter.setPen(Qt::NoPen);
        painter.setBrush(colour);
        painter.drawPie(box.adjusted(0.8, 0.8, -0.8, -0.8), 0, 90 * 16);
        break;
    case PillShape::Bars:
        painter.fillRect(QRectF(box.left() + 1, box.top(), 2.4, box.height()), colour);
        painter.fillRect(QRectF(box.right() - 3.4, box.top(), 2.4, box.height()), colour);
        break;
    case PillShape::Cross:
        painter.setPen(QPen(colour, 2, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(box.topLeft() + QPointF(1.2, 1.2), box.bottomRight() - QPointF(1.2, 1.2));
        painter.drawLine(box.topRight() + QPointF(-1.2, 1.2), box.bottomLeft() + QPointF(1.2, -1.2));
        break;
    case PillShape::Infinite: {
        painter.setPen(QPen(colour, 1.8));
        const qreal radius = box.width() / 3.4;
        for (const qreal side : {-1, 1})
            painter.drawEllipse(box.center() + QPointF(side * radius, 0), radius, radius);
        break;
    }
    }
    painter.restore();
}

void paintPill(QPainter &painter, const QRectF &rect, const Pill &pill)
{
    const Tokens &t = Theme::tokens();
    const QSizeF size = pillSize(pill);
    const QRectF box(rect.left(), rect.center().y() - size.height() / 2, std::min(size.width(), rect.width()),
                     size.height());
    const QColor colour = toneColor(t, pill.tone);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(toneSoft(t, pill.tone));
    painter.drawRoundedRect(box, 5, 5);
    QRectF inside = box.adjusted(padding, 0, -padding + 1, 0);
    if (pill.shape != PillShape::None) {
        paintShape(painter, QRectF(inside.left(), inside.top(), shapeSide, inside.height()), pill.shape, colour);
        inside.setLeft(inside.left() + shapeSide + gap);
    }
    painter.setFont(pillFont());
    painter.setPen(colour);
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(pillFont()).elidedText(pill.word, Qt::ElideRight, inside.width() + 1));
    painter.restore();
}

void paintStripes(QPainter &painter, const QRectF &rect, const QColor &color)
{
    constexpr qreal step = 11; // 4 px of color and 4 px without, across
    constexpr qreal wide = step / 2;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(rect, Qt::IntersectClip);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    for (qreal x = rect.left() - rect.height() - step; x < rect.right() + step; x += step)
        painter.drawPolygon(QPolygonF(QList<QPointF>{{x, rect.bottom()},
                                                     {x + rect.height(), rect.top()},
                                                     {x + rect.height() + wide, rect.top()},
                                                     {x + wide, rect.bottom()}}));
    painter.restore();
}

qreal tagWidth(const QString &word)
{
    return word.isEmpty() ? 0 : std::ceil(QFontMetricsF(textFont(11, QFont::DemiBold)).horizontalAdvance(word)) + 13;
}

void paintTag(QPainter &painter, const QRectF &rect, const QString &word, TagLook look)
{
    if (word.isEmpty())
        return;
    const Tokens &t = Theme::tokens();
    const qreal height = QFontMetricsF(textFont(11, QFont::DemiBold)).height() + 3;
    const QRectF box(rect.left() + 0.5, std::floor(rect.center().y() - height / 2) + 0.5, tagWidth(word) - 1,
                     std::floor(height));
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const bool isProduction = look == TagLook::Production;
    const bool isWarning = look == TagLook::Warning;
    painter.setPen(isProduction ? t.production : isWarning ? t.warning : t.edge);
    painter.setBrush(isProduction ? QBrush(t.production) : QBrush(Qt::NoBrush));
    painter.drawRoundedRect(box, 3, 3);
    painter.setFont(textFont(11, QFont::DemiBold));
    painter.setPen(isProduction ? t.onProduction : isWarning ? t.warning : t.muted);
    painter.drawText(box, Qt::AlignCenter, word);
    painter.restore();
}

using namespace Qt::StringLiterals;

namespace {

constexpr int iconSide = 20;

// Qt's SVG has no color from outside: "currentColor" is replaced before it is read.
QPixmap drawn(const QString &name, const QColor &color, int side)
{
    const auto key = u"lockscope-icon-%1-%2-%3"_s.arg(name, color.name()).arg(side);
    QPixmap pixmap;
    if (QPixmapCache::find(key, &pixmap))
        return pixmap;
    QFile file(u":/lockscope/theme/icons/icon-%1.svg"_s.arg(name));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QSvgRenderer renderer(file.readAll().replace("currentColor", color.name().toLatin1()));
    pixmap = QPixmap(side, side);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter);
    painter.end();
    QPixmapCache::insert(key, pixmap);
    return pixmap;
}

} // namespace

void paintIcon(QPainter &painter, const QRectF &rect, const QString &name, const QColor &color)
{
    const qreal side = std::floor(std::min(rect.width(), rect.height()));
    if (side < 1)
        return;
    QRectF place(0, 0, side, side);
    place.moveCenter(rect.center());
    const qreal ratio = painter.device()->devicePixelRatioF();
    const auto pixmap = drawn(name, color, static_cast<int>(std::lround(side * ratio)));
    painter.drawPixmap(QRectF(place.topLeft().toPoint(), place.size()), pixmap, QRectF(pixmap.rect()));
}

QIcon lineIcon(const QString &name, const QColor &color)
{
    QIcon icon;
    for (const int scale : {1, 2}) {
        auto pixmap = drawn(name, color, iconSide * scale);
        pixmap.setDevicePixelRatio(scale);
        icon.addPixmap(pixmap);
    }
    return icon;
}

} // namespace lockscope::ui
