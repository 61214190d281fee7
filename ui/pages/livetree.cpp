// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/livetree.h"

#include "ui/theme/theme.h"

#include <QHeaderView>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>

namespace lockscope::ui {

LiveTree::LiveTree(QWidget *parent) : QTreeView(parent)
{
    setUniformRowHeights(true);
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollMode(ScrollPerPixel);
    setFrameShape(NoFrame);
    setSelectionBehavior(SelectRows);
    setSelectionMode(SingleSelection);
    setEditTriggers(NoEditTriggers);
    setTabKeyNavigation(false);
    setIndentation(16);
    // Asking every row for its width is what freezes big trees.
    header()->setSectionResizeMode(QHeaderView::Interactive);
    header()->setResizeContentsPrecision(0);
    header()->setStretchLastSection(false);
    header()->setHighlightSections(false);
    header()->setMinimumSectionSize(40);
    // The style keeps room for a sort arrow; without it titles stand above their numbers.
    header()->setStyleSheet(QStringLiteral("QHeaderView::section { padding: 5px 1px 5px 10px; }"));
    connect(this, &QTreeView::expanded, this, &LiveTree::sightChanged);
    connect(this, &QTreeView::collapsed, this, &LiveTree::sightChanged);
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, &LiveTree::sightChanged);
}

void LiveTree::setWidths(int stretched, std::initializer_list<std::pair<int, int>> widths)
{
    header()->setSectionResizeMode(stretched, QHeaderView::Stretch);
    for (const auto &[column, width] : widths)
        setColumnWidth(column, width);
}

// The whole row, branches included, as our tables draw it.
void LiveTree::drawRow(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    constexpr int barWidth = 3;
    const Tokens &tokens = Theme::tokens();
    const QRect row(0, option.rect.top(), viewport()->width(), option.rect.height());
    QStyleOptionViewItem plain = option;
    if (selectionModel()->isRowSelected(index.row(), index.parent()))
        painter->fillRect(row, tokens.selection);
    if (hasFocus() && currentIndex().siblingAtColumn(0) == index.siblingAtColumn(0))
        painter->fillRect(QRect(row.left(), row.top(), barWidth, row.height()), tokens.accent);
    plain.showDecorationSelected = false;
    plain.state &= ~(QStyle::State_Selected | QStyle::State_HasFocus);
    QTreeView::drawRow(painter, plain, index);
}

void LiveTree::resizeEvent(QResizeEvent *event)
{
    QTreeView::resizeEvent(event);
    emit sightChanged();
}

void LiveTree::holdPlace()
{
    // At the very top new rows may push in; anywhere else nothing jumps.
    m_held = verticalScrollBar()->value() > 0 ? QPersistentModelIndex(indexAt(QPoint(0, 0))) : QPersistentModelIndex();
    if (m_held.isValid())
        m_heldAt = visualRect(m_held).top();
}

void LiveTree::keepPlace()
{
    if (m_held.isValid()) {
        const int moved = visualRect(m_held).top() - m_heldAt; // lays out what is pending
        if (moved != 0)
            verticalScrollBar()->setValue(verticalScrollBar()->value() + moved);
    }
    m_held = QPersistentModelIndex();
}

bool LiveTree::isOnScreen(const QModelIndex &index) const
{
    return index.isValid() && visualRect(index).intersects(viewport()->rect());
}

std::vector<QModelIndex> LiveTree::expandedOnScreen() const
{
    std::vector<QModelIndex> found;
    const auto add = [&](QModelIndex index) {
        for (; index.isValid() && std::find(found.begin(), found.end(), index) == found.end(); index = index.parent())
            found.push_back(index);
    };
    const int bottom = viewport()->height();
    for (QModelIndex index = indexAt(QPoint(0, 0)); index.isValid() && visualRect(index).top() < bottom;
         index = indexBelow(index)) {
        if (isExpanded(index))
            add(index);
        else
            add(index.parent());
    }
    return found;
}

} // namespace lockscope::ui
