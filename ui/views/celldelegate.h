// SPDX-License-Identifier: Apache-2.0
// How a cell of our tables is drawn: hairline below, selection across the row, an accent bar at the
// current row while the table has the keyboard, numbers with digits of equal width.
#pragma once

#include "ui/theme/pill.h"

#include <QStyledItemDelegate>

class QTableView;

namespace lockscope::ui {

struct CellLook {
    QFont font;
    QColor colour;
    Qt::TextElideMode elide = Qt::ElideRight;
    std::optional<Pill> pill; // instead of the text
    bool tabular = false;
    bool stale = false; // not known to be true any more: pale
};

class CellDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    static constexpr int rowHeight = 30;
    static constexpr int padding = 10;

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;

    // The settings every table of ours shares. The delegate is set by the caller.
    static void prepare(QTableView &table);

protected:
    [[nodiscard]] virtual CellLook look(const QModelIndex &index) const = 0;
};

} // namespace lockscope::ui
