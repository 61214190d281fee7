// SPDX-License-Identifier: Apache-2.0
#include "ui/views/stackedrow.h"

#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QPainter>

namespace lockscope::ui {

namespace {

constexpr int edgeWidth = 5;
constexpr int stateLeft = 12;
constexpr int stateWidth = 16;
constexpr int textLeft = 36;
constexpr int rightMargin = 12;
constexpr int partGap = 10;
constexpr int leastOfAHolder = 60;

// Draws one line from `left` and returns where the next one may begin.
qreal drawPart(QPainter &painter, const QRectF &line, const QString &text, const QFont &font, const QColor &color,
               Qt::TextElideMode elide = Qt::ElideRight)
{
    if (text.isEmpty() || line.width() <= 0)
        return line.left();
    const QFontMetricsF metrics(font);
    painter.setFont(font);
    painter.setPen(color);
    const auto shown = elidedClient(metrics, text, line.width(), elide);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, shown);
    return line.left() + metrics.horizontalAdvance(shown) + partGap;
}

QRectF lineOf(const QRect &box, int line)
{
    const qreal height = (box.height() - 6) / 2.0;
    return {qreal(box.left() + textLeft), box.top() + 3 + line * height, qreal(box.width() - textLeft - rightMargin),
            height};
}

} // namespace

QColor connectionColor(int number)
{
    const auto &colors = Theme::tokens().connections;
    return colors[static_cast<std::size_t>(number) % colors.size()];
}

void paintEdge(QPainter &painter, const QRect &box, const GroupHead &group)
{
    const QRect edge(box.left(), box.top(), edgeWidth, box.height());
    if (group.isProduction)
        paintStripes(painter, edge, group.edge);
    else
        painter.fillRect(edge, group.edge);
}

void paintGroupHead(QPainter &painter, const QRect &box, const GroupHead &group)
{
    const Tokens &t = Theme::tokens();
    painter.fillRect(box, t.background);
    painter.fillRect(QRect(box.left(), box.bottom(), box.width(), 1), t.line);
    paintEdge(painter, box, group);
    QRectF line = QRectF(box).adjusted(stateLeft, 0, -rightMargin, 0);
    const QFont small = textFont(12);
    const qreal statusWidth = std::min(line.width() / 2, tabularWidth(small, group.status) + 1);
    painter.setPen(t.muted);
    painter.setFont(small);
    drawTabular(painter, QRectF(line.right() - statusWidth, line.top(), statusWidth, line.height()),
                Qt::AlignRight | Qt::AlignVCenter, group.status);
    line.setRight(line.right() - statusWidth - partGap);
    line.setLeft(drawPart(painter, line, group.name, textFont(13, QFont::DemiBold), t.text));
    if (line.width() > tagWidth(group.tag)) {
        paintTag(painter, line, group.tag, group.isProduction ? TagLook::Production : TagLook::Plain);
        line.setLeft(line.left() + tagWidth(group.tag) + (group.tag.isEmpty() ? 0 : partGap));
    }
    drawPart(painter, line, group.facts, small, t.muted);
}

void paintStackedRow(QPainter &painter, const QRect &box, const StackedRow &row, const GroupHead &group)
{
    const Tokens &t = Theme::tokens();
    painter.save();
    painter.fillRect(box, row.isSelected ? t.selection : t.panel);
    painter.fillRect(QRect(box.left(), box.bottom(), box.width(), 1), t.line);
    paintEdge(painter, box, group);
    if (row.hasFocus) // beside the edge, which says whose the lock is
        painter.fillRect(QRect(box.left() + edgeWidth, box.top(), 3, box.height() - 1), t.accent);
    if (row.isStale)
        painter.setOpacity(0.5);

    QRectF first = lineOf(box, 0), second = lineOf(box, 1);
    const QColor tone = toneColor(t, row.state.tone);
    paintShape(painter, QRectF(box.left() + stateLeft, first.top(), stateWidth, first.height()), row.state.shape,
               tone);
    const QFont numbers = textFont(12);
    const auto drawRight = [&](QRectF &line, const QString &text, const QColor &color) {
        const qreal width = text.isEmpty() ? 0 : tabularWidth(numbers, text) + 1;
        painter.setFont(numbers);
        painter.setPen(color);
        drawTabular(painter, QRectF(line.right() - width, line.top(), width, line.height()),
                    Qt::AlignRight | Qt::AlignVCenter, text);
        line.setRight(line.right() - width - (width > 0 ? partGap : 0));
    };
    drawRight(first, row.waiting, t.text);
    drawRight(second, row.age, t.muted);
    drawPart(painter, first, row.name, monoFont(12, QFont::DemiBold), t.text, Qt::ElideMiddle);

    second.setLeft(drawPart(painter, second, row.state.word, textFont(12, QFont::DemiBold), tone));
    // The holder first: the finding has what is left.
    const QFont plain = textFont(12);
    const qreal findingWidth = QFontMetricsF(plain).horizontalAdvance(row.finding);
    const qreal holderWidth = QFontMetricsF(plain).horizontalAdvance(row.holder);
    QRectF holder = second;
    if (!row.finding.isEmpty())
        holder.setWidth(std::min(
            second.width(), std::max({holderWidth, qreal(leastOfAHolder), second.width() - findingWidth - partGap})));
    QRectF finding = second;
    finding.setLeft(drawPart(painter, holder, row.holder, plain, t.text));
    if (finding.width() > leastOfAHolder)
        drawPart(painter, finding, row.finding, plain, toneColor(t, row.findingTone));
    painter.restore();
}

} // namespace lockscope::ui
