// SPDX-License-Identifier: Apache-2.0
// The locks of one session as a table. What stays the same but for its words changes in place.
#pragma once

#include <version>

#include "ui/models/sessionfacts.h"

#include <QAbstractTableModel>

namespace lockscope::ui {

class SessionLocksModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Place, Lock, Age, Next, ColumnCount };
    enum Role { ToneRole = Qt::UserRole };
    using QAbstractTableModel::QAbstractTableModel;

    void setLocks(std::vector<SessionLock> locks);
    [[nodiscard]] const SessionLock &at(int row) const { return m_locks[static_cast<std::size_t>(row)]; }

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<SessionLock> m_locks;
};

} // namespace lockscope::ui
