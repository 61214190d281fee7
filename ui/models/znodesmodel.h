// SPDX-License-Identifier: Apache-2.0
// The znodes of one ZooKeeper as a tree that loads what is asked for and follows changes.
//
// A node's children are listed when a view first wants them. What the server answers is sorted, and merged into the
// tree a little at a time (rowsPerTurn), and of a folder of 300,000 children a part: the first 20,000 (rowsAtFirst),
// or those around the one that is wanted (reveal), or the next ones, for which others leave. Views lay out everything
// that is expanded, in one go, and with each change again. The model is reset only when the connection changes:
// everything else is inserted, removed and changed in runs, so that expansion and selection live through it. A node
// that cannot be read carries its error; the rest of the tree works. GUI thread only.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/treemodel.h"

#include <QThreadPool>
#include <QTimer>

namespace lockscope::ui {

// A node of the tree of znodes: what is known of it, and what its row says.
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
    [[nodiscard]] ZPath path() const
    {
        return !above() || !above()->above() ? ZPath("/"_ba) : above()->path().child(name);
    }
    [[nodiscard]] QVariant data(int column, int role) const;
    [[nodiscard]] static QVariant header(int column, int role);

private:
    [[nodiscard]] QString childrenText() const;
    [[nodiscard]] QString cell(int column) const;
};

// A list of children on its way into the tree of znodes, and the part of a big one that is there.
//
// The server's order means nothing: the rows are sorted before they come here. To lay as many rows out as a folder of
// 300,000 has would take too long, which views do with each change among what is expanded. So of a big list the tree
// has a part, which slides.

// How many children of a folder are in the tree, how many come before and after them (of those that the filter lets
// through), and how many there are.
struct ZnodePart {
    int before = 0;
    int shown = 0;
    int after = 0;
    int total = 0;
    bool isFiltered = true; // or what comes before and after is not known yet
    [[nodiscard]] int matching() const { return before + shown + after; }
};

// What is to be done stands in the order of its members: cleared, filtered, slid, merged.
struct ZnodeFilling {
    static constexpr int rowsOfPart = 20'000;
    static constexpr int rowsOfSlide = 10'000;
    static constexpr int mostRows = rowsOfPart + rowsOfSlide; // as new ones come among those shown

    ZnodeNode *node = nullptr;
    std::vector<ZnodeRow> rows; // by name, each once
    QString filter;             // of a big list: what a name has to contain

    bool isCleared = true; // if not, what is in the tree goes first
    int toDropFirst = 0;   // of those shown
    int toDropLast = 0;
    int toPutBefore = 0; // of those that come before
    int at = 0;          // children of the tree before it are merged
    int limit = rowsOfPart;

    [[nodiscard]] bool isBig() const { return static_cast<int>(rows.size()) > rowsOfPart; }
    [[nodiscard]] bool isFiltered() const { return m_filtered == rows.size(); }
    [[nodiscard]] bool isFull() const { return isFiltered() && (after() == 0 || shown() >= limit); }
    [[nodiscard]] bool isDone() const;
    [[nodiscard]] ZnodePart part() const
    {
        return {before(), shown(), after(), static_cast<int>(rows.size()), isFiltered()};
    }
    [[nodiscard]] int before() const { return m_begin; }
    [[nodiscard]] int shown() const { return m_end - m_begin; }
    [[nodiscard]] int after() const { return static_cast<int>(m_matching.size()) - m_end; }
    [[nodiscard]] NodeName largest() const { return m_matching.empty() ? NodeName() : rows[m_matching.back()].name; }
    // The first that comes after those shown; there must be one.
    [[nodiscard]] const NodeName &next() const { return rowAt(m_end).name; }
    // Where the part begins, so that another list of that folder can show the same; empty: with the first of all.
    [[nodiscard]] NodeName beginning() const
    {
        return before() == 0 || shown() == 0 ? NodeName() : rowAt(m_begin).name;
    }

    // From that name on; `around`: with as many before it.
    void begin(const NodeName &from, bool around = false);
    // Another filter, and the part of it that begins with the first one; what is in the tree goes.
    void filterAgain(const QString &text);
    // The part goes to that name, if it is among the rows.
    void goTo(const NodeName &name);
    void slideOn();
    void slideBack();

    // Returns how many it looked at.
    int filterOn(int atMost);
    // Off the part; the tree is for the caller.
    void dropFirst(int count);
    void dropLast(int count);
    // Onto the part: the next rows in order, or the last before it; at most so many.
    [[nodiscard]] std::vector<ZnodeRow> page(int atMost);
    [[nodiscard]] std::vector<ZnodeRow> pageBefore(int atMost);

private:
    [[nodiscard]] const ZnodeRow &rowAt(int place) const { return rows[m_matching[static_cast<std::size_t>(place)]]; }

    NodeName m_from;
    bool m_isAround = false;
    std::size_t m_filtered = 0;      // of the rows
    std::vector<quint32> m_matching; // indices of those that the filter lets through
    int m_begin = 0, m_end = 0;      // the part, of those
};

// By name, each once.
void sortByName(std::vector<ZnodeRow> &rows);

class ZnodesModel : public TreeModel {
    Q_OBJECT
public:
    static constexpr int rowsPerTurn = 2048;
    static constexpr int rowsAtFirst = ZnodeFilling::rowsOfPart;

    explicit ZnodesModel(QObject *parent = nullptr);
    ~ZnodesModel() override;

