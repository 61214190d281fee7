// SPDX-License-Identifier: Apache-2.0
// The page of sessions: who is there, from where, what each holds and waits for.
#pragma once

#include "ui/pages/page.h"
#include "ui/pages/sessiondetail.h"

class QSortFilterProxyModel;
class QStackedWidget;

#include <QLineEdit>

namespace lockscope::ui {

class LiveTree;
class LocksModel;

class SessionsPage : public Page {
    Q_OBJECT
public:
    explicit SessionsPage(QWidget *parent = nullptr);
    ~SessionsPage() override { stopListening(this); }

    // Where what a session holds is known; it outlives the page.
    void useLocks(const LocksModel &locks) override;

    void setBackend(Backend *backend) override;
    void showConnection(const ConnectionName &name) override;
    void setFilter(const QString &text) override { m_filter->setText(text); }
    void focusContent() override;
    void refresh() override { m_detail->refresh(); }
    [[nodiscard]] bool showSubject(const Subject &subject) override;

    [[nodiscard]] LiveTree *table() const { return m_table; }
    [[nodiscard]] const SessionsModel &model() const { return m_model; }
    // Of a row of the table; null without one.
    [[nodiscard]] const inspect::SessionSnapshot *snapshotAt(const QModelIndex &row) const;
    [[nodiscard]] SessionDetail *detail() const { return m_detail; }

private:
    void ticked() override;
    void take(const Batch &batch);
    void say();
    void activate(const QModelIndex &row);
    void showChosen();
    void seek();
    // What has only the focus is not chosen.
    [[nodiscard]] bool isChosen(const QModelIndex &row) const;
    // Where the table shows a row of the model; invalid where it does not.
    [[nodiscard]] QModelIndex shownAt(int row) const;

    SessionsModel m_model{nullptr, [this] { return clock().now(); }};
    QSortFilterProxyModel *m_proxy = nullptr; // text and order
    QSortFilterProxyModel *m_ofConnection = nullptr;
    QStackedWidget *m_stack = nullptr;
    LiveTree *m_table = nullptr;
    SessionDetail *m_detail = nullptr;
    std::optional<Subject> m_wanted; // chosen as soon as it is there
    QLineEdit *m_filter = nullptr;
    QLabel *m_status = nullptr;
};

} // namespace lockscope::ui
