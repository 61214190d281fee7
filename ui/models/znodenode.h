// SPDX-License-Identifier: Apache-2.0
// A node of the tree of znodes: what is known of it, and what its row says.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/treemodel.h"

#include <algorithm>

namespace lockscope::ui {

struct ZnodeNode : TreeNode {
    enum Column { Name, Children, Bytes, Owner, Version, Modified, ColumnCount };
    enum Role {
        PathRole = Qt::UserRole, // QByteArray
        ErrorRole,               // QString, empty when all is well
        ForbiddenRole,           // bool: an ACL keeps us out
        EphemeralRole,           // bool
        FilterRole,              // QString: what the filter looks at
    };
    enum class Load : quint8 {
        NotAsked,
        Asked, // the question is out, or the answer is being merged
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

    // Takes out of the row what it needs.
    [[nodiscard]] static std::unique_ptr<ZnodeNode> make(ZnodeRow &row);
    [[nodiscard]] ZnodeNode *above() const { return static_cast<ZnodeNode *>(parent); }
    [[nodiscard]] ZnodeNode *child(int at) const
    {
        return static_cast<ZnodeNode *>(children[static_cast<std::size_t>(at)].get());
    }
    [[nodiscard]] int count() const { return static_cast<int>(children.size()); }
    [[nodiscard]] bool isLoaded() const { return load == Load::Loaded || load == Load::Resting; }
    // The first child at or after `from` whose name is not below `wanted`.
    [[nodiscard]] int lowerBound(const NodeName &wanted, int from = 0) const
    {
        const auto isBelow = [](const std::unique_ptr<TreeNode> &node, const NodeName &other) {
            return static_cast<const ZnodeNode *>(node.get())->name < other;
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
    [[nodiscard]] ZPath path() const;
    [[nodiscard]] QVariant data(int column, int role) const;
    [[nodiscard]] static QVariant header(int column, int role);

private:
    [[nodiscard]] QString childrenText() const;
    [[nodiscard]] QString cell(int column) const;
};

} // namespace lockscope::ui
