// SPDX-License-Identifier: Apache-2.0
// Index arithmetic of trees that fill lazily, once for all of them.
//
// A node knows its parent and its row, so parent() never searches among siblings. After a change in
// the middle only the tail's rows are stale, and they are numbered again when somebody asks for one
// of them, not at every change. GUI thread only.
#pragma once

#include <QAbstractItemModel>

#include <limits>
#include <memory>
#include <vector>

namespace lockscope::ui {

struct TreeNode {
    virtual ~TreeNode() = default;
    TreeNode *parent = nullptr;
    std::vector<std::unique_ptr<TreeNode>> children;
    // Right as long as it is below the parent's staleFrom; use TreeModel::rowOf().
    mutable int row = 0;
    // Children from this row on may carry an old row.
    mutable int staleFrom = std::numeric_limits<int>::max();
};

class TreeModel : public QAbstractItemModel {
    Q_OBJECT
public:
    using Run = std::vector<std::unique_ptr<TreeNode>>;

    [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    [[nodiscard]] QModelIndex parent(const QModelIndex &child) const override
    {
        return child.isValid() ? indexOf(nodeOf(child)->parent) : QModelIndex();
    }
    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;

signals:
    // Rows are about to move or have moved, once around each turn's work.
    void turnBegins();
    void turnEnds();

protected:
    // `root` is the invisible one above the first level.
    TreeModel(std::unique_ptr<TreeNode> root, QObject *parent);

    [[nodiscard]] TreeNode *root() const { return m_root.get(); }
    // The root for an invalid index.
    [[nodiscard]] TreeNode *nodeOf(const QModelIndex &index) const
    {
        return index.isValid() ? static_cast<TreeNode *>(index.internalPointer()) : m_root.get();
    }
    // Invalid for the root.
    [[nodiscard]] QModelIndex indexOf(const TreeNode *node, int column = 0) const;
    [[nodiscard]] static int rowOf(const TreeNode *node);
    [[nodiscard]] static bool isWithin(const TreeNode *node, const TreeNode *ancestor);

    // Each is one signal for the whole run, whatever its length.
    void insertRun(TreeNode *parent, int at, Run run);
    void removeRun(TreeNode *parent, int first, int count);
    void notifyChanged(const TreeNode *parent, int firstRow, int lastRow);
    // Without signals, for nodes that are not in the model yet.
    static void adopt(TreeNode *parent, int at, Run run);
    // While the model is being reset, when the connection changes.
    void replaceRoot(std::unique_ptr<TreeNode> root) { m_root = std::move(root); }
    // Called before nodes leave, so that nobody keeps pointing at them.
    virtual void leaving(const TreeNode *, int /*first*/, int /*count*/) {}

private:
    std::unique_ptr<TreeNode> m_root;
};

} // namespace lockscope::ui
