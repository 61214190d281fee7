// SPDX-License-Identifier: Apache-2.0
#include "ui/workbench.h"

#include "ui/dialogs/guaranteesdialog.h"
#include "ui/dialogs/settingsdialog.h"
#include "ui/mainwindow.h"
#include "ui/pages/lessonspage.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/rowmenus.h"
#include "ui/pages/simulatorpage.h"
#include "ui/parts/tabletools.h"
#include "ui/shell/actions.h"
#include "ui/shell/palette.h"
#include "ui/shell/topbar.h"
#include "ui/timetravel.h"
#include "ui/windowdialogs.h"

#include <QApplication>
#include <QEvent>
#include <QFileDialog>
#include <QKeyEvent>
#include <QMessageBox>

namespace lockscope::ui {

using inspect::LockName;

Workbench::Workbench(MainWindow &window, TopBar &top, Actions &actions, WindowDialogs &dialogs,
                     const ScreenClock &clock)
    : QObject(&window), m_window(window), m_top(top), m_actions(actions), m_dialogs(dialogs), m_clock(clock),
      m_locks(window.locksPage()), m_palette(new CommandPalette(&window)), m_alerts(m_live)
{
    addActions();
    m_palette->addSource([this](PaletteHits &hits) { offerFilters(hits); });
    fillPalette(*m_palette, window, actions);
    m_palette->addSource([this](PaletteHits &hits) { offerConnections(hits); });
    auto *menu = new QMenu(&top);
    menu->setObjectName(u"actionsMenu"_s);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillMenu(*menu); });
    top.menuButton().setMenu(menu);
    auto *filters = new QMenu(&top);
    filters->setObjectName(u"filtersMenu"_s);
    connect(filters, &QMenu::aboutToShow, this, [this, filters] { fillFilterMenu(*filters); });
    top.filtersButton().setMenu(filters);
    connect(&m_alerts, &AlertWatch::alerted, this, [this](const std::vector<Alert> &alerts) {
        m_tray.tell(alerts);
        if (m_window.isActiveWindow())
            m_tray.seen(); // told all the same: another page may be on screen
    });
    connect(&m_tray, &Tray::activated, this, [this](const LockName &lock) {
        raiseWindow();
        if (m_locks.model().snapshot(lock))
            m_window.selectLock(lock);
    });
    connect(&window.connections(), &ConnectionBook::changed, this, [this] {
        if (!m_waitingLink.isEmpty() && m_window.connections().find(m_waitsFor))
            endWaitOfLink();
    });
    const auto areAny = [this] { return !m_window.connections().all().empty(); };
    connect(&window.connections(), &ConnectionBook::changed, this, [this, areAny, wereAny = areAny()]() mutable {
        if (const bool are = areAny(); std::exchange(wereAny, are) != are)
            refuse();
    });
    window.installEventFilter(this);
    connect(&window.time(), &TimeTravel::moved, this, &Workbench::refuse);
    connect(&m_dialogs, &WindowDialogs::edited, this, &Workbench::refuse);
    connect(&m_locks.detail(), &LockDetail::releaseChanged, this, &Workbench::refuse);
    connect(&m_locks.table(), &LocksTable::chosenRowsChanged, this, &Workbench::refuse);
    // Later, as it also goes while the window is taken apart.
    connect(qApp, &QApplication::focusChanged, this, &Workbench::refuse, Qt::QueuedConnection);
    connect(&window.pages(), &QStackedWidget::currentChanged, this, &Workbench::refuse);
    connect(&m_actions, &Actions::refused, this, [this](const QString &why) {
        if (!m_dialogs.refusesInPast())             // which says it by itself
            emit said(tr("Not done. %1").arg(why)); // that stands for a while, and the reason may go
    });
    refuse();
}

