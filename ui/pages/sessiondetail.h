// SPDX-License-Identifier: Apache-2.0
// One session: where it is and what it says of itself, what it is doing, what it holds and waits for, and what falls
// when it ends.
#pragma once

#include "ui/models/sessionsmodel.h"
#include "ui/parts/parts.h"

#include <QWidget>

class QStackedWidget;

namespace lockscope::ui {

class EmptyNotice;
class LiveTree;
class PulseView;

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
    void showFacts(SystemTime now);
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

} // namespace lockscope::ui
