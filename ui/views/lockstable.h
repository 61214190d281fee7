// SPDX-License-Identifier: Apache-2.0
// The list of locks: rows of two lines in groups by connection, and a place that survives updates. Its other columns
// are for copies and exports.
#pragma once

#include "ui/models/connectionbook.h"
#include "ui/models/locksmodel.h"

#include <QStyledItemDelegate>
#include <QTableView>

namespace lockscope::ui {

class TableTools;

// How a lock is drawn in the list of locks, as a row of two lines: its sign, its name and how many wait; its state,
// who holds it, what is wrong, and since when. Above the first row of a connection stands the connection.
constexpr int stackedRowHeight = 42;
constexpr int groupHeadHeight = 30;

// What stands above the rows of one connection.
struct GroupHead {
    QString name;   // "orders-zk"
    QString facts;  // "ZooKeeper, zk-1.example.net"
    QString status; // "404 locks, 1.1 ms"
    QString tag;    // "PROD", "sandbox"
    bool isProduction = false;
    QColor edge; // of its rows
    friend bool operator==(const GroupHead &, const GroupHead &) = default;
};

// Of the n-th connection of a window.
[[nodiscard]] QColor connectionColor(int number);
// The edge of a row: striped where it is production.
void paintEdge(QPainter &painter, const QRect &box, const GroupHead &group);

struct StackedRow;

class LocksDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    LocksDelegate(const LocksModel &model, QObject *parent) : QStyledItemDelegate(parent), m_model(model) {}

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;

    std::map<ConnectionName, GroupHead> groups;

private:
    [[nodiscard]] StackedRow stackedRow(const QModelIndex &index) const;

    const LocksModel &m_model;
};

// What stands above the rows of each connection; how many there are is known where they stand together.
[[nodiscard]] std::map<ConnectionName, GroupHead> groupHeadsOf(const ConnectionBook &book, const LocksModel &model);

class LocksTable : public QTableView {
    Q_OBJECT
public:
    LocksTable(LocksModel &model, QWidget *parent = nullptr);

    // First and last row on screen; {-1, -1} without rows.
    [[nodiscard]] std::pair<int, int> visibleRows() const;
    // What is chosen and in the list, or is not known (yet, or any more); never one that a filter hides.
    [[nodiscard]] std::optional<inspect::LockName> currentLock() const;
    // Without scrolling unless `reveal`.
    void setCurrentLock(const std::optional<inspect::LockName> &lock, bool reveal);
    // What Shift and Ctrl chose together, in the order of the list; without several, what is chosen.
    [[nodiscard]] std::vector<int> chosenRows() const;
    // Somebody asked for it: it is kept on screen, whatever comes before it, until they go elsewhere.
    void seek(const inspect::LockName &lock);
    // Asked for, and now it is there, as a row that waits to be shown.
    [[nodiscard]] bool isAwaited(const inspect::LockName &lock) const;
    // Other rows are asked for. What a filter hides is not chosen: the first row is instead, if there is one.
    void leaveHidden();
    // The pointer is over the rows, or a key was pressed a moment ago: nothing may move under them.
    [[nodiscard]] bool isInUse() const;
    // The row below the pointer, else the chosen one after a key; -1: none.
    [[nodiscard]] int aimedRow() const;
    using Clock = std::function<std::chrono::steady_clock::time_point()>;
    void setClock(Clock clock) { m_clock = std::move(clock); }
    // As soon as there are several connections each copied row says whose it is.
    void setConnections(std::map<ConnectionName, GroupHead> connections);
    [[nodiscard]] TableTools &tools() { return *m_tools; }

signals:
    // The person at the keyboard chose another lock (never because rows came or went).
    void chosen(const lockscope::inspect::LockName &lock);
    void opened(const lockscope::inspect::LockName &lock);
    void orderChanged();
    void inUseChanged();
    // One more row, or one less, is chosen beside the current one.
    void chosenRowsChanged();

private:
    bool viewportEvent(QEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void keepCurrentChosen();
    void hideColumns();
    void fitRows();
    void remember();
    void settle();
    void choose(int row);
    void showSought();

    LocksModel &m_model;
    std::optional<inspect::LockName> m_current; // survives while its row is gone or filtered out
    std::optional<inspect::LockName> m_anchor;  // the row that shall not move on screen
    int m_anchorY = 0;
    LocksDelegate *m_cells = nullptr;
    TableTools *m_tools = nullptr;
    bool m_showsConnections = false;
    std::vector<QPersistentModelIndex> m_heads; // the rows with a group's head
    Clock m_clock = std::chrono::steady_clock::now;
    std::optional<std::chrono::steady_clock::time_point> m_lastKey;
    bool m_isPointerInside = false;
    int m_top = 0; // of the list in its window
    bool m_updating = false;
    bool m_isSoughtLock = false; // asked for by name: kept on screen until somebody goes elsewhere
};

} // namespace lockscope::ui
