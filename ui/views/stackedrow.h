// SPDX-License-Identifier: Apache-2.0
// A lock as a row of two lines, where the list stands beside the lock: its sign, its name and how many wait; its
// state, who holds it, what is wrong, and since when. Above the first row of a connection stands the connection.
#pragma once

#include "ui/theme/pill.h"

#include <QRect>
#include <QString>

class QPainter;

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

struct StackedRow {
    Pill state;
    QString name;
    QString waiting; // "3 wait"
    QString holder;
    QString finding;
    Tone findingTone = Tone::Free;
    QString age;
    bool isSelected = false;
    bool hasFocus = false;
    bool isStale = false;
};

void paintStackedRow(QPainter &painter, const QRect &box, const StackedRow &row, const GroupHead &group);
void paintGroupHead(QPainter &painter, const QRect &box, const GroupHead &group);
// The edge of a row: striped where it is production.
void paintEdge(QPainter &painter, const QRect &box, const GroupHead &group);
// Of the n-th connection of a window.
[[nodiscard]] QColor connectionColor(int number);

} // namespace lockscope::ui
