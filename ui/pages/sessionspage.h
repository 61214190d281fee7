// SPDX-License-Identifier: Apache-2.0
// The page of sessions: who is there, from where, what each holds and waits for.
#pragma once

#include "ui/models/sessionsmodel.h"
#include "ui/pages/page.h"

class QSortFilterProxyModel;

namespace lockscope::ui {

class EmptyNotice;
class LiveTree;
class LocksModel;
class PulseView;

// One session: where it is and what it says of itself, what it is doing, what it holds and waits for, and what falls
// when it ends.
class SessionDetail : public QWidget {
    Q_OBJECT
public:
    explicit SessionDetail(QWidget *parent = nullptr);
    ~SessionDetail() override { stopListening(this); }

    void setBackend(Backend *backend) { m_backend = backend; }
    void setFind(FindLock find) { m_find = std::move(find); }
    // The same session again updates in place.
    void show(const inspect::SessionSnapshot &session, const LeasePulse &pulse, SystemTime now);
    // Its connection is down, or it is not there any more: as it was last.
    void setGone(const QString &why);
    void clear();
    [[nodiscard]] const std::optional<inspect::SessionSnapshot> &session() const { return m_session; }
    [[nodiscard]] LiveTree *locks() const { return m_table; }
    // Asks the server again what the session is doing.
    void refresh();

signals:
    void lockActivated(const lockscope::inspect::LockName &lock);

private:
    void take(const Result<SessionDoing> &answer);

    Backend *m_backend = nullptr;
    FindLock m_find = [](const inspect::LockName &) { return nullptr; };
    std::optional<inspect::SessionSnapshot> m_session;
    SessionLocksModel m_model;
    QStackedWidget *m_stack = nullptr;
    EmptyNotice *m_empty = nullptr;
    QLabel *m_title = nullptr;
    QLabel *m_who = nullptr;
    QLabel *m_gone = nullptr;
    QLabel *m_end = nullptr;
    QWidget *m_doingBox = nullptr;
    QLabel *m_statement = nullptr;
    QLabel *m_doing = nullptr;
    QLabel *m_beats = nullptr;
    QWidget *m_lease = nullptr; // its pulse
    PulseView *m_pulse = nullptr;
    LiveTree *m_table = nullptr;
    std::chrono::steady_clock::time_point m_asked;
};

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