void Workbench::refuse()
{
    // Nothing is done at another moment than now, whoever asks for it.
    const auto there = m_clock.isElsewhere() ? PausableBackend::historyModeReason() : QString();
    m_actions.setRefused({u"break"_s, u"release-session"_s, u"release-listed"_s, u"remove-stale"_s}, there);
    const auto nowhere = m_window.connections().all().empty() ? tr("Connect to a server first") : QString();
    m_actions.setRefused({u"acquire"_s}, there.isEmpty() ? nowhere : there);
    const bool isOnOther = !m_locks.isVisibleTo(&m_window);
    const auto noLock = m_locks.detail().noSelectionReason();
    m_actions.setRefused({u"to-graph"_s, u"save-note"_s}, noLock);
    m_actions.setRefused({u"to-session"_s, u"detach"_s},
                         isOnOther ? tr("Select a lock on the Locks page first") : noLock);
    const auto onOther = isOnOther ? tr("A lock is released on the page of locks") : QString();
    const auto noRelease = m_dialogs.areSeveralChosen() ? there : m_locks.detail().releaseDisabledReason();
    m_actions.setRefused({u"force-release"_s}, onOther.isEmpty() ? noRelease : onOther);
    const auto noWaiter = m_dialogs.mayCancelWait()
                              ? QString()
                              : tr("Choose a waiter in the queue of a lock whose waits can be canceled");
    m_actions.setRefused({u"cancel-wait"_s}, there.isEmpty() ? (isOnOther ? onOther : noWaiter) : there);
    m_actions.setRefused({u"rehearse"_s}, onOther.isEmpty() ? m_locks.detail().releaseDisabledReason() : onOther);
    m_actions.setRefused({u"note"_s}, isOnOther ? tr("Select a lock on the Locks page first") : noLock);
    m_actions.setRefused({u"undo"_s}, there.isEmpty() ? m_dialogs.undoDisabledReason() : there);
}

void Workbench::watch(Backend &backend)
{
    connect(&backend, &Backend::updated, &m_live, &ConnectionBook::apply);
    connect(&backend, &Backend::updated, &m_alerts, &AlertWatch::apply);
}

bool Workbench::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == &m_window && event->type() == QEvent::WindowActivate)
        m_tray.seen();
    if (watched == &m_window && event->type() == QEvent::KeyPress
        && m_actions.refusesKeys(static_cast<QKeyEvent *>(event)->keyCombination()))
        return true;
    return QObject::eventFilter(watched, event);
}

void Workbench::raiseWindow()
{
    m_window.setWindowState(m_window.windowState() & ~Qt::WindowMinimized);
    m_window.show();
    m_window.raise();
    m_window.activateWindow();
}

void Workbench::addActions()
{
    m_actions.add(u"palette"_s, [this] { m_palette->open(); });
    m_actions.add(u"menu"_s, [this] { m_top.menuButton().showMenu(); });
    m_actions.add(u"filters"_s, [this] { m_top.filtersButton().showMenu(); });
    m_actions.add(u"detach"_s, [this] {
        if (const auto lock = m_locks.currentLock())
            detach(*lock);
    });
    m_actions.add(u"export"_s, [this] { exportTable(); });
    m_actions.add(u"columns"_s, [this] {
        if (auto *tools = TableTools::nearest(&m_window))
            tools->openChooser(tools->view().mapToGlobal(QPoint(40, 30)));
    });
    m_actions.add(u"note"_s, [this] {
        const auto *lock = m_locks.isVisibleTo(&m_window) ? m_locks.detail().snapshot() : nullptr;
        if (!lock)
            return emit said(tr("Nothing copied: no lock is chosen on the page of locks"));
        m_locks.detail().copyNote([this, name = label(lock->lock.name, 200)] {
            emit said(tr("Copied: the incident note of %1").arg(name));
        });
    });
    m_actions.add(u"save-filter"_s, [this] { askForFilterName(); });
    m_actions.add(u"save-note"_s, [this] {
        if (m_locks.detail().snapshot())
            m_locks.detail().saveNote();
    });
    m_actions.add(u"undo"_s, [this] { m_dialogs.openUndo(); });
    m_actions.add(u"scenario"_s, [this] {
        m_window.showPage(u"simulator"_s);
        m_window.pages().whenMade<SimulatorPage>([](SimulatorPage &page) { page.openScenario(); });
    });
    m_actions.add(u"alerts"_s, [this] {
        auto *dialog = passing(new AlertsDialog(m_alerts.rule(), &m_window));
        connect(dialog, &QDialog::accepted, this, [this, dialog] { m_alerts.setRule(dialog->rule()); });
        dialog->open();
    });
    m_actions.add(u"about"_s, [this] { passing(new AboutDialog(&m_window))->open(); });
    // From the chosen lock to where else it can be looked at.
    m_actions.add(u"to-session"_s, [this] { showSessionOfChosen(); });
    m_actions.add(u"to-graph"_s, [this] {
        if (const auto lock = m_locks.currentLock())
            m_window.showSubject({Subject::Kind::Lock, lock->connection, lock->name}, u"graph"_s);
    });
}

