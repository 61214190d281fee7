// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/treecells.h"

#include "ui/theme/pill.h"
#include "ui/theme/theme.h"

#include <QPainter>

namespace lockscope::ui {

namespace {

constexpr int cellMargin = 10;
constexpr int lockWidth = 18;

void paintPadlock(QPainter &painter, const QRectF &rect, const QColor &colour)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF body(rect.left() + 1, rect.center().y() - 1, 10, 7);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawRoundedRect(body, 1.5, 1.5);
    painter.setPen(QPen(colour, 1.6));
    painter.setBrush(Qt::NoBrush);
    const QRectF shackle(body.left() + 2.2, body.top() - 4.5, 5.6, 8);
    painter.drawArc(shackle, 0, 180 * 16);
    painter.restore();
}

} // namespace

QSize TreeCellDelegate::sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const
{
    return {40, m_rowHeight};
}

QColor TreeCellDelegate::textColor(const QModelIndex &index) const
{
    const Tokens &tokens = Theme::tokens();
    if (m_isStale)
        return tokens.muted;
    if (m_toneRole >= 0) {
        const QVariant tone = index.data(m_toneRole);
        if (tone.isValid())
            return toneColor(tokens, static_cast<Tone>(tone.toInt()));
    }
    return m_muted.contains(index.column()) ? tokens.muted : tokens.text;
}

void TreeCellDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    // Over what the style made of the selection: gradients and frames.
    if (option.state & QStyle::State_Selected)
        painter->fillRect(option.rect, Theme::tokens().selection);
    if (m_hasHairlines)
        painter->fillRect(QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1), Theme::tokens().line);
    const auto alignmentValue = index.data(Qt::TextAlignmentRole);
    const auto alignment = alignmentValue.isValid() ? alignmentValue.value<Qt::Alignment>()
                                                    : Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter);
    const bool isTreeColumn = m_isIndented && index.column() == 0;
    QRectF rect = QRectF(option.rect).adjusted(isTreeColumn ? 2 : cellMargin, 0, -cellMargin, 0);
    const QColor colour = textColor(index);
    painter->save();
    if (isTreeColumn && m_lockRole >= 0 && index.data(m_lockRole).toBool()) {
        paintPadlock(*painter, rect, m_isStale ? colour : Theme::tokens().warning);
        rect.setLeft(rect.left() + lockWidth);
    }
    painter->setPen(colour);
    const QFont font = m_mono.contains(index.column()) ? monoFont() : textFont();
    painter->setFont(font);
    const QString text = index.data().toString();
    if (alignment & Qt::AlignRight)
        drawTabular(*painter, rect, alignment, text);
    else
        painter->drawText(rect, static_cast<int>(alignment) | Qt::TextSingleLine,
                          QFontMetricsF(font).elidedText(text, isTreeColumn ? Qt::ElideMiddle : Qt::ElideRight,
                                                         rect.width())); // sequence numbers stand at the end
    painter->restore();
}

} // namespace lockscope::ui
