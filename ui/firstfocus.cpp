// SPDX-License-Identifier: Apache-2.0
#include "ui/mainwindow.h"

#include "ui/pages/lockspage.h"
#include "ui/pages/pagestack.h"
#include "ui/shell/sidebar.h"
#include "ui/shell/topbar.h"
#include "ui/views/lockstable.h"

#include <QEvent>

namespace lockscope::ui {

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
