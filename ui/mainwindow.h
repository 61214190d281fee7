// SPDX-License-Identifier: Apache-2.0
// The window: top bar, rail, pages, foot and status bar. It owns no data of its own beyond the book of
// connections; every page follows the backend itself.
#pragma once

#include "ui/models/connectionbook.h"
#include "ui/pages/page.h"

#include <QMainWindow>

namespace lockscope::ui {

class Actions;
class FirstFocus;
class FootBar;
class HelpOverlay;
class LocksPage;
class PausableBackend;
class Presentation;
class SideBar;
class StatusBar;
class TimeBar;
class TimeTravel;
class TopBar;
class WindowDialogs;
class WindowStart;
class Workbench;
struct FootKey;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    // `backend` outlives the window.
    explicit MainWindow(Backend &backend, QWidget *parent = nullptr);
    ~MainWindow() override;

    // Where "+ Connect…" finds and keeps connections; without one it only emits connectRequested(). The
    // store outlives the window.
    void useConnections(ConnectionStore &store);
    // Which findings are muted. They outlive the window.
    void useMutes(MuteStore &mutes);
    // By the word of --page; false if there is no such page.
    bool showPage(const QString &name);
    // Shows the page of locks with this lock chosen, as soon as it is known.
    void selectLock(const inspect::LockName &lock);
    // Shows it on that page (its id), or on the first that shows such; false if none does.
    bool showSubject(const Subject &subject, const QString &page = {});
    [[nodiscard]] WindowDialogs &dialogs() { return *m_dialogs; }
    [[nodiscard]] TimeTravel &time() { return *m_time; }
    [[nodiscard]] const Actions &actions() const { return *m_actions; }
    [[nodiscard]] Workbench &workbench() { return *m_workbench; }
    // A line for the rail; complete: all of its servers that answer are connected to.
    void setSandbox(const QString &state, bool isComplete = false);
    [[nodiscard]] LocksPage &locksPage() { return *m_locks; }
    [[nodiscard]] PageStack &pages() { return *m_pages; }
    [[nodiscard]] ConnectionBook &connections() { return m_book; }
    // Whether every connection has reported all it can find at first sight (or failed).
    [[nodiscard]] bool isFirstSnapshotComplete() const;
    // Without a connection nothing more will come to the page that is shown.
    [[nodiscard]] bool isInitialScanComplete() const { return showsConnections() || currentPage()->isSettled(); }

    // No larger than this screen, with a frame around it.
    void fitInto(const QRect &available);
    // Sizes, splitters and columns; nothing that names a server. The store gets the connections of this session.
    void saveView(QSettings &settings) const;
    void restoreView(QSettings &settings);

signals:
    void firstSnapshotComplete();
    // "+ Connect…" was chosen and there is no store.
    void connectRequested();
    // Just before: it may carry a password.
    void aboutToConnect(const lockscope::ConnectionSpec &spec);
    // Something is to be played on a sandbox, which does not run. setSandbox() follows.
    void sandboxRequested();
    // A sandbox with demo locks is wanted, whether one runs or not. setSandbox() follows.
    void demoRequested();

private:
    void keyPressEvent(QKeyEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    // What it holds or waits for is given up with it, so it asks first.
    void closeEvent(QCloseEvent *event) override;
    [[nodiscard]] Page *makePage(std::size_t row);
    void addPageActions();
    void addActions();
    void addWindowActions();
    void focusNextPane();
    void fitFoot();
    void connectParts();
    void connectList();
    void showTitle();
    void showPageAt(int at);
    void setPaused(bool paused);
    void showPause();
    void showFrame();
    void showMoment(std::optional<std::chrono::system_clock::time_point> at);
    void setConnection(const ConnectionName &name);
    void showContext();
    void checkFirstSnapshot();
    void forget(const ConnectionName &name);
    void drop(const ConnectionName &name);
    [[nodiscard]] Page *currentPage() const { return &m_pages->at(m_pages->current()); }
    [[nodiscard]] bool showsConnections() const { return allPages()[m_pages->current()].showsConnections; }

    Backend &m_backend;        // for what is done: never paused
    PausableBackend *m_screen; // for what is shown
    ConnectionBook m_book;
    std::shared_ptr<ScreenClock> m_clock; // the one that all pages count by
    TopBar *m_top;
    SideBar *m_side;
    FootBar *m_foot;
    StatusBar *m_status;
    TimeBar *m_timeBar;
    PageStack *m_pages;
    WindowDialogs *m_dialogs;
    Presentation *m_presentation;
    Actions *m_actions;
    TimeTravel *m_time;
    LocksPage *m_locks = nullptr;
    HelpOverlay *m_help = nullptr;
    Workbench *m_workbench = nullptr;
    FirstFocus *m_focus = nullptr;
    WindowStart *m_start = nullptr;
    ConnectionStore *m_store = nullptr;
    ConnectionName m_connection; // chosen in the header
    bool m_paused = false;
    bool m_wasShown = false;
    bool m_firstSnapshotTold = false;
    bool m_mayClose = false;
};

// Who has the keyboard when the window opens, and when it comes to the front with nobody in it who could: the page,
// not the find field, first in the order of Tab though that is. Arrows walk through the rows at once.
class FirstFocus : public QObject {
    Q_OBJECT
public:
    FirstFocus(MainWindow &window, const TopBar &top, SideBar &side);
    void give();

private:
    bool eventFilter(QObject *watched, QEvent *event) override;

