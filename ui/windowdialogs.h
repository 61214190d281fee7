// SPDX-License-Identifier: Apache-2.0
// What the window opens over itself: forms, questions, menus. Each closes by itself and is then deleted.
#pragma once

#include "ui/models/connectionbook.h"

#include <QObject>
#include <QPointer>

namespace lockscope {
class ConnectionStore;
}

namespace lockscope::ui {

class LocksPage;
class MainWindow;
class ScreenClock;

class WindowDialogs : public QObject {
    Q_OBJECT
public:
    // Acts go to `backend`, which is never paused. All of them outlive this.
    WindowDialogs(Backend &backend, const ConnectionBook &book, const ScreenClock &clock, MainWindow &window);

    void useLocks(LocksPage &page) { m_locks = &page; }
    void useConnections(ConnectionStore &store) { m_store = &store; }

    // Of the lock in the detail, while its page is on screen.
    void openForceRelease();
    void openAcquire();
    // Several force-releases: of the session of the chosen contender, of what the list shows, of what dead clients
    // left.
    enum class Bulk { Session, Listed, Litter };
    void openBulk(Bulk bulk);
    void openGuarantees();
    void openFindingsHelp();
    void openConnect();
    // The dialog with that connection's entry, which then replaces it.
    void openEdit(const ConnectionName &name);
    // Production is armed by a question only.
    void askReadOnly(const ConnectionName &name, bool readOnly, QWidget *over = nullptr);
    void showWritesMenu(const QPoint &at);

signals:
    // "+ Connect…" was chosen and there is no store.
    void connectRequested();
    // Just before: it may carry a password. What `replaces` names, if anything, goes.
    void aboutToConnect(const lockscope::ConnectionSpec &spec, const lockscope::ConnectionName &replaces);
    void acquiring(const lockscope::inspect::LockName &lock);

private:
    Backend &m_backend;
    const ConnectionBook &m_book;
    const ScreenClock &m_clock;
    MainWindow &m_window;
    LocksPage *m_locks = nullptr;
    ConnectionStore *m_store = nullptr;
};

} // namespace lockscope::ui
