// SPDX-License-Identifier: Apache-2.0
// The page of sessions: who is there, from where, what each holds and waits for.
#pragma once

#include "ui/models/sessionsmodel.h"
#include "ui/pages/page.h"

#include <QTimer>

class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QStackedWidget;

namespace lockscope::ui {

class LiveTree;

class SessionsPage : public Page {
    Q_OBJECT
public:
    explicit SessionsPage(QWidget *parent = nullptr);
    ~SessionsPage() override;

    void setBackend(Backend *backend) override;
    void showConnection(const ConnectionName &name) override;
    void setFilter(const QString &text) override;
    void focusContent() override;
    void freeze(std::optional<std::chrono::system_clock::time_point> at) override;
    void saveView(QSettings &settings) const override;
    void restoreView(QSettings &settings) override;

    [[nodiscard]] LiveTree *table() const { return m_table; }

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void take(const Batch &batch);
    void say();
    void showMenu(const QPoint &at);
    void activate(const QModelIndex &row);
    [[nodiscard]] const inspect::SessionSnapshot *snapshotAt(const QModelIndex &row) const;

    std::optional<std::chrono::system_clock::time_point> m_frozenAt; // paused
    SessionsModel m_model{nullptr, [this] { return m_frozenAt.value_or(std::chrono::system_clock::now()); }};
    QSortFilterProxyModel *m_proxy = nullptr; // text and order
    QSortFilterProxyModel *m_ofConnection = nullptr;
    QTimer m_tick;
    QStackedWidget *m_stack = nullptr;
    LiveTree *m_table = nullptr;
    QLineEdit *m_filter = nullptr;
    QLabel *m_status = nullptr;
};

} // namespace lockscope::ui