    // An empty name empties the tree. The backend outlives the model.
    void setConnection(Backend *backend, const ConnectionName &name);
    [[nodiscard]] const ConnectionName &connection() const { return m_connection; }

    [[nodiscard]] ZPath pathOf(const QModelIndex &index) const { return node(index)->path(); }
    // Invalid if that node is not loaded.
    [[nodiscard]] QModelIndex find(const ZPath &path, int column = ZnodeNode::Name) const;
    // Whether its children have been listed (those held back count).
    [[nodiscard]] bool isLoaded(const QModelIndex &index) const { return node(index)->isLoaded(); }
    // How many children of a big folder are known but not in the tree.
    [[nodiscard]] int heldBack(const ZPath &path) const;
    // Which part of a big folder's children is in the tree, or is on its way; empty if they all are.
    [[nodiscard]] std::optional<ZnodePart> part(const ZPath &path) const;
    // Slides the part on, or back: others leave the tree for those that come.
    void showMore(const ZPath &path);
    void showEarlier(const ZPath &path);
    // Whether the rows that are about to leave are only no longer in the part.
    [[nodiscard]] bool isSliding() const { return m_isSliding; }
    // Of big folders only what contains it (in any case) is in the tree, or whose folder does: what a view's filter
    // would let through, which sees what is in the tree alone.
    void setFilter(const QString &text);
    // A big folder that was listed a moment ago.
    [[nodiscard]] bool isResting(const ZPath &path) const;
    [[nodiscard]] qint64 loadedCount() const { return m_loaded; }

    // Lists the children again (after a change, or to try what failed). Several calls while a list
    // is under way make one more list.
    void refresh(const ZPath &path);
    // What a look at one node told, where a list was too long to say it.
    void learn(const ZPath &path, const zk::Stat &stat);
    // Loads what lies on the way to the path, then says revealed() or revealFailed(). The newest wins.
    void reveal(const ZPath &path);

    [[nodiscard]] int columnCount(const QModelIndex & = {}) const override { return ZnodeNode::ColumnCount; }
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override
    {
        return index.isValid() ? node(index)->data(index.column(), role) : QVariant();
    }
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    [[nodiscard]] bool hasChildren(const QModelIndex &parent = {}) const override;
    [[nodiscard]] bool canFetchMore(const QModelIndex &parent) const override
    {
        return parent.isValid() && node(parent)->load == ZnodeNode::Load::NotAsked && hasChildren(parent);
    }
    void fetchMore(const QModelIndex &parent) override;

signals:
    // A node that had no children can be expanded now, or the other way round: views decide that when they lay out.
    void expandabilityChanged();
    // A big folder is being filled, or has children held back.
    void filling(const lockscope::ZPath &path);
    void revealed(const QModelIndex &index);
    void revealFailed(const lockscope::ZPath &path, const QString &why);

private:
    void leaving(const TreeNode *parent, int first, int count) override;

    struct Wanted {
        ZPath path;
        ZPath lastAsked{};                    // listed on the way; empty before the first
        std::optional<ZPath> lookedThrough{}; // what was held back of it
    };

    [[nodiscard]] ZnodeNode *node(const QModelIndex &index) const { return static_cast<ZnodeNode *>(nodeOf(index)); }
    [[nodiscard]] ZnodeNode *findNode(const ZPath &path) const;

    void list(ZnodeNode *node);
    void sortThenTake(const ZPath &path, Result<std::vector<ZnodeRow>> answer);
    void take(const ZPath &path, Result<std::vector<ZnodeRow>> answer);
    void fail(ZnodeNode *node, const Error &error);
    ZnodeFilling &startWork(std::unique_ptr<ZnodeFilling> filling);
    void work();
    int workOn(ZnodeFilling &filling, int budget);
    int mergePage(ZnodeFilling &filling, int budget);
    void mergeInto(ZnodeNode *parent, int from, int until, std::vector<ZnodeRow> &page, int &at);
    void putRows(ZnodeNode *parent, int at, std::vector<ZnodeRow> &page, std::size_t from, std::size_t until);
    void slideOff(ZnodeNode *parent, int first, int count);
    void finish(std::unique_ptr<ZnodeFilling> filling);
    ZnodeFilling *workAgainOn(ZnodeNode *node);
    [[nodiscard]] const ZnodeFilling *heldOf(const ZnodeNode *node) const;
    void rested(const ZPath &path);
    // Whether anything of it changed.
    bool update(ZnodeNode *node, ZnodeRow &row);
    void tell(const ZnodeNode *node) { notifyChanged(node->parent, rowOf(node), rowOf(node)); }
    [[nodiscard]] std::optional<NodeName> wantedChild(const ZPath &folder) const;
    void followReveal();

    Backend *m_backend = nullptr;
    ConnectionName m_connection;
    std::deque<std::unique_ptr<ZnodeFilling>> m_fillings;
    std::vector<std::unique_ptr<ZnodeFilling>> m_heldBack; // done for now, with rows left
    QTimer m_turn;
    qint64 m_loaded = 0;
    QString m_filter;
    bool m_isSliding = false;
    bool m_expandabilityChanged = false;
    std::optional<Wanted> m_wanted;     // by reveal()
    std::unique_ptr<QObject> m_answers; // answers come while it lives
    QThreadPool m_sorter;               // of long lists
};

} // namespace lockscope::ui
