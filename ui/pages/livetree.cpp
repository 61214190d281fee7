#include "ui/pages/livetree.h"

#include "ui/pages/treecells.h"

#include <QScrollBar>

#include <algorithm>

namespace lockscope::ui {

LiveTree::LiveTree(QWidget *parent) : QTreeView(parent)
{
    setUpTree(this);
    connect(this, &QTreeView::expanded, this, &LiveTree::sightChanged);
    connect(this, &QTreeView::collapsed, this, &LiveTree::sightChanged);
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, &LiveTree::sightChanged);
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
