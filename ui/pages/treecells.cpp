#include "ui/pages/treecells.h"

#include "ui/theme/pill.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QHeaderView>
#include <QPainter>
#include <QPainterPath>
#include <QTreeView>

namespace lockscope::ui {

namespace {

constexpr int rowHeight = 28;
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

QSize CellDelegate::sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const
{
    return {40, rowHeight};
}

QColor CellDelegate::textColor(const QModelIndex &index) const
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

void CellDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const QWidget *view = option.widget;
    QStyleOptionViewItem background = option;
    background.text.clear();
    view->style()->drawPrimitive(QStyle::PE_PanelItemViewItem, &background, painter, view);

    const auto alignmentValue = index.data(Qt::TextAlignmentRole);
    const auto alignment = alignmentValue.isValid() ? alignmentValue.value<Qt::Alignment>()
                                                    : Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter);
    const bool isTreeColumn = index.column() == 0;
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
                          QFontMetricsF(font).elidedText(text, Qt::ElideRight, rect.width()));
    painter->restore();
}

void setUpTree(QTreeView *tree)
{
    tree->setUniformRowHeights(true);
    tree->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    tree->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    tree->setFrameShape(QFrame::NoFrame);
    tree->setSelectionBehavior(QAbstractItemView::SelectRows);
    tree->setSelectionMode(QAbstractItemView::SingleSelection);
    tree->setEditTriggers(QAbstractItemView::NoEditTriggers);
    tree->setAllColumnsShowFocus(true);
    tree->setIndentation(16);
    // Asking every row for its width is what freezes big trees.
    tree->header()->setSectionResizeMode(QHeaderView::Interactive);
    tree->header()->setResizeContentsPrecision(0);
    tree->header()->setStretchLastSection(true);
    tree->header()->setHighlightSections(false);
}

} // namespace lockscope::ui
