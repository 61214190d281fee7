// SPDX-License-Identifier: Apache-2.0
// Inside of KeysModel: its nodes, and where a key is cut into folders.
#pragma once

#include "ui/models/keysmodel.h"

namespace lockscope::ui {

struct KeysModel::Node : TreeNode {
    QByteArray segment; // the part of the key between two ':', or after the last
    bool isFolder = true;
    // Of folders: how many keys are below.
    qint64 keys = 0;
    // Of keys:
    QByteArray type;
    std::optional<std::chrono::milliseconds> ttl;
    std::optional<qint64> bytes;
    std::chrono::steady_clock::time_point seen; // when ttl was true
    quint32 round = 0;                          // the last scan that met it

    [[nodiscard]] Node *child(int at) const
    {
        return static_cast<Node *>(children[static_cast<std::size_t>(at)].get());
    }
    [[nodiscard]] int count() const { return static_cast<int>(children.size()); }
    [[nodiscard]] bool is(bool asFolder, const QByteArray &name) const { return isFolder == asFolder && segment == name; }
    // Folders first, then by name.
    [[nodiscard]] bool isBefore(bool asFolder, const QByteArray &name) const
    {
        return isFolder != asFolder ? isFolder : segment < name;
    }
    [[nodiscard]] int lowerBound(bool asFolder, const QByteArray &name, int from = 0) const
    {
        const auto isBelow = [asFolder](const std::unique_ptr<TreeNode> &node, const QByteArray &other) {
            return static_cast<const Node *>(node.get())->isBefore(asFolder, other);
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
        return static_cast<const Node *>(parent)->fullName() + own;
    }
};

// What a page says of one child of a folder: a key, or the keys below a folder.
struct KeysModel::Entry {
    QByteArray segment;
    bool isFolder = false;
    std::span<KeyRow> rows;
};

// A key of a thousand ':' is a name, not a thousand folders.
constexpr int deepestFolder = 24;

inline std::pair<QByteArray, bool> segmentAt(const QByteArray &key, qsizetype at, int depth)
{
    const auto colon = depth < deepestFolder ? key.indexOf(':', at) : -1;
    return {key.mid(at, colon < 0 ? -1 : colon - at), colon >= 0};
}

} // namespace lockscope::ui
