// SPDX-License-Identifier: Apache-2.0
// The line icons of the window, each in the color it is asked for: resources ui/theme/icons/icon-*.svg.
#pragma once

#include <QColor>
#include <QIcon>
#include <QString>

class QPainter;
class QRectF;

namespace lockscope::ui {

// Draws the icon centered in `rect`, as large as its shorter side.
void paintIcon(QPainter &painter, const QRectF &rect, const QString &name, const QColor &color);
// For buttons and actions, in `color`; it does not follow a change of the theme.
[[nodiscard]] QIcon lineIcon(const QString &name, const QColor &color);

} // namespace lockscope::ui