// Of who is chosen in its queue; else of the holder.
void Workbench::showSessionOfChosen()
{
    const auto *lock = m_locks.isVisibleTo(&m_window) ? m_locks.detail().snapshot() : nullptr;
    if (!lock)
        return;
    const auto *one = lock->find(m_locks.detail().chosen());
    if (!one)
        one = lock->find(m_locks.detail().holder());
    if (one && one->session)
        m_window.showSubject({Subject::Kind::Session, lock->lock.connection, one->session->toUtf8()});
    else
        say(tr("No session to show"), one ? tr("Its server does not say which session or connection that is.")
                                          : tr("No client is seen to hold this lock."));
}

// Empty while the window shows what is now.
std::optional<SystemTime> Workbench::shownMoment() const
{
    return m_clock.isFrozen() || m_clock.isElsewhere() ? std::optional<SystemTime>(m_clock.now()) : std::nullopt;
}

void Workbench::exportTable()
{
    QPointer<TableTools> tools = TableTools::nearest(&m_window);
    if (!tools)
        return;
    const QWidget *page = &tools->view();
    while (page && !qobject_cast<const Page *>(page))
        page = page->parentWidget();
    if (m_clock.isElsewhere() && page && !static_cast<const Page *>(page)->isRecorded()) {
        say(tr("Not exported"), tr("This page is not recorded and shows live data only. Return to live view first."));
        return;
    }
    auto *dialog = passing(named(new QFileDialog(&m_window, tr("Export %1").arg(tools->title())), u"exportDialog"_s));
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({tr("CSV, for spreadsheets (*.csv)"), tr("JSON (*.json)")});
    dialog->setDefaultSuffix(u"csv"_s);
    dialog->selectFile(u"lockscope-"_s + tools->title().toLower().replace(u' ', u'-'));
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString &filter) {
        dialog->setDefaultSuffix(filter.contains(u"json"_s) ? u"json"_s : u"csv"_s);
    });
    connect(dialog, &QFileDialog::fileSelected, this, [this, tools](const QString &file) {
        const QString why = tools ? tools->writeTo(file, shownMoment()) : tr("The table is not there any more");
        if (!why.isEmpty())
            say(tr("Not exported"), harmless(why));
    });
    dialog->open();
}

void Workbench::say(const QString &title, const QString &text)
{
    auto *box = passing(
        named(new QMessageBox(QMessageBox::Warning, title, text, QMessageBox::Close, &m_window), u"workbenchSays"_s));
    box->setTextFormat(Qt::PlainText);
    box->open();
}

