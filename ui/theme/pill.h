// SPDX-License-Identifier: Apache-2.0
// State as shape, word and colour together: ● holds, ○ waits, ◔ contended, ‖ disconnected,
// ✕ deadlock, ∞ no expiry. The shapes are drawn, not taken from a font that may lack them.
#pragma once

#include "ui/theme/theme.h"

#include <QIcon>
#include <QSizeF>
#include <QString>

class QPainter;
class QRectF;

namespace lockscope::ui {

enum class PillShape : quint8 { None, Disc, Ring, Quarter, Bars, Cross, Infinite };
enum class Tone : quint8 { Hold, Wait, Critical, Warning, Free, Ok, Past };

struct Pill {
    PillShape shape = PillShape::Disc;
    Tone tone = Tone::Hold;
    QString word;
    friend bool operator==(const Pill &, const Pill &) = default;
};

[[nodiscard]] QColor toneColor(const Tokens &tokens, Tone tone);
[[nodiscard]] QColor toneSoft(const Tokens &tokens, Tone tone);

[[nodiscard]] QFont pillFont();
[[nodiscard]] QSizeF pillSize(const Pill &pill);
// Draws the pill left-aligned and vertically centred in `rect`.
void paintPill(QPainter &painter, const QRectF &rect, const Pill &pill);
// Only the shape, centred in `rect`.
void paintShape(QPainter &painter, const QRectF &rect, PillShape shape, const QColor &colour);

// Diagonal stripes, by which production is known: the edge of what is of it.
void paintStripes(QPainter &painter, const QRectF &rect, const QColor &color);
// The word of an environment in a small frame, filled for production, left-aligned and centered in `rect`.
enum class TagLook : quint8 { Plain, Production, Warning };
[[nodiscard]] qreal tagWidth(const QString &word);
void paintTag(QPainter &painter, const QRectF &rect, const QString &word, TagLook look);

// The line icons of the window, each in the color it is asked for: resources ui/theme/icons/icon-*.svg.

// Draws the icon centered in `rect`, as large as its shorter side.
void paintIcon(QPainter &painter, const QRectF &rect, const QString &name, const QColor &color);
// For buttons and actions, in `color`; it does not follow a change of the theme.
[[nodiscard]] QIcon lineIcon(const QString &name, const QColor &color);

} // namespace lockscope::ui
