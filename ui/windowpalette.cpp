// SPDX-License-Identifier: Apache-2.0
// What the palette offers: pages, actions, locks by name, state or holder, findings, sessions, lessons, settings. And
// the menus of the header: of all actions, by what they are about, and of the filters that are kept.
#include "ui/workbench.h"

#include "ui/mainwindow.h"
#include "ui/pages/findingspage.h"
#include "ui/pages/lessonspage.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/sessionspage.h"
#include "ui/shell/actions.h"
#include "ui/shell/palette.h"
#include "ui/shell/topbar.h"
#include "ui/windowdialogs.h"

#include <QInputDialog>

namespace lockscope::ui {

namespace {

void offerActions(PaletteHits &hits, Actions &actions)
{
    static const QStringList pages = pageIds();
    for (auto *action : actions.all()) {
        if (action->objectName() == u"palette"_s)
            continue;
        const QString words = action->text().remove(u'…');
        hits.offer(words.toUtf8(), actionWords(action->objectName()).words.toUtf8(), [action, &actions] {
            const bool isPage = pages.contains(action->objectName());
            const auto keys = QKeySequence::listToString(action->shortcuts(), QKeySequence::NativeText);
            const auto whyNot = actions.whyNot(action);
            const bool isWrite = actionWords(action->objectName()).isWrite; // none is chosen by itself
            return PaletteItem{isPage ? MainWindow::tr("Page") : MainWindow::tr("Do"),
                               action->text(),
                               whyNot.isEmpty() ? keys : whyNot,
                               [action, &actions] { actions.trigger(action); },
                               !whyNot.isEmpty(),
                               whyNot.isEmpty() && isWrite};
        });
    }
}

// Found by its name, its connection, its state, its holder and what is wrong with it.
void offerLocks(PaletteHits &hits, MainWindow &window)
{
    if (hits.isEmptyQuery())
        return; // they have a page
    QByteArray beside;
    for (const auto *row : window.locksPage().model().all()) {
        const auto &lock = row->snapshot.lock;
        beside = lock.connection.bytes() + ' ' + row->facts.pill().word.toUtf8() + ' ' + row->facts.holder.toUtf8()
                 + ' ' + row->facts.finding.toUtf8();
        hits.offer(lock.name, beside, [&window, lock, row] {
            QStringList note{row->facts.pill().word, label(row->facts.holder.toUtf8(), 60),
                             label(lock.connection.bytes(), 40)};
            note.removeAll(QString());
            return PaletteItem{MainWindow::tr("Lock"), label(lock.name, 200), note.join(u" · "_s), [&window, lock] {
                                   window.selectLock(lock);
                                   window.locksPage().focusContent();
                               }};
        });
    }
}

void offerFindings(PaletteHits &hits, MainWindow &window)
{
    auto *page = window.findChild<FindingsPage *>();
    if (hits.isEmptyQuery() || !page)
        return;
    const auto &model = page->model();
    for (int at = 0; at < model.rowCount(); ++at) {
        const auto &row = model.at(at);
        const auto title = inspect::kindOf(row.finding.code).title.toString();
        hits.offer(title.toUtf8(), row.lock.name, [&window, &row, title] {
            return PaletteItem{MainWindow::tr("Finding"), title + u": "_s + label(row.lock.name, 200),
                               label(row.lock.connection.bytes(), 40), [&window, lock = row.lock] {
                                   window.selectLock(lock);
                                   window.locksPage().focusContent();
                               }};
        });
    }
}

void offerSessions(PaletteHits &hits, MainWindow &window)
{
    auto *page = window.findChild<SessionsPage *>(); // it is made before any session is known
    if (hits.isEmptyQuery() || !page)
        return;
    const auto &sessions = page->model();
    for (int row = 0; row < sessions.rowCount(); ++row) {
        const auto &session = sessions.at(row);
        // What a client calls itself is what an alert or its log names.
        const auto client = sessions.index(row, SessionsModel::Client).data().toString();
        const QString who = session.endpoint.value_or(QString()) + u' ' + client;
        const auto text = (session.session + u"  "_s + who.trimmed()).toUtf8();
        hits.offer(text, {}, [&window, &session, text] {
            const Subject subject{Subject::Kind::Session, session.connection, session.session.toUtf8()};
            return PaletteItem{MainWindow::tr("Session"), label(text, 200), label(session.connection.bytes(), 40),
                               [&window, subject] { window.showSubject(subject); }};
        });
    }
}

void offerLessons(PaletteHits &hits, MainWindow &window)
{
    const auto *page = window.findChild<LessonsPage *>();
    if (hits.isEmptyQuery() || !page)
        return;
    for (const auto &lesson : page->lessons().lessons) {
        hits.offer(lesson.title.in(displayLanguage()).toUtf8(), lesson.title.english.toUtf8() + ' ' + lesson.id,
                   [&window, &lesson] {
                       return PaletteItem{MainWindow::tr("Lesson"), lesson.title.in(displayLanguage()),
                                          QString::fromUtf8(lesson.id),
                                          [&window, id = lesson.id] { window.workbench().openLesson(id); }};
                   });
    }
}

void offerSettings(PaletteHits &hits, MainWindow &window)
{
    if (hits.isEmptyQuery())
        return;
    const std::pair<QString, int> settings[] = {
        {MainWindow::tr("Language of lessons and simulator"), 0},
        {MainWindow::tr("Recorder: minutes and size"), 0},
        {MainWindow::tr("Confirmation in development"), 0},
        {MainWindow::tr("Thresholds: long held, long wait"), 1},
        {MainWindow::tr("Muted findings"), 2},
        {MainWindow::tr("Names of clients"), 3},
    };
    for (const auto &[text, tab] : settings)
        hits.offer(text.toUtf8(), "settings", [&window, text, tab] {
            return PaletteItem{
                MainWindow::tr("Setting"), text, {}, [&window, tab] { window.dialogs().openSettingsAt(tab); }};
        });
}

QString menuText(QString text)
{
    return text.replace(u'&', u"&&"_s);
}

} // namespace

void fillPalette(CommandPalette &palette, MainWindow &window, Actions &actions)
{
    palette.addSource([&actions](PaletteHits &hits) { offerActions(hits, actions); });
    palette.addSource([&window](PaletteHits &hits) { offerFindings(hits, window); });
    palette.addSource([&window](PaletteHits &hits) { offerLocks(hits, window); });
    palette.addSource([&window](PaletteHits &hits) { offerSessions(hits, window); });
    palette.addSource([&window](PaletteHits &hits) { offerLessons(hits, window); });
    palette.addSource([&window](PaletteHits &hits) { offerSettings(hits, window); });
}

void Workbench::offerFilters(PaletteHits &hits)
{
    for (const auto &filter : m_filters.all())
        hits.offer(filter.name.toUtf8(), "filter", [this, filter] {
            return PaletteItem{tr("Filter"), filter.name, filter.text, [this, filter] { apply(filter); }};
        });
}

void Workbench::offerConnections(PaletteHits &hits)
{
    if (!m_store)
        return;
    for (const auto &group : m_store->groups()) {
        for (const auto &saved : group.connections) {
            if (m_window.connections().find(ConnectionName(saved.name.toUtf8())))
                continue;
            hits.offer(saved.name.toUtf8(), "connect", [this, saved] {
                return PaletteItem{tr("Connect"), saved.name, withoutPasswordCommand(saved.uri),
                                   [this, saved] { m_dialogs.openEdit({}, saved); }};
            });
        }
    }
}

void Workbench::fillMenu(QMenu &menu) const
{
    const auto old = menu.findChildren<QMenu *>();
    menu.clear();
    qDeleteAll(old);
    // By what they are about: all in one list are higher than a small screen.
    std::map<QString, QMenu *> parts{{QString(), &menu}};
    const auto partOf = [&](const QString &title) -> QMenu & {
        auto *&part = parts[title];
        if (!part) {
            part = menu.addMenu(title);
            part->setToolTipsVisible(true); // why one is greyed
        }
        return *part;
    };
    for (const auto &id : pageIds())
        partOf(tr("Go to")).addAction(m_actions.find(id));
    for (const auto &words : allActionWords()) {
        if (words.id == u"settings"_s || words.id == u"quit"_s)
            menu.addSeparator();
        if (words.id != u"menu"_s)
            partOf(words.menu).addAction(m_actions.find(words.id));
    }
}

void Workbench::fillFilterMenu(QMenu &menu)
{
    const auto old = menu.findChildren<QMenu *>();
    menu.clear();
    qDeleteAll(old);
    for (const auto &filter : m_filters.all())
        connect(menu.addAction(menuText(filter.name)), &QAction::triggered, this, [this, filter] { apply(filter); });
    if (m_filters.all().empty())
        menu.addAction(tr("No filter is kept yet"))->setEnabled(false);
    menu.addSeparator();
    menu.addAction(m_actions.find(u"save-filter"_s));
    if (m_filters.all().empty())
        return;
    auto *forget = menu.addMenu(tr("Forget"));
    for (const auto &filter : m_filters.all())
        connect(forget->addAction(menuText(filter.name)), &QAction::triggered, this,
                [this, name = filter.name] { m_filters.forget(name); });
}

void Workbench::askForFilterName()
{
    auto *question = passing(named(new QInputDialog(&m_window), u"filterName"_s));
    question->setWindowTitle(tr("Keep this filter"));
    const QString text = m_top.findText();
    question->setLabelText(tr("The find field and the chosen chip of the page of locks, under the name"));
    question->setTextValue(text);
    connect(question, &QInputDialog::textValueSelected, this, [this, text](const QString &name) {
        m_filters.keep({name, text, static_cast<int>(m_locks.model().chip())});
    });
    question->open();
}

void Workbench::apply(const SavedFilter &filter)
{
    m_window.showPage(u"locks"_s);
    m_top.setFindText(filter.text);
    m_locks.setChip(static_cast<LocksModel::Chip>(filter.chip));
    m_locks.setFilter(filter.text); // the find field tells a moment later
    m_locks.focusContent();
}

} // namespace lockscope::ui
