// SPDX-License-Identifier: Apache-2.0
// How the window deals with its connections: which one is chosen, which one its bars and its title name; and what the
// first screen does with them.
#include "core/base/text.h"
#include "ui/mainwindow.h"
#include "ui/pages/lockspage.h"
#include "ui/shell/bars.h"
#include "ui/shell/connectionchooser.h"
#include "ui/shell/sidebar.h"
#include "ui/shell/topbar.h"
#include "ui/timetravel.h"
#include "ui/windowdialogs.h"
#include "ui/workbench.h"

#include <QDropEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMimeData>
#include <QUrl>

namespace lockscope::ui {

static constexpr std::chrono::seconds keychainTimeout{30}; // it may ask its user

WindowStart::WindowStart(Backend &backend, MainWindow &window, std::function<void(const QString &)> said)
    : QObject(&window), m_backend(backend), m_window(window), m_said(std::move(said))
{
    window.setAcceptDrops(true);
    window.installEventFilter(this);
    auto *page = &window.locksPage().start();
    auto *dialogs = &window.dialogs();
    dialogs->carryOut(page->checklist());
    connect(page, &StartPage::openRequested, this, qOverload<const ConnectionSpec &>(&WindowStart::open));
    connect(page, &StartPage::cancelRequested, this, &WindowStart::disconnectRequested);
    connect(page, &StartPage::editRequested, dialogs,
            [dialogs](const ConnectionName &name) { dialogs->openEdit(name); });
    connect(page, &StartPage::optionsRequested, dialogs,
            [dialogs](const SavedConnection &fields) { dialogs->openEdit({}, fields); });
    connect(page, &StartPage::lessonsRequested, &window, [&window] { window.showPage(u"lessons"_s); });
    connect(page, &StartPage::menuRequested, this, &WindowStart::openMenu);
    connect(page, &StartPage::importRequested, this, &WindowStart::askImport);
    connect(page, &StartPage::recordingRequested, &window.time(), &TimeTravel::askOpen);
}

void WindowStart::open(const ConnectionSpec &spec)
{
    if (m_window.time().isElsewhere())
        return; // over a moment that is past nothing is connected
    // Anew, as the password, read-only and production may be others than those of the connection that failed.
    if (m_window.connections().find(spec.name))
        emit disconnectRequested(spec.name);
    emit aboutToConnect(spec);
    m_backend.execute(Connect{spec});
}

void WindowStart::open(const SavedConnection &saved)
{
    const auto spec = specOf(saved, {});
    if (!spec)
        return reportFailure(spec.error());
    if (m_window.dialogs().refusesInPast())
        return;
    m_store->noteUsed(saved);
    fillInPassword(*m_store, *spec, keychainTimeout, this, [this](const ConnectionSpec &filled) { open(filled); });
}

void WindowStart::reportFailure(const Error &error)
{
    m_said(label(error.message.toUtf8(), 300));
}

void WindowStart::askImport()
{
    const auto file = QFileDialog::getOpenFileName(&m_window, MainWindow::tr("Import connections"), {},
                                                   MainWindow::tr("Connections (*.toml);;All files (*)"));
    if (!file.isEmpty() && m_store)
        importFrom(file);
}

void WindowStart::importFrom(const QString &file)
{
    const auto imported = m_store->importFrom(file);
    if (!imported)
        return reportFailure(imported.error());
    m_said(MainWindow::tr("Connections of %1: %2").arg(label(QFileInfo(file).fileName().toUtf8(), 60), *imported));
}

void WindowStart::exportTo(const QString &file)
{
    if (const auto done = m_store->exportTo(file); !done)
        return reportFailure(done.error());
    m_said(MainWindow::tr("%1 written without passwords: %2")
               .arg(QString::number(m_store->all().size()), label(file.toUtf8(), 200)));
}

void WindowStart::openMenu(const SavedConnection &saved, const QPoint &at)
{
    auto *menu = makePassingMenu(u"savedConnectionMenu"_s, &m_window);
    const bool isOwn = !saved.id.isEmpty();
    const auto name = label(saved.name.toUtf8(), 60).replace(u'&', u"&&"_s);
    menu->addAction(MainWindow::tr("Edit…"), this, [this, saved] { m_window.dialogs().openEdit({}, saved); });
    menu->addAction(MainWindow::tr("Duplicate"), this,
                    [this, id = saved.id] {
                        if (const auto made = m_store->duplicate(id); !made)
                            reportFailure(made.error());
                    })
        ->setEnabled(isOwn);
    menu->addAction(MainWindow::tr("Forget use"), this, [this, saved] { m_store->forgetRecent(saved); })
        ->setEnabled(std::ranges::any_of(m_store->recent(), [&saved](const auto &used) { return used == saved; }));
    auto *remove = menu->addMenu(MainWindow::tr("Delete"));
    remove->setEnabled(isOwn); // the team's are the file's to change
    remove->addAction(MainWindow::tr("Really delete %1 and its kept password").arg(name), this,
                      [this, id = saved.id] {
                          if (const auto done = m_store->remove(id); !done)
                              reportFailure(done.error());
                      });
    menu->addSeparator();
    menu->addAction(MainWindow::tr("Import connections…"), this, &WindowStart::askImport);
    menu->addAction(MainWindow::tr("Export all connections…"), this,
                    [this] {
                        const auto file = QFileDialog::getSaveFileName(
                            &m_window, MainWindow::tr("Export connections"), u"lockscope.toml"_s,
                            MainWindow::tr("Connections (*.toml);;All files (*)"));
                        if (!file.isEmpty())
                            exportTo(file);
                    })
        ->setEnabled(!m_store->all().empty());
    menu->popup(at);
}

void WindowStart::useConnections(ConnectionStore &store)
{
    m_store = &store;
    m_window.locksPage().start().useConnections(store);
}

bool WindowStart::eventFilter(QObject *watched, QEvent *event)
{
    const bool isDrop = event->type() == QEvent::Drop;
    if (!isDrop && event->type() != QEvent::DragEnter)
        return QObject::eventFilter(watched, event);
    auto *drag = static_cast<QDropEvent *>(event);
    for (const auto &url : drag->mimeData()->urls()) {
        if (!url.isLocalFile())
            continue;
        drag->acceptProposedAction();
        if (isDrop)
            openFile(url.toLocalFile());
    }
    return true;
}

void WindowStart::openFile(const QString &file)
{
    if (!file.endsWith(".toml"_L1) || !m_store)
        return m_window.time().openFiles({file}, label(QFileInfo(file).fileName().toUtf8(), 60));
    importFrom(file);
}

void WindowStart::noteSession() const
{
    const auto &page = m_window.locksPage();
    std::vector<UsedConnection> open;
    for (const auto &status : m_window.connections().all()) {
        if (status.state != ConnectionStatus::State::Connected
            || m_window.connections().sandbox().contains(status.name))
            continue;
        const auto isHere = [&status](const inspect::LockName &lock) { return lock.connection == status.name; };
        SavedConnection connection;
        connection.name = QString::fromUtf8(status.name.bytes());
        connection.uri = status.uri;
        connection.production = status.production;
        connection.readOnly = status.readOnly;
        connection.development = m_window.connections().isDevelopment(status.name);
        connection.colour = m_window.connections().colourOf(status.name);
        const auto locks = std::ranges::count_if(m_window.locksPage().model().all(), [&](const LockRow *row) {
            return !row->gone && isHere(row->snapshot.lock);
        });
        const auto incidents = std::ranges::count_if(page.incidents(), [&](const inspect::Incident &incident) {
            return std::ranges::any_of(incident.locks, isHere);
        });
        open.push_back(
            {connection,
             {QDateTime::currentDateTimeUtc(), static_cast<int>(locks), static_cast<int>(incidents), true}});
    }
    if (m_store && !m_window.time().isElsewhere())
        m_store->noteSession(std::move(open));
}

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
