// SPDX-License-Identifier: Apache-2.0
// A node of the tree of keys: a key, or a folder of those that share what is before a ':'.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/treemodel.h"

#include <algorithm>

namespace lockscope::ui {

struct KeyNode : TreeNode {
    enum Column { Name, Type, Ttl, Bytes, ColumnCount };
    using Moment = std::chrono::steady_clock::time_point;

    QByteArray segment; // the part of the key between two ':', or after the last
    bool isFolder = true;
    // Of folders: how many keys are below.
    qint64 keys = 0;
    // Of keys:
    QByteArray type;
    std::optional<std::chrono::milliseconds> ttl;
    std::optional<qint64> bytes;
    Moment seen;       // when ttl was true
    quint32 round = 0; // the last scan that met it

    [[nodiscard]] KeyNode *child(int at) const
    {
        return static_cast<KeyNode *>(children[static_cast<std::size_t>(at)].get());
    }
    [[nodiscard]] int count() const { return static_cast<int>(children.size()); }
    [[nodiscard]] bool is(bool asFolder, const QByteArray &name) const
    {
        return isFolder == asFolder && segment == name;
    }
    // Folders first, then by name.
    [[nodiscard]] bool isBefore(bool asFolder, const QByteArray &name) const
    {
        return isFolder != asFolder ? isFolder : segment < name;
    }
    [[nodiscard]] int lowerBound(bool asFolder, const QByteArray &name, int from = 0) const
    {
        const auto isBelow = [asFolder](const std::unique_ptr<TreeNode> &node, const QByteArray &other) {
            return static_cast<const KeyNode *>(node.get())->isBefore(asFolder, other);
        };
        return static_cast<int>(std::lower_bound(children.begin() + from, children.end(), name, isBelow)
                                - children.begin());
    }
    // The whole key; of a folder its prefix with the ':'.
    [[nodiscard]] QByteArray fullName() const
    {
        if (!parent)
            return {};
        const QByteArray own = isFolder ? segment + ':' : segment;
        return static_cast<const KeyNode *>(parent)->fullName() + own;
    }
    // What is left of its time to live; empty for a key that never expires, or is none.
    [[nodiscard]] std::optional<std::chrono::milliseconds> left(Moment now) const;
    [[nodiscard]] QString cell(int column, Moment now) const;
    // "12 s", "no TTL", "expired": what is left at `now` of a time to live seen at `seen`.
    [[nodiscard]] static QString ttlText(std::optional<std::chrono::milliseconds> ttl, Moment seen, Moment now);
};

constexpr std::chrono::seconds keyExpiresSoon{10};

} // namespace lockscope::ui