    MainWindow &m_window;
    const TopBar &m_top;
    SideBar &m_side;
};

// What the first screen asks for, what can be done with a saved connection, files that are dropped on the window, and
// what is kept of a session.
class WindowStart : public QObject {
    Q_OBJECT
public:
    // `said` shows a sentence.
    WindowStart(Backend &backend, MainWindow &window, std::function<void(const QString &)> said);
    void useConnections(ConnectionStore &store);
    // A recording, or the connections that somebody shares.
    void openFile(const QString &file);
    void open(const SavedConnection &saved);
    // What can be done with that connection, and with all of them.
    void openMenu(const SavedConnection &saved, const QPoint &at);
    void askImport();
    void importFrom(const QString &file);
    void exportTo(const QString &file);
    void noteSession() const;

signals:
    void aboutToConnect(const lockscope::ConnectionSpec &spec);
    void disconnectRequested(const lockscope::ConnectionName &name);

private:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void open(const ConnectionSpec &spec);
    void reportFailure(const Error &error);

    Backend &m_backend;
    MainWindow &m_window;
    const std::function<void(const QString &)> m_said;
    ConnectionStore *m_store = nullptr;
};

class KeyBar;

// The window on a projector: the page alone on the whole screen, with large text where there is room for it, and a
// line of its keys when asked for. F11 begins and ends it.
class Presentation : public QObject {
    Q_OBJECT
public:
    // `bars`: what makes room; they outlive it. `keys`: of the page that is shown.
    Presentation(QMainWindow &window, std::vector<QWidget *> bars, std::function<KeyHints()> keys);

    // The line of keys, to be put below the page.
    [[nodiscard]] QWidget *keyBar() const;

    // To begin and to end it: in the palette, in the menu, by F11.
    void addAction(Actions &actions);
    void toggle() { set(!m_isOn); }
    void set(bool isOn);
    [[nodiscard]] bool isOn() const { return m_isOn; }
    // Shows the line of the page's keys, or hides it again; false: nothing is presented, or the page has none.
    bool toggleKeys();
    // Another page is shown.
    void followPage();

private:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void chooseTextSize();

    QMainWindow &m_window;
    const std::vector<QWidget *> m_bars;
    std::vector<QPointer<QWidget>> m_hidden; // those that were there
    KeyBar *m_keys;
    bool m_showsKeys = false;
    Qt::WindowStates m_before;
    bool m_isOn = false;
};

// Single letters on the list of locks, and the foot that shows which keys act on what has the keyboard. A letter
// opens a form, goes somewhere or copies; none changes anything by itself.
class WindowKeys : public QObject {
    Q_OBJECT
public:
    // All of them outlive it. The window has its pages.
    WindowKeys(MainWindow &window, Actions &actions, FootBar &foot);

    // What acts may be another: the foot follows in a turn of its own.
    void update() { m_update.start(); }

private:
    bool eventFilter(QObject *watched, QEvent *event) override;
    struct Letter {
        Qt::Key key;
        QString action;
        QString text;
    };
    [[nodiscard]] static const std::vector<Letter> &letters();
    void addLetters();
    void show();
    void press(const Letter &letter);
    [[nodiscard]] bool isOnLocks() const;
    [[nodiscard]] std::vector<FootKey> keys();
    [[nodiscard]] QString textOf(const Letter &letter) const;
    void addLockKeys(std::vector<FootKey> &keys);
    void addPageKeys(std::vector<FootKey> &keys) const;
    [[nodiscard]] FootKey keyOf(const QString &key, const QString &text, const QString &action);

    MainWindow &m_window;
    Actions &m_actions;
    FootBar &m_foot;
    QTimer m_update;
};

} // namespace lockscope::ui
