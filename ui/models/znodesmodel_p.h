// SPDX-License-Identifier: Apache-2.0
// Inside of ZnodesModel: its nodes, and lists on their way into the tree.
#pragma once

#include "ui/models/znodesmodel.h"

namespace lockscope::ui {

struct ZnodesModel::Node : TreeNode {
    enum class Load : quint8 {
        NotAsked,
        Asked,   // the question is out, or the answer is being merged
        Loaded,
        Resting, // a big folder, just listed: not asked again for a while
        Failed,
    };
    NodeName name; // empty for "/"
    zk::Stat stat;
    std::unique_ptr<Error> error; // of its own row, or of listing its children
    Load load = Load::NotAsked;
    bool isStatKnown = false;
    bool askAgain = false; // it changed while it was asked

    [[nodiscard]] Node *above() const { return static_cast<Node *>(parent); }
    [[nodiscard]] Node *child(int at) const
    {
        return static_cast<Node *>(children[static_cast<std::size_t>(at)].get());
    }
    [[nodiscard]] int count() const { return static_cast<int>(children.size()); }
    [[nodiscard]] bool isLoaded() const { return load == Load::Loaded || load == Load::Resting; }
    // The first child at or after `from` whose name is not below `wanted`.
    [[nodiscard]] int lowerBound(const NodeName &wanted, int from = 0) const
    {
        const auto isBelow = [](const std::unique_ptr<TreeNode> &node, const NodeName &other) {
            return static_cast<const Node *>(node.get())->name < other;
        };
        return static_cast<int>(std::lower_bound(children.begin() + from, children.end(), wanted, isBelow)
                                - children.begin());
    }
    // The first one whose name is above it.
    [[nodiscard]] int upperBound(const NodeName &wanted, int from = 0) const
    {
        const int at = lowerBound(wanted, from);
        return at < count() && child(at)->name == wanted ? at + 1 : at;
    }
};

// The server's order means nothing. A heap gives the rows sorted, page by page, without ever sorting
// all of them in one go.
struct ZnodesModel::Filling {
    Node *node = nullptr;
    std::vector<ZnodeRow> rows;
    std::vector<quint32> heap; // of indices of rows, smallest name on top
    std::size_t heaped = 0;
    NodeName largest;
    int at = 0;    // children before it are merged
    int total = 0; // rows that went through
    int limit = 0; // how many may, for now

    [[nodiscard]] bool isHeaped() const { return heaped == rows.size(); }
    [[nodiscard]] bool isFull() const { return isHeaped() && (heap.empty() || total >= limit); }
    [[nodiscard]] bool isDone() const { return isFull() && at == node->count(); }

    [[nodiscard]] auto above() const
    {
        return [this](quint32 a, quint32 b) { return rows[b].name < rows[a].name; };
    }
    void push()
    {
        const auto &name = rows[heaped].name;
        if (largest < name)
            largest = name;
        heap.push_back(static_cast<quint32>(heaped++));
        std::push_heap(heap.begin(), heap.end(), above());
    }
    [[nodiscard]] ZnodeRow pop()
    {
        std::pop_heap(heap.begin(), heap.end(), above());
        const auto index = heap.back();
        heap.pop_back();
        return std::move(rows[index]);
    }
};

} // namespace lockscope::ui
