// SPDX-License-Identifier: Apache-2.0
// The targets of several force-releases as a table, and what came of each.
#pragma once

#include "core/workspace/values.h"
#include "ui/models/lockfacts.h"

#include <QAbstractTableModel>

namespace lockscope::ui {

class BulkModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Lock, Holder, Since, What, Outcome, ColumnCount };

    BulkModel(const std::vector<operate::BulkTarget> &targets, SystemTime now, QObject *parent);

    // So many from the top are done.
    void setDone(int done);
    void setReport(const operate::BulkReport &report);
    [[nodiscard]] QString text(int row, int column) const;

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    const std::vector<operate::BulkTarget> &m_targets; // the dialog's
    const SystemTime m_now;
    int m_done = 0;
    bool m_isOver = false;
    bool m_hasStopped = false;
};

} // namespace lockscope::ui
