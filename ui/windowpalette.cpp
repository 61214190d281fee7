// SPDX-License-Identifier: Apache-2.0
#include "ui/workbench.h"

#include "core/base/text.h"
#include "ui/mainwindow.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/pages.h"
#include "ui/pages/sessionspage.h"
#include "ui/shell/actions.h"
#include "ui/shell/palette.h"

#include <QAction>

namespace lockscope::ui {

namespace {

void offerActions(PaletteHits &hits, Actions &actions)
{
    static const QStringList pages = pageIds();
    for (auto *action : actions.all()) {
        if (action->objectName() == u"palette"_s)
            continue;
        const QString words = action->text().remove(u'…');
        hits.offer(words.toUtf8(), {}, [action, &actions] {
            const bool isPage = pages.contains(action->objectName());
            const auto keys = QKeySequence::listToString(action->shortcuts(), QKeySequence::NativeText);
            const auto whyNot = actions.whyNot(action);
            return PaletteItem{isPage ? MainWindow::tr("Page") : MainWindow::tr("Do"), action->text(),
                               whyNot.isEmpty() ? keys : whyNot, [action, &actions] { actions.trigger(action); },
                               !whyNot.isEmpty()};
        });
    }
}

void offerLocks(PaletteHits &hits, MainWindow &window)
{
    if (hits.isEmptyQuery())
        return; // they have a page
    for (const auto *row : window.locksPage().model().all()) {
        const auto &lock = row->snapshot.lock;
        hits.offer(lock.name, lock.connection.bytes(), [&window, lock] {
            return PaletteItem{MainWindow::tr("Lock"), label(lock.name, 200), label(lock.connection.bytes(), 40),
                               [&window, lock] {
                                   window.selectLock(lock);
                                   window.locksPage().focusContent();
                               }};
        });
    }
}

void offerSessions(PaletteHits &hits, MainWindow &window, const SessionsModel &sessions)
{
    if (hits.isEmptyQuery())
        return;
    for (int row = 0; row < sessions.rowCount(); ++row) {
        const auto &session = sessions.at(row);
        // What a client calls itself is what an alert or its log names.
        const auto client = sessions.index(row, SessionsModel::Client).data().toString();
        const QString who = session.endpoint.value_or(QString()) + u' ' + client;
        hits.offer(session.session.toUtf8(), who.toUtf8(), [&window, &session, who] {
            const Subject subject{Subject::Kind::Session, session.connection, session.session.toUtf8()};
            return PaletteItem{
                MainWindow::tr("Session"), label((session.session + u"  "_s + who.trimmed()).toUtf8(), 200),
                label(session.connection.bytes(), 40), [&window, subject] { window.showSubject(subject); }};
        });
    }
}

} // namespace

void fillPalette(CommandPalette &palette, MainWindow &window, Actions &actions)
{
    palette.addSource([&actions](PaletteHits &hits) { offerActions(hits, actions); });
    palette.addSource([&window](PaletteHits &hits) { offerLocks(hits, window); });
    palette.addSource([&window](PaletteHits &hits) {
        if (const auto *sessions = window.findChild<SessionsPage *>()) // it is made before any session is known
            offerSessions(hits, window, sessions->model());
    });
}

} // namespace lockscope::ui
