// SPDX-License-Identifier: Apache-2.0
// Several force-releases: lists every target, asks for their number to be typed, does one after the other, stops at
// the first surprise, and says what was done and what was not.
#pragma once

#include "ui/dialogs/actingdialog.h"
#include "ui/models/lockfacts.h"
#include "ui/models/rowsmodel.h"

class QTreeView;

namespace lockscope::ui {

// The targets of several force-releases as a table, and the result of each.
class BulkModel : public RowsModel<const operate::BulkTarget *> {
    Q_OBJECT
public:
    enum Column { Lock, Holder, Since, What, Outcome, ColumnCount };

    // The targets outlive the model.
    BulkModel(const std::vector<operate::BulkTarget> &targets, SystemTime now, QObject *parent);

    // So many from the top are done.
    void setDone(int done);
    void setReport(const operate::BulkReport &report);
    [[nodiscard]] QString text(int row, int column) const
    {
        return m_columns[static_cast<std::size_t>(column)].text(at(row));
    }

private:
    [[nodiscard]] QString sinceText(const operate::BulkTarget &target) const;
    [[nodiscard]] QString outcomeText(const operate::BulkTarget &target) const;

    const SystemTime m_now;
    int m_done = 0;
    bool m_isOver = false;
    bool m_hasStopped = false;
};

class BulkDialog : public ActingDialog {
    Q_OBJECT
public:
    // The targets are of one connection. `what`: "all that session 0x… holds". Ages are those of `now`.
    BulkDialog(Backend &backend, const ConnectionBook &book, const QString &what,
               std::vector<operate::BulkTarget> targets, SystemTime now, QWidget *parent = nullptr);

    [[nodiscard]] QString note() const { return m_note; }

private:
    void build(const QString &what);
    QWidget *makeTable();
    QWidget *makeButtons();
    void send() override;
    void showReport(const Result<operate::BulkReport> &report);
    void showStep() override;
    void updateReady() override;
    [[nodiscard]] QString buttonText() const;
    // Holders, and of stale entries waiters.
    [[nodiscard]] int count() const { return static_cast<int>(m_targets.size()); }
    [[nodiscard]] int waiters() const; // which only wait
    [[nodiscard]] int locks() const;   // that the others hold
    [[nodiscard]] QString whatIsTaken() const;
    [[nodiscard]] QString obstacle() const override;

    const std::vector<operate::BulkTarget> m_targets;
    QString m_note;
    BulkModel *m_model;
    QTreeView *m_table = nullptr;
    QPushButton *m_copy = nullptr;
};

} // namespace lockscope::ui