void Workbench::openLink(const QString &link)
{
    raiseWindow();
    if (const auto lesson = lessonOfLink(link); !lesson.isEmpty()) {
        openLesson(lesson);
        return;
    }
    const auto lock = readLink(link);
    if (!lock) {
        say(tr("Not opened"), lock.error().message);
        return;
    }
    if (!m_window.connections().find(lock->connection)) {
        say(tr("Not opened"),
            tr("The link is about %1, and no connection called %2 is open here. A link never connects by itself: "
               "connect to it, then open the link again.")
                .arg(label(lock->name, 200), label(lock->connection.bytes(), 60)));
        return;
    }
    m_window.selectLock(*lock);
    m_locks.table().setFocus();
    const auto *status = m_window.connections().find(lock->connection);
    const bool wasLookedAt = status->asOf != std::chrono::system_clock::time_point{};
    const bool hasJustCome = lock->connection == m_waitsFor;             // its locks are still to come
    if (wasLookedAt && !hasJustCome && !m_locks.model().snapshot(*lock)) // or an empty page would be all there is
        say(tr("Not seen"),
            tr("%1 was not found on %2: it no longer exists or cannot be read. It will be selected if it appears.")
                .arg(label(lock->name, 200), label(lock->connection.bytes(), 60)));
}

void Workbench::openLesson(const QByteArray &id)
{
    m_window.showPage(u"lessons"_s);
    m_window.pages().whenMade<LessonsPage>([this, id](LessonsPage &page) {
        if (!page.openLessonById(id))
            say(tr("Not opened"),
                tr("Lesson \"%1\" was not found. The page Lessons lists all of them.").arg(label(id, 60)));
    });
}

void Workbench::openLinkAmong(const QString &link, const std::function<bool(const ConnectionName &)> &isComing)
{
    const auto lock = readLink(link);
    if (!lock || m_window.connections().find(lock->connection) || !isComing(lock->connection)) {
        openLink(link);
        return;
    }
    m_waitingLink = link;
    m_waitsFor = lock->connection;
}

void Workbench::endWaitOfLink()
{
    if (const auto link = std::exchange(m_waitingLink, {}); !link.isEmpty())
        openLink(link);
    m_waitsFor = {};
}

void Workbench::showOn(const QString &page, const LockName &lock)
{
    m_window.selectLock(lock);
    if (!m_window.showSubject({Subject::Kind::Lock, lock.connection, lock.name}, page))
        m_window.showPage(page);
}

DetailWindow *Workbench::detach(const LockName &lock)
{
    const auto open = m_window.findChildren<DetailWindow *>(Qt::FindDirectChildrenOnly);
    for (auto *window : open) {
        if (window->lock() == lock && window->isVisible()) {
            window->raise();
            window->activateWindow();
            return window;
        }
    }
    auto *window = new DetailWindow(lock, m_locks, m_window.connections(), m_clock, &m_window);
    connect(window, &DetailWindow::forceReleaseRequested, this,
            [this](const LockName &name, const QByteArray &who) { act(name, u"force-release"_s, who); });
    connect(window, &DetailWindow::acquireRequested, this,
            [this](const LockName &name) { act(name, u"acquire"_s, {}); });
    window->show();
    return window;
}

// There is one place where things are done: the page of locks, with the lock chosen and all that is said of it in
// sight.
void Workbench::act(const LockName &lock, const QString &action, const QByteArray &contender)
{
    if (!m_locks.model().snapshot(lock) || m_locks.model().isFrozen(lock.connection))
        return;
    m_window.selectLock(lock);
    if (auto *queue = m_locks.detail().findChild<QueueTable *>(u"queueTable"_s); queue && !contender.isEmpty())
        queue->setCurrentContender(contender);
    raiseWindow();
    m_actions.trigger(m_actions.find(action));
}

void Workbench::save(QSettings &settings) const
{
    m_filters.save(settings);
    m_alerts.rule().save(settings);
}

void Workbench::restore(QSettings &settings)
{
    m_filters.restore(settings);
    AlertRule rule;
    rule.restore(settings);
    m_alerts.setRule(rule);
}

