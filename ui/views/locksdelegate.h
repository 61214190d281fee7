// SPDX-License-Identifier: Apache-2.0
// How a lock is drawn in the list of locks: a cell for each fact, or all of it in two lines.
#pragma once

#include <version>

#include "ui/models/connectionbook.h"
#include "ui/models/locksmodel.h"
#include "ui/views/celldelegate.h"
#include "ui/views/stackedrow.h"

#include <map>

namespace lockscope::ui {

class LocksDelegate : public CellDelegate {
    Q_OBJECT
public:
    LocksDelegate(const LocksModel &model, QObject *parent) : CellDelegate(parent), m_model(model) {}

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;

    std::map<ConnectionName, GroupHead> groups;
    bool isStacked = false;
    // Of the fewest words that say what stands there.
    [[nodiscard]] int briefWidth(const QModelIndex &index) const;

private:
    [[nodiscard]] CellLook look(const QModelIndex &index) const override;
    [[nodiscard]] QString brief(const QModelIndex &index) const override;
    [[nodiscard]] bool isOfProduction(const ConnectionName &connection) const;
    [[nodiscard]] StackedRow stackedRow(const QModelIndex &index) const;

    const LocksModel &m_model;
};

// What stands above the rows of each connection; how many there are is known where they stand together.
[[nodiscard]] std::map<ConnectionName, GroupHead> groupHeadsOf(const ConnectionBook &book, const LocksModel &model);

} // namespace lockscope::ui
