// SPDX-License-Identifier: Apache-2.0
// What the window has for the people who work in it: the palette, the menu of all actions, filters that are kept,
// tables that are written to files, locks in windows of their own.
#pragma once

#include "ui/shell/tray.h"

#include <QWidget>

class QLabel;
class QMenu;
class QSettings;

namespace lockscope::ui {

class Actions;
class CommandPalette;
class DetailWindow;
class HoldsPanel;
class LockDetail;
class LocksPage;
class MainWindow;
class PaletteHits;
class ScreenClock;
class TopBar;
class WindowDialogs;

class Workbench : public QObject {
    Q_OBJECT
public:
    // The window has all its pages. All of it outlives this.
    Workbench(MainWindow &window, TopBar &top, Actions &actions, WindowDialogs &dialogs, const ScreenClock &clock);
    // What is told by the desktop comes from here, paused or not.
    void watch(Backend &backend);

    void useConnections(const ConnectionStore &store) { m_store = &store; }
    // Brings the window of this lock to the front, or opens one.
    DetailWindow *detach(const inspect::LockName &lock);
    [[nodiscard]] SavedFilters &filters() { return m_filters; }
    [[nodiscard]] AlertWatch &alerts() { return m_alerts; }
    [[nodiscard]] Tray &tray() { return m_tray; }
    void apply(const SavedFilter &filter);
    // Shows the lock where its connection is open; else says so. It connects to nothing.
    void openLink(const QString &link);
    void openLesson(const QByteArray &id);
    // One given at the start: it waits for its connection where that is `coming`; else it is opened at once.
    void openLinkAmong(const QString &link, const std::function<bool(const ConnectionName &)> &isComing);
    // No more connections come by themselves: what waits for one is said to have none.
    void endWaitOfLink();
    // The lock on that page, where it shows one; else the page, and the lock in the list of locks.
    void showOn(const QString &page, const inspect::LockName &lock);
    // It is closed: what is told of one of that name from here on is another's.
    void forget(const ConnectionName &name) { m_live.remove(name); }

    void save(QSettings &settings) const;
    void restore(QSettings &settings);

signals:
    void said(const QString &sentence); // that nobody has to answer

private:
    bool eventFilter(QObject *watched, QEvent *event) override;

    // What cannot be done now stands greyed, with the reason.
    void refuse();
    void addActions();
    void fillMenu(QMenu &menu) const;
    void fillFilterMenu(QMenu &menu);
    void askForFilterName();
    void exportTable();
    void showSessionOfChosen();
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> shownMoment() const;
    void offerFilters(PaletteHits &hits);
    void offerConnections(PaletteHits &hits);
    void raiseWindow();
    void say(const QString &title, const QString &text);
    void act(const inspect::LockName &lock, const QString &action, const QByteArray &contender);

    MainWindow &m_window;
    TopBar &m_top;
    Actions &m_actions;
    WindowDialogs &m_dialogs;
    const ScreenClock &m_clock;
    LocksPage &m_locks;
    CommandPalette *m_palette;
    const ConnectionStore *m_store = nullptr;
    SavedFilters m_filters;
    ConnectionBook m_live; // now, whatever moment the window shows
    AlertWatch m_alerts;
    Tray m_tray;
    QString m_waitingLink; // for its connection
    ConnectionName m_waitsFor;
};

// What the palette of the window offers: its pages and actions, the locks, the sessions.

// All of them outlive the palette.
void fillPalette(CommandPalette &palette, MainWindow &window, Actions &actions);

// One lock in a window of its own: follows it live by the same model and the same clock as the page of locks. What is
// done is done over that page, where the lock is then chosen. Esc and Ctrl+W close it.
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
