// SPDX-License-Identifier: Apache-2.0
#include "ui/views/celldelegate.h"

#include <QHeaderView>
#include <QPainter>
#include <QTableView>

namespace lockscope::ui {

void CellDelegate::prepare(QTableView &table)
{
    table.setSelectionBehavior(QAbstractItemView::SelectRows);
    table.setSelectionMode(QAbstractItemView::SingleSelection);
    table.setEditTriggers(QAbstractItemView::NoEditTriggers);
    table.setShowGrid(false);
    table.setWordWrap(false);
    table.setTabKeyNavigation(false); // Tab leaves the table; arrows move in it
    table.setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    table.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table.setCornerButtonEnabled(false);
    table.verticalHeader()->hide();
    table.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table.verticalHeader()->setDefaultSectionSize(rowHeight);
    table.horizontalHeader()->setHighlightSections(false);
    table.horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table.horizontalHeader()->setMinimumSectionSize(40);
}

QSize CellDelegate::sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const CellLook cell = look(index);
    const qreal width =
        cell.pill ? pillSize(*cell.pill).width() : tabularWidth(cell.font, displayText(index.data(), option.locale));
    return {static_cast<int>(width) + 2 * padding + 1, rowHeight};
}

void CellDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const Tokens &t = Theme::tokens();
    const CellLook cell = look(index);
    const QRect box = option.rect;
    painter->save();
    painter->fillRect(box, option.state & QStyle::State_Selected ? t.selection : t.panel);
    painter->fillRect(QRect(box.left(), box.bottom(), box.width(), 1), t.line);
    const auto *view = qobject_cast<const QAbstractItemView *>(option.widget);
    if (view && view->hasFocus() && index.column() == 0 && view->currentIndex().row() == index.row())
        painter->fillRect(QRect(box.left(), box.top(), 3, box.height() - 1), t.accent);

    if (cell.stale)
        painter->setOpacity(0.5);
    const QRectF inside = QRectF(box).adjusted(padding, 0, -padding, -1);
    if (cell.pill) {
        paintPill(*painter, inside, *cell.pill);
    } else {
        const auto alignment = index.data(Qt::TextAlignmentRole).value<Qt::Alignment>();
        painter->setFont(cell.font);
        painter->setPen(cell.colour);
        const QString text = index.data().toString();
        if (cell.tabular && tabularWidth(cell.font, text) <= inside.width())
            drawTabular(*painter, inside, alignment, text);
        else
            painter->drawText(inside, static_cast<int>(alignment) | Qt::TextSingleLine,
                              elidedClient(QFontMetricsF(cell.font), text, inside.width(), cell.elide));
    }
    painter->restore();
}

} // namespace lockscope::ui

#include "moc_celldelegate.cpp"
