// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/icons.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QPixmapCache>
#include <QSvgRenderer>

#include <cmath>

namespace lockscope::ui {

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
