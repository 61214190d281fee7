// SPDX-License-Identifier: Apache-2.0
// The page of the audit file: what was forced, by whom, why, what it changed, and whether the record is whole. It
// follows the file while it is on screen.
#pragma once

#include "ui/models/rowsmodel.h"
#include "ui/pages/page.h"

#include <QPlainTextEdit>
#include <QSortFilterProxyModel>

class QSplitter;

namespace lockscope::ui {

class Banner;
class EmptyNotice;
class LiveTree;

// The records of the audit file, newest first.
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

class AuditPage : public Page {
    Q_OBJECT
public:
    explicit AuditPage(QWidget *parent = nullptr);

    void setBackend(Backend *backend) override { m_backend = backend; }
    void showConnection(const ConnectionName &) override {} // one record for all of them
    [[nodiscard]] ConnectionName connectionShown(const ConnectionName &) const override { return {}; }
    void setFilter(const QString &text) override { m_filter->setText(text); }
    void focusContent() override;
    void refresh() override;
    [[nodiscard]] bool isRecorded() const override { return false; } // the file says what is in it now
    void freeze(std::optional<std::chrono::system_clock::time_point> at) override
    {
        if (!at && isVisible())
            read();
    }
    [[nodiscard]] bool isSettled() const override { return m_isRead; }

    [[nodiscard]] LiveTree &table() { return *m_table; }
    [[nodiscard]] Banner &chain() { return *m_chain; }
    [[nodiscard]] QString detail() const { return m_detail->toPlainText(); }

private:
    void showEvent(QShowEvent *event) override;
    QWidget *buildStrip();
    QWidget *buildTable();
    void read();
    void take(const Result<operate::AuditReport> &report);
    void showChainText(const operate::AuditReport &report);
    void updateCountLabel();
    void showDetail();
    void openLock();

    Backend *m_backend = nullptr;
    AuditModel m_model;
    QSortFilterProxyModel m_filtered;
    QString m_stamp;
    bool m_isReading = false;
    bool m_isRead = false;
    QStackedWidget *m_stack = nullptr;
    EmptyNotice *m_empty = nullptr;
    Banner *m_chain = nullptr;
    QLineEdit *m_filter = nullptr;
    QLabel *m_status = nullptr;
    QSplitter *m_split = nullptr;
    LiveTree *m_table = nullptr;
    QPlainTextEdit *m_detail = nullptr;
};

} // namespace lockscope::ui
