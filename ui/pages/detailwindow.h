// SPDX-License-Identifier: Apache-2.0
// One lock in a window of its own: follows it live by the same model and the same clock as the page of locks. What is
// done is done over that page, where the lock is then chosen. Esc and Ctrl+W close it.
#pragma once

#include "core/workspace/values.h"
#include "ui/models/connectionbook.h"

#include <QWidget>

class QLabel;

namespace lockscope::ui {

class HoldsPanel;
class LockDetail;
class LocksPage;
class ScreenClock;

class DetailWindow : public QWidget {
    Q_OBJECT
public:
    // All of them outlive it. Deletes itself when closed.
    DetailWindow(inspect::LockName lock, LocksPage &page, const ConnectionBook &book, const ScreenClock &clock,
                 QWidget *window);

    [[nodiscard]] const inspect::LockName &lock() const { return m_lock; }
    [[nodiscard]] LockDetail &detail() const { return *m_detail; }

signals:
    // Of this lock; the contender chosen here, if any.
    void forceReleaseRequested(const lockscope::inspect::LockName &lock, const QByteArray &chosen);
    void acquireRequested(const lockscope::inspect::LockName &lock);

private:
    void keyPressEvent(QKeyEvent *event) override;
    void follow();
    void showConnection();

    inspect::LockName m_lock;
    LocksPage &m_page;
    const ConnectionBook &m_book;
    const ScreenClock &m_clock;
    HoldsPanel *m_holds;
    QLabel *m_environment;
    QLabel *m_asOf;
    LockDetail *m_detail;
};

} // namespace lockscope::ui
