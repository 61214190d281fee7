// SPDX-License-Identifier: Apache-2.0
#include "ui/models/treemodel.h"

namespace lockscope::ui {

namespace {

constexpr int noneStale = std::numeric_limits<int>::max();

int countOf(const TreeNode *node)
{
    return static_cast<int>(node->children.size());
}

} // namespace

TreeModel::TreeModel(std::unique_ptr<TreeNode> root, QObject *parent)
    : QAbstractItemModel(parent), m_root(std::move(root))
{
}

QModelIndex TreeModel::indexOf(const TreeNode *node, int column) const
{
    // The pointer in an index is only ever read back by nodeOf.
    return node == m_root.get() ? QModelIndex() : createIndex(rowOf(node), column, const_cast<TreeNode *>(node));
}

int TreeModel::rowOf(const TreeNode *node)
{
    // What lies before the first change since the last numbering has not moved, and only that carries a row below it.
    const TreeNode *parent = node->parent;
    if (node->row >= parent->staleFrom) {
        for (int row = parent->staleFrom; row < countOf(parent); ++row)
            parent->children[static_cast<std::size_t>(row)]->row = row;
        parent->staleFrom = noneStale;
    }
    return node->row;
}

bool TreeModel::isWithin(const TreeNode *node, const TreeNode *ancestor)
{
    while (node && node != ancestor)
        node = node->parent;
    return node != nullptr;
}

QModelIndex TreeModel::index(int row, int column, const QModelIndex &parent) const
{
    const TreeNode *above = nodeOf(parent);
    if (parent.column() > 0 || row < 0 || row >= countOf(above) || column < 0 || column >= columnCount(parent))
        return {};
    return createIndex(row, column, above->children[static_cast<std::size_t>(row)].get());
}

int TreeModel::rowCount(const QModelIndex &parent) const
{
    return parent.column() > 0 ? 0 : countOf(nodeOf(parent));
}

void TreeModel::adopt(TreeNode *parent, int at, Run run)
{
    const bool isInMiddle = at < countOf(parent);
    int row = at;
    for (auto &node : run) {
        node->parent = parent;
        node->row = row++;
    }
    parent->children.insert(parent->children.begin() + at, std::make_move_iterator(run.begin()),
                            std::make_move_iterator(run.end()));
    if (isInMiddle)
        parent->staleFrom = std::min(parent->staleFrom, at);
}

void TreeModel::insertRun(TreeNode *parent, int at, Run run)
{
    if (run.empty())
        return;
    beginInsertRows(indexOf(parent), at, at + static_cast<int>(run.size()) - 1);
    adopt(parent, at, std::move(run));
    endInsertRows();
}

void TreeModel::removeRun(TreeNode *parent, int first, int count)
{
    if (count <= 0)
        return;
    leaving(parent, first, count);
    beginRemoveRows(indexOf(parent), first, first + count - 1);
    const auto from = parent->children.begin() + first;
    parent->children.erase(from, from + count);
    if (first < countOf(parent))
        parent->staleFrom = std::min(parent->staleFrom, first);
    endRemoveRows();
}

void TreeModel::notifyChanged(const TreeNode *parent, int firstRow, int lastRow)
{
    const QModelIndex above = indexOf(parent);
    emit dataChanged(index(firstRow, 0, above), index(lastRow, columnCount(above) - 1, above));
}

} // namespace lockscope::ui

#include "moc_treemodel.cpp"
