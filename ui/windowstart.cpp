// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/workspace/values.h"
#include "ui/mainwindow.h"
#include "ui/models/lockrow.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/startpage.h"
#include "ui/timetravel.h"
#include "ui/windowdialogs.h"

#include <QDropEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QUrl>

#include <algorithm>

namespace lockscope::ui {

WindowStart::WindowStart(Backend &backend, MainWindow &window, std::function<void(const QString &)> said)
    : QObject(&window), m_window(window), m_said(std::move(said))
{
    window.setAcceptDrops(true);
    window.installEventFilter(this);
    auto *page = &window.locksPage().start();
    auto *dialogs = &window.dialogs();
    dialogs->carryOut(page->checklist());
    connect(page, &StartPage::openRequested, this, [this, &backend](const ConnectionSpec &spec) {
        if (m_window.time().isElsewhere())
            return; // over a moment that is past nothing is connected
        // Anew, as the password, read-only and production may be others than those of the connection that failed.
        if (m_window.connections().find(spec.name))
            emit disconnectRequested(spec.name);
        emit aboutToConnect(spec);
        backend.execute(Connect{spec});
    });
    connect(page, &StartPage::cancelRequested, this, &WindowStart::disconnectRequested);
    connect(page, &StartPage::editRequested, dialogs,
            [dialogs](const ConnectionName &name) { dialogs->openEdit(name); });
    connect(page, &StartPage::optionsRequested, dialogs,
            [dialogs](const SavedConnection &fields) { dialogs->openEdit({}, fields); });
    connect(page, &StartPage::lessonsRequested, &window, [&window] { window.showPage(u"lessons"_s); });
    connect(page, &StartPage::dropped, this, &WindowStart::openFile);
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
    const auto name = label(QFileInfo(file).fileName().toUtf8(), 60);
    if (!file.endsWith(".toml"_L1) || !m_store)
        return m_window.time().openFiles({file}, name);
    const auto imported = m_store->importFrom(file);
    m_said(imported ? MainWindow::tr("Connections of %1: %2").arg(name, *imported)
                    : label(imported.error().message.toUtf8(), 300));
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

} // namespace lockscope::ui
