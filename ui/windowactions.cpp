// SPDX-License-Identifier: Apache-2.0
// Actions of the window itself: its connections, its colors, its panes, its end; and where the keyboard is at first.
#include "ui/mainwindow.h"

#include "ui/dialogs/settingsdialog.h"
#include "ui/pages/lockspage.h"
#include "ui/shell/actions.h"
#include "ui/shell/connectionchooser.h"
#include "ui/shell/sidebar.h"
#include "ui/shell/topbar.h"

#include <QApplication>
#include <QEvent>

namespace lockscope::ui {

namespace {

void chooseTheme(const QString &word)
{
    QSettings().setValue(settings::theme, word);
    if (auto *theme = Theme::instance())
        theme->setChoice(themeChoice(word).value_or(ThemeChoice::Auto));
}

} // namespace

void MainWindow::addWindowActions()
{
    m_actions->add(u"connections"_s, [this] { m_top->chooser().open(); });
    m_actions->add(u"sandbox"_s, [this] {
        showPage(u"locks"_s);
        emit demoRequested();
    });
    m_actions->add(u"next-pane"_s, [this] { focusNextPane(); });
    m_actions->add(u"theme-light"_s, [] { chooseTheme(u"light"_s); });
    m_actions->add(u"theme-dark"_s, [] { chooseTheme(u"dark"_s); });
    m_actions->add(u"theme-auto"_s, [] { chooseTheme(u"auto"_s); });
    m_actions->add(u"quit"_s, [this] { close(); });
}

// The rows, the lock, the rail, and again the rows.
void MainWindow::focusNextPane()
{
    const auto *focus = QApplication::focusWidget();
    auto &detail = m_locks->detail();
    const bool isOnLocks = currentPage() == m_locks;
    if (focus && (m_side->isAncestorOf(focus) || m_top->isAncestorOf(focus)))
        currentPage()->focusContent();
    else if (isOnLocks && m_locks->currentLock() && !(focus && detail.isAncestorOf(focus)))
        detail.focusQueue();
    else
        m_side->focusPage();
}

FirstFocus::FirstFocus(MainWindow &window, const TopBar &top, SideBar &side)
    : QObject(&window), m_window(window), m_top(top), m_side(side)
{
    window.installEventFilter(this);
}

void FirstFocus::give()
{
    auto &page = m_window.pages().at(m_window.pages().current());
    auto &locks = m_window.locksPage();
    const bool isLocks = &page == &locks;
    if (isLocks && locks.table().isVisibleTo(&m_window))
        locks.table().setFocus(); // chooses nothing yet
    else
        page.focusContent();
    const auto *now = m_window.focusWidget();
    if (!isLocks && now && !now->isVisibleTo(&m_window))
        m_side.focusPage(); // it has no rows yet
    if (auto *focus = m_window.focusWidget(); focus && m_top.isAncestorOf(focus))
        focus->clearFocus();
}

// A window in which nobody has the keyboard gives it to its first field, once it has been told that it is active.
bool FirstFocus::eventFilter(QObject *watched, QEvent *event)
{
    const auto *before = m_window.focusWidget();
    if (event->type() == QEvent::WindowActivate && (!before || !before->isVisibleTo(&m_window)))
        QMetaObject::invokeMethod(this, &FirstFocus::give, Qt::QueuedConnection);
    return QObject::eventFilter(watched, event);
}

} // namespace lockscope::ui
