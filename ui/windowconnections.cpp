// SPDX-License-Identifier: Apache-2.0
// How the window deals with its connections: which one is chosen, which one its bars and its title name.
#include "ui/mainwindow.h"

#include "core/base/text.h"
#include "core/workspace/values.h"
#include "ui/models/findingrow.h"
#include "ui/models/pausablebackend.h"
#include "ui/models/screenclock.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/pagestack.h"
#include "ui/shell/bars.h"
#include "ui/shell/connectionchooser.h"
#include "ui/shell/connectionlist.h"
#include "ui/shell/sidebar.h"
#include "ui/shell/topbar.h"
#include "ui/timetravel.h"
#include "ui/windowdialogs.h"
#include "ui/workbench.h"

namespace lockscope::ui {

// Of the connections, in the header.
void MainWindow::connectList()
{
    auto *list = &m_top->chooser().list();
    connect(list, &ConnectionList::connectionChosen, this, &MainWindow::setConnection);
    connect(list, &ConnectionList::connectRequested, m_dialogs, &WindowDialogs::openConnect);
    connect(list, &ConnectionList::savedChosen, m_start, qOverload<const SavedConnection &>(&WindowStart::open));
    connect(list, &ConnectionList::savedMenuRequested, m_start, &WindowStart::openMenu);
    connect(list, &ConnectionList::readOnlyRequested, this,
            [this](const ConnectionName &name, bool readOnly) { m_dialogs->askReadOnly(name, readOnly); });
    connect(list, &ConnectionList::disconnectRequested, this, &MainWindow::forget);
    connect(list, &ConnectionList::retryRequested, this,
            [this](const ConnectionName &name) { m_screen->execute(Reconnect{name}); });
    connect(list, &ConnectionList::editRequested, m_dialogs,
            [this](const ConnectionName &name) { m_dialogs->openEdit(name); });
}

// What asks for attention, wherever the user looks: for the task bar.
void MainWindow::showTitle()
{
    QStringList parts;
    if (m_clock->isElsewhere())
        parts << tr("viewing %1").arg(timeOfDay(m_clock->now()).toString(u"HH:mm:ss"_s));
    const auto &incidents = m_locks->incidents();
    const auto critical = std::ranges::count(incidents, inspect::Severity::Critical, &inspect::Incident::severity);
    if (critical > 0)
        parts << tr("%1 critical").arg(critical);
    else if (!incidents.empty())
        parts << (incidents.size() == 1 ? tr("1 incident") : tr("%1 incidents").arg(incidents.size()));
    const auto &all = m_book.all();
    const auto *one = m_book.find(currentPage()->connectionShown(m_connection));
    if (!one && all.size() == 1)
        one = &all.front();
    if (one)
        parts << label(one->name.bytes(), 60) + (one->production ? u" PROD"_s : QString());
    else if (!all.empty())
        parts << tr("%1 connections").arg(all.size());
    setWindowTitle(parts.isEmpty() ? u"Lockscope"_s : parts.join(u", "_s) + u" - Lockscope"_s);
}

void MainWindow::setConnection(const ConnectionName &name)
{
    m_connection = name;
    if (!showsConnections() && !name.isEmpty())
        showPage(u"locks"_s); // where it is seen
    m_top->chooser().list().setCurrent(name);
    for (auto *page : m_pages->all())
        page->showConnection(name);
    showContext();
}

// The bars name the connection of what the page shows, which may not be the chosen one.
void MainWindow::showContext()
{
    const auto context = currentPage()->connectionShown(m_connection);
    m_time->setLock(m_locks->currentLock());
    m_top->setContext(context, showsConnections());
    showTitle();
    m_status->setContext(currentPage() == m_locks ? m_connection : context); // its list shows all that are chosen
}

void MainWindow::useConnections(ConnectionStore &store)
{
    m_store = &store;
    m_start->useConnections(store);
    m_dialogs->useConnections(store);
    m_workbench->useConnections(store);
    m_top->chooser().list().useConnections(store);
    const auto mark = [this] {
        for (const auto &saved : m_store->all()) {
            if (const auto spec = specOf(saved, {}))
                m_book.mark(spec->name, {spec->displayUri(), saved.development, saved.colour});
        }
    };
    connect(&store, &ConnectionStore::changed, this, mark);
    mark();
}

void MainWindow::forget(const ConnectionName &name)
{
    if (m_dialogs->refusesInPast())
        return;
    m_screen->execute(Disconnect{name});
    m_workbench->forget(name);
    drop(name);
}

void MainWindow::drop(const ConnectionName &name)
{
    m_book.remove(name);
    m_locks->removeConnection(name);
    if (m_connection == name)
        setConnection({});
}

} // namespace lockscope::ui
