// SPDX-License-Identifier: Apache-2.0
// The records of the audit file, newest first. GUI thread only.
#pragma once

#include "core/workspace/backend.h"

#include <QAbstractTableModel>

namespace lockscope::ui {

class AuditModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Time, Actor, Action, Lock, Holder, Reason, Outcome, ColumnCount };
    enum Role { FilterRole = Qt::UserRole, ToneRole };

    using QAbstractTableModel::QAbstractTableModel;

    // The records in the file's order. What is there already stays; what is new is inserted.
    void setRecords(std::vector<operate::AuditRecord> records);
    [[nodiscard]] const operate::AuditRecord &at(int row) const;

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<operate::AuditRecord> m_records; // oldest first
};

// What the act changed in the lock (LOCK in JSON), line by line: "-" went, "+" came, "~" changed.
[[nodiscard]] QStringList auditDiff(const QJsonObject &before, const QJsonObject &after);
// All of a record as lines, the diff among them.
[[nodiscard]] QString auditText(const operate::AuditRecord &record);

} // namespace lockscope::ui
