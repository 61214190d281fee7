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

#include "ui/models/znodenode.h"

#include <QThreadPool>
#include <QTimer>

#include <deque>

namespace lockscope::ui {

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

    [[nodiscard]] ZPath pathOf(const QModelIndex &index) const;
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

    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    [[nodiscard]] bool hasChildren(const QModelIndex &parent = {}) const override;
    [[nodiscard]] bool canFetchMore(const QModelIndex &parent) const override;
    void fetchMore(const QModelIndex &parent) override;

signals:
    // A node that had no children can be expanded now, or the other way round: views decide that when they lay out.
    void expandabilityChanged();
    // Rows are about to move or have moved, once around each turn's work.
    void turnBegins();
    void turnEnds();
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

    [[nodiscard]] ZnodeNode *node(const QModelIndex &index) const;
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
    void tell(const ZnodeNode *node);
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
