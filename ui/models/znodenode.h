// SPDX-License-Identifier: Apache-2.0
// A node of the tree of znodes: what is known of it, and what its row says.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/treemodel.h"

#include <algorithm>
#include <deque>
#include <optional>

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

// A list of children on its way into the tree of znodes, and the part of a big one that is there.
//
// The server's order means nothing, and to sort 300,000 names in one go would take too long; so would laying as many
// rows out, which views do with each change among what is expanded. So of a big list the tree has a part, and what is
// not in it lies on two heaps: what comes before the part, the last of it on top, and what comes after it, the first
// of it on top. The part slides by taking from one heap and giving to the other.

// How many children of a folder are in the tree, how many come before and after them (of those that the filter lets
// through), and how many there are.
struct ZnodePart {
    int before = 0;
    int shown = 0;
    int after = 0;
    int total = 0;
    bool isSorted = true; // or what comes before and after is not known yet
    [[nodiscard]] int matching() const { return before + shown + after; }
};

// What is to be done stands in the order of its members: looked for, cleared, heaped, slid, merged.
struct ZnodeFilling {
    static constexpr int rowsOfPart = 20'000;
    static constexpr int rowsOfSlide = 10'000;
    static constexpr int mostRows = rowsOfPart + rowsOfSlide; // as new ones come among those shown

    ZnodeNode *node = nullptr;
    std::vector<ZnodeRow> rows;
    QString filter; // of a big list: what a name has to contain

    std::optional<NodeName> wanted; // whether it is among the rows is being looked up; if it is, the part goes there
    bool isCleared = true;          // if not, what is in the tree goes first
    int toRewind = 0;               // from the heap before to that after, when all are heaped
    int toDropFirst = 0;            // of those shown
    int toDropLast = 0;
    int toPutBefore = 0; // of the heap before
    int at = 0;          // children of the tree before it are merged
    int limit = rowsOfPart;

    [[nodiscard]] bool isBig() const { return static_cast<int>(rows.size()) > rowsOfPart; }
    [[nodiscard]] bool isHeaped() const { return m_heaped == rows.size(); }
    [[nodiscard]] bool isFull() const { return isHeaped() && (m_after.empty() || shown() >= limit); }
    [[nodiscard]] bool isDone() const;
    [[nodiscard]] ZnodePart part() const;
    [[nodiscard]] int shown() const { return static_cast<int>(m_shown.size()); }
    [[nodiscard]] int before() const { return static_cast<int>(m_before.size()); }
    [[nodiscard]] int after() const { return static_cast<int>(m_after.size()); }
    [[nodiscard]] const NodeName &largest() const { return m_largest; }
    // The first that comes after those shown; there must be one.
    [[nodiscard]] const NodeName &next() const { return rows[m_after.front()].name; }
    // Where the part begins, so that another list of that folder can show the same; empty: with the first of all.
    [[nodiscard]] NodeName beginning() const;

    // From that name on; `around`: with as many before it.
    void begin(const NodeName &from, bool around = false);
    // Another filter, and the part of it that begins with the first one; what is in the tree goes.
    void filterAgain(const QString &text);
    void lookFor(const NodeName &name);
    void slideOn();
    void slideBack();

    // All return how many they took: at most so many.
    int lookOn(int atMost);
    int heapUp(int atMost);
    int rewind(int atMost);
    // Off the part, to the heaps; the tree is for the caller.
    void dropFirst(int count);
    void dropLast(int count);
    // Onto the part: the next rows in order, each name once; or the last before it.
    [[nodiscard]] std::vector<ZnodeRow> page(int atMost);
    [[nodiscard]] std::vector<ZnodeRow> pageBefore(int atMost);

private:
    void push(std::vector<quint32> &heap, quint32 row);
    quint32 pop(std::vector<quint32> &heap);
    // Whether it is deeper in that heap.
    [[nodiscard]] auto isBelow(const std::vector<quint32> &heap) const;

    NodeName m_from;
    bool m_isAround = false;
    std::size_t m_looked = 0; // of the rows
    std::size_t m_heaped = 0;
    NodeName m_largest;
    std::vector<quint32> m_before, m_after; // indices of rows
    std::deque<quint32> m_shown;
};

} // namespace lockscope::ui