DetailWindow::DetailWindow(LockName lock, LocksPage &page, const ConnectionBook &book, const ScreenClock &clock,
                           QWidget *window)
    : QWidget(window, Qt::Window), m_lock(std::move(lock)), m_page(page), m_book(book), m_clock(clock),
      m_holds(page.findChild<HoldsPanel *>()), m_environment(new QLabel(this)),
      m_asOf(makeLabel({}, u"muted"_s, this)), m_detail(new LockDetail(this))
{
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(u"detailWindow"_s);
    setWindowTitle(tr("%1 – Lockscope").arg(label(m_lock.text(), 200)));
    setMinimumSize(480, 320);
    resize(900, 520);
    m_environment->setTextFormat(Qt::PlainText);
    auto *top = makeRow({.margins = {16, 8, 16, 4}}, {m_environment, Stretch{}, m_asOf});
    makeColumn(this, {.spacing = 0}, {top, {m_detail, 1}});

    m_detail->setClock([this] { return m_page.model().nowOf(m_lock.connection); });
    m_page.equip(*m_detail);
    offerRowMenus(*m_detail, m_book, m_page);
    connect(&m_page.model(), &LocksModel::snapshotChanged, this, [this](const LockName &changed) {
        if (changed == m_lock)
            follow();
    });
    connect(&m_book, &ConnectionBook::changed, this, &DetailWindow::showConnection);
    connect(m_holds, &HoldsPanel::changed, this, &DetailWindow::follow);
    connect(&clock, &ScreenClock::ticked, this, [this] {
        if (isVisible() && !isMinimized())
            m_detail->tick();
    });
    connect(m_detail, &LockDetail::acquireRequested, this, [this] { emit acquireRequested(m_lock); });
    connect(m_detail, &LockDetail::momentActivated, &m_page, &LocksPage::momentActivated);
    connect(m_detail, &LockDetail::forceReleaseRequested, this,
            [this] { emit forceReleaseRequested(m_lock, m_detail->chosen()); });
    connect(m_detail, &LockDetail::releaseRequested, this, [this](const QByteArray &contender) {
        const auto own = m_holds->contendersIn(m_lock);
        if (own.contains(contender))
            emit m_holds->releaseRequested(own.value(contender));
    });
    follow();
    showConnection();
    m_detail->focusQueue();
}

void DetailWindow::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape || (event->key() == Qt::Key_W && event->modifiers() == Qt::ControlModifier))
        close();
    else if (event->key() == Qt::Key_C && event->modifiers() == (Qt::ControlModifier | Qt::ShiftModifier))
        m_detail->copyNote();
    else
        QWidget::keyPressEvent(event);
}

void DetailWindow::follow()
{
    if (const auto *snapshot = m_page.model().snapshot(m_lock)) {
        m_detail->setSnapshot(*snapshot);
        const auto own = m_holds->contendersIn(m_lock).keys();
        m_detail->setOwn(QSet<QByteArray>(own.begin(), own.end()));
    } else if (m_clock.isElsewhere()) {
        m_detail->showAbsent(m_lock);
    } else {
        m_detail->setGone();
    }
    showConnection();
}

// What is known of a connection that broke, or was closed, may be over.
void DetailWindow::showConnection()
{
    const auto *status = m_book.find(m_lock.connection);
    m_detail->setStale(!status || m_page.model().isFrozen(m_lock.connection));
    m_detail->setPast(m_clock.isElsewhere());
    if (!status) {
        m_environment->setText(label(m_lock.connection.bytes(), 60));
        m_asOf->setText(tr("disconnected"));
        return;
    }
    showEnvironment(*m_environment, m_book, m_lock.connection);
    m_asOf->setText(status->asOf == WallTime{} ? QString()
                                               : tr("as of %1").arg(timeOfDay(status->asOf).toString(u"HH:mm:ss"_s)));
}

} // namespace lockscope::ui

#include "moc_workbench.cpp"
