// SPDX-License-Identifier: Apache-2.0
// How a lock is drawn in the list of locks: in two lines.
#pragma once

#include <version>

#include "ui/models/connectionbook.h"
#include "ui/models/locksmodel.h"
#include "ui/views/stackedrow.h"

#include <QStyledItemDelegate>

#include <map>

namespace lockscope::ui {

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
