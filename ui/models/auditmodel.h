// SPDX-License-Identifier: Apache-2.0
// The records of the audit file, newest first. GUI thread only.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/rowsmodel.h"

namespace lockscope::ui {

class AuditModel : public RowsModel<operate::AuditRecord> {
    Q_OBJECT
public:
    enum Column { Time, Actor, Action, Lock, Holder, Reason, Outcome, ColumnCount };

    explicit AuditModel(QObject *parent = nullptr);
    // The records in the file's order. Those that are known already keep their rows.
    void setRecords(std::vector<operate::AuditRecord> records);
};

// What the act changed in the lock (LOCK in JSON), line by line: "-" went, "+" came, "~" changed.
[[nodiscard]] QStringList auditDiff(const QJsonObject &before, const QJsonObject &after);
// All of a record as lines, the diff among them.
[[nodiscard]] QString auditText(const operate::AuditRecord &record);

} // namespace lockscope::ui
