// SPDX-License-Identifier: Apache-2.0
// How a lock is drawn in the list of locks, as a row of two lines: its sign, its name and how many wait; its state,
// who holds it, what is wrong, and since when. Above the first row of a connection stands the connection.
#pragma once

#include "ui/models/connectionbook.h"
#include "ui/models/locksmodel.h"

#include <QStyledItemDelegate>

namespace lockscope::ui {

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

} // namespace lockscope::ui
