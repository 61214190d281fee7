// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/legend.h"

#include "ui/simulator/lanepaint.h"
#include "ui/theme/theme.h"

#include <QPainter>

namespace lockscope::ui {

namespace {

constexpr double glyphWidth = 18;
constexpr double gap = 16;

std::vector<std::pair<LaneGlyph, QString>> entries()
{
    return {{LaneGlyph::Waits, Legend::tr("waits")},
            {LaneGlyph::Holds, Legend::tr("holds")},
            {LaneGlyph::Paused, Legend::tr("paused")},
            {LaneGlyph::Dead, Legend::tr("dies")},
            {LaneGlyph::Woken, Legend::tr("is told")},
            {LaneGlyph::WokenInVain, Legend::tr("is told in vain")},
            {LaneGlyph::Request, Legend::tr("request")},
            {LaneGlyph::Trouble, Legend::tr("fault")}};
}

double widthOf(const QFontMetricsF &metrics, const QString &word)
{
    return glyphWidth + 5 + metrics.horizontalAdvance(word);
}

} // namespace

Legend::Legend(QWidget *parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize Legend::sizeHint() const
{
    const QFontMetricsF metrics(textFont(12));
    double width = 0;
    for (const auto &[glyph, word] : entries())
        width += widthOf(metrics, word) + gap;
    return {static_cast<int>(width), 18};
}

void Legend::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(textFont(12));
    const QFontMetricsF metrics(painter.font());
    double x = 4;
    for (const auto &[glyph, word] : entries()) {
        const double wide = widthOf(metrics, word);
        if (x + wide > width())
            break; // a narrow window says the first ones
        paintGlyph(painter, QRectF(x, 0, glyphWidth, height()), glyph, t);
        painter.setPen(t.muted);
        painter.drawText(QRectF(x + glyphWidth + 5, 0, wide, height()), Qt::AlignVCenter, word);
        x += wide + gap;
    }
    const QString hint = tr("right click: let something go wrong");
    if (x + metrics.horizontalAdvance(hint) + 1 > width())
        return;
    painter.setPen(t.muted);
    painter.drawText(QRectF(x, 0, width() - x, height()), Qt::AlignVCenter, hint);
}

} // namespace lockscope::ui
