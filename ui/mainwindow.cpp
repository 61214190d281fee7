// SPDX-License-Identifier: Apache-2.0
#include "ui/mainwindow.h"

#include "ui/dialogs/connectform.h"
#include "ui/pages/findingspage.h"
#include "ui/pages/lessonspage.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/rowmenus.h"
#include "ui/pages/simulatorpage.h"
#include "ui/shell/bars.h"
#include "ui/shell/connectionchooser.h"
#include "ui/shell/helpoverlay.h"
#include "ui/shell/sidebar.h"
#include "ui/shell/topbar.h"
#include "ui/shell/actions.h"
#include "ui/timetravel.h"
#include "ui/windowdialogs.h"
#include "ui/workbench.h"

#include <QApplication>
#include <QCloseEvent>
#include <QKeyEvent>
#include <QMessageBox>
#include <QVBoxLayout>

namespace lockscope::ui {

namespace {

constexpr int leastForFoot = 480;

} // namespace

MainWindow::MainWindow(Backend &backend, QWidget *parent)
    : QMainWindow(parent), m_backend(backend), m_screen(new PausableBackend(backend, this)),
      m_clock(std::make_shared<ScreenClock>()), m_top(new TopBar(m_book, this)), m_side(new SideBar(this)),
      m_foot(new FootBar(this)), m_status(new StatusBar(m_book, this)), m_timeBar(new TimeBar(this)),
      m_pages(new PageStack([this](std::size_t row) { return makePage(row); }, this)),
      m_dialogs(new WindowDialogs(backend, m_book, *m_clock, *this)),
      m_presentation(
          new Presentation(*this, {m_top, m_side, m_foot, m_status}, [this] { return currentPage()->keys(); })),
      m_actions(new Actions(*this)), m_time(new TimeTravel(backend, *m_screen, *m_clock, *m_timeBar, *this))
{
    setWindowTitle(u"Lockscope"_s);
    setMinimumSize(640, 360); // of a projector whose scale is 200 %
    resize(1440, 900);
    auto *centre = new QWidget(this);
    auto *middle = makeRow({.spacing = 0}, {m_side, {m_pages, 1}});
    makeColumn(centre, {.spacing = 0}, {m_top, m_timeBar, {middle, 1}, m_presentation->keyBar(), m_foot, m_status});
    centre->setAttribute(Qt::WA_StyledBackground);
    m_pages->setAutoFillBackground(true); // the frame's colour is for its edges
    setCentralWidget(centre);

    // The clock, then the book hear of each batch before any page does.
    connect(m_screen, &Backend::updated, m_clock.get(), &ScreenClock::catchUp);
    connect(m_screen, &Backend::updated, &m_book, &ConnectionBook::apply);
    connect(m_screen, &PausableBackend::aboutToTell, m_pages, &PageStack::all); // none misses a word
    connect(m_pages, &QStackedWidget::currentChanged, m_presentation, &Presentation::followPage);
    addPageActions();
    m_pages->at(0); // that of locks, in which the others look up theirs
    connectParts();
    addActions();
    m_workbench = new Workbench(*this, *m_top, *m_actions, *m_dialogs, *m_clock);
    m_workbench->watch(m_backend);
    new WindowKeys(*this, *m_actions, *m_foot);
    connect(m_workbench, &Workbench::said, m_status, &StatusBar::notify);
    m_focus = new FirstFocus(*this, *m_top, *m_side);
    showPageAt(0);
}

MainWindow::~MainWindow() = default;

void MainWindow::connectParts()
{
    m_dialogs->useLocks(*m_locks);
    m_screen->useLocks(m_locks->model());
    connect(m_time, &TimeTravel::moved, this, &MainWindow::showMoment);
    connect(m_timeBar, &TimeBar::resumeRequested, this, [this] { setPaused(false); });
    connect(m_screen, &PausableBackend::waitingChanged, this, [this] {
        if (m_paused)
            showPause();
    });
    m_timeBar->useStrip(m_locks->detail().strip());
    connect(m_locks, &LocksPage::momentActivated, m_time, &TimeTravel::goTo);
    connect(m_time, &TimeTravel::said, m_status, &StatusBar::notify);
    connect(m_clock.get(), &ScreenClock::wallSet, m_status, &StatusBar::showClockChange);
    connect(m_dialogs, &WindowDialogs::refused, m_screen, &PausableBackend::refused);
    connect(m_screen, &PausableBackend::connectionLeft, this, &MainWindow::drop);
    connect(m_dialogs, &WindowDialogs::connectRequested, this, &MainWindow::connectRequested);
    connect(m_dialogs, &WindowDialogs::acquiring, this, &MainWindow::selectLock);
    connect(m_dialogs, &WindowDialogs::aboutToConnect, this,
            [this](const ConnectionSpec &spec, const ConnectionName &replaces) {
                if (m_book.find(replaces))
                    forget(replaces);
                emit aboutToConnect(spec);
            });
    m_pages->whenMade<SimulatorPage>([this](SimulatorPage &page) {
        connect(&page, &SimulatorPage::sandboxRequested, this, &MainWindow::sandboxRequested);
        connect(&page, &SimulatorPage::pageRequested, this, &MainWindow::showPage);
    });
    m_pages->whenMade<LessonsPage>([this](LessonsPage &page) {
        connect(&page, &LessonsPage::tryRequested, this, [this](const Comparison &comparison) {
            m_pages->all();
            m_pages->whenMade<SimulatorPage>([&](SimulatorPage &simulator) { simulator.tryOut(comparison); });
            showPage(u"simulator"_s);
        });
    });
    m_help = new HelpOverlay(
        pageTitles(), [this] { return keysOfPages(m_pages->all()); }, this);
    connect(m_help, &HelpOverlay::guaranteesRequested, m_dialogs, &WindowDialogs::openGuarantees);
    connect(m_help, &HelpOverlay::findingsRequested, m_dialogs, &WindowDialogs::openFindingsHelp);
    connect(m_top, &TopBar::findChanged, this, [this](const QString &text) { currentPage()->setFilter(text); });
    connect(m_top, &TopBar::findDone, this, [this] { currentPage()->focusContent(); });
    connect(m_top, &TopBar::pauseToggled, this, [this] { setPaused(!m_paused); });
    connect(m_top, &TopBar::timeRequested, m_time, &TimeTravel::toggle);
    connect(m_top, &TopBar::helpRequested, this, [this] { m_help->open(); });
    connect(m_side, &SideBar::pageChosen, this, &MainWindow::showPageAt);
    connect(m_side, &SideBar::settingsRequested, m_dialogs, &WindowDialogs::openSettings);
    connect(m_side, &SideBar::sandboxRequested, this, [this] {
        showPage(u"locks"_s);
        emit demoRequested();
    });
    m_start = new WindowStart(m_backend, *this, [this](const QString &text) { m_status->notify(text); });
    connectList();
    connect(m_start, &WindowStart::aboutToConnect, this, &MainWindow::aboutToConnect);
    connect(m_start, &WindowStart::disconnectRequested, this, &MainWindow::forget);
    const auto reconnect = [this](const ConnectionName &name) { m_screen->execute(Reconnect{name}); };
    connect(m_locks, &LocksPage::retryRequested, this, reconnect);
    connect(m_locks, &LocksPage::editRequested, m_dialogs,
            [this](const ConnectionName &name) { m_dialogs->openEdit(name); });
    connect(m_locks, &LocksPage::demoRequested, this, &MainWindow::demoRequested);
    connect(m_locks, &LocksPage::filterCleared, this, [this] {
        m_top->setFindText({});
        m_locks->setFilter({}); // the find field tells a moment later
        m_locks->showAll();
        if (!m_connection.isEmpty())
            setConnection({});
    });
    connect(m_locks, &LocksPage::currentLockChanged, this, &MainWindow::showContext);
    connect(m_locks, &LocksPage::forceReleaseRequested, m_dialogs, &WindowDialogs::openForceRelease);
    connect(m_locks, &LocksPage::askRequested, m_dialogs, &WindowDialogs::openAsk);
    connect(m_locks, &LocksPage::acquireRequested, m_dialogs, &WindowDialogs::openAcquire);
    connect(m_locks, &LocksPage::findingsRequested, this, [this] { showPage(u"findings"_s); });
    connect(&m_book, &ConnectionBook::changed, this, &MainWindow::checkFirstSnapshot);
    connect(&m_book, &ConnectionBook::changed, this, &MainWindow::showTitle);
    connect(m_locks, &LocksPage::incidentsChanged, this, &MainWindow::showTitle);
}

Page *MainWindow::makePage(std::size_t row)
{
    auto *page = allPages()[row].make(m_book, m_pages);
    if (!m_locks)
        m_locks = qobject_cast<LocksPage *>(page); // the first that is made
    const int number = static_cast<int>(row);
    connect(page, &Page::countChanged, this, [this, number, page](const QString &count) {
        m_side->setPageCount(number, count);
        if (auto *findings = qobject_cast<FindingsPage *>(page))
            m_side->setBadge(number, count, findings->model().all().critical > 0);
    });
    connect(page, &Page::settled, this, &MainWindow::checkFirstSnapshot);
    connect(page, &Page::lockActivated, this, &MainWindow::selectLock);
    connect(page, &Page::subjectActivated, this, &MainWindow::showSubject);
    connect(page, &Page::actionRequested, this,
            [this](const QString &action) { m_actions->trigger(m_actions->find(action)); });
    connect(page, &Page::releaseRequested, m_dialogs, &WindowDialogs::openForceReleaseOf);
    connect(page, &Page::detachRequested, this, [this](const inspect::LockName &lock) { m_workbench->detach(lock); });
    connect(page, &Page::filterRequested, this, [this](const QString &text) {
        m_top->setFindText(text);
        currentPage()->setFilter(text); // the find field tells a moment later
    });
    connect(page, &Page::editRequested, m_dialogs, &WindowDialogs::openEditOf);
    connect(page, &Page::undoRequested, m_dialogs, &WindowDialogs::openUndoOf);
    connect(page, &Page::connectionTurned, this, [this, page] {
        if (page == currentPage())
            showContext();
    });
    connect(m_dialogs, &WindowDialogs::edited, page, &Page::edited);
    page->useClock(m_clock);
    page->setBackend(m_screen);
    page->useLocks(m_locks->model());
    offerRowMenusOf(*page, *m_locks, m_book);
    return page;
}

// What leads to each page, made or not.
void MainWindow::addPageActions()
{
    for (int number = 0; number < static_cast<int>(allPages().size()); ++number) {
        const auto &row = allPages()[static_cast<std::size_t>(number)];
        m_side->addPage(row.title, row.id, number);
        m_actions->add(row.id, row.title, {QKeySequence(keysOfPage(number))}, [this, number] {
            showPageAt(number);
            currentPage()->focusContent();
        });
    }
}

void MainWindow::addActions()
{
    m_actions->add(u"find"_s, [this] { m_top->focusFind(); });
    m_actions->add(u"refresh"_s, [this] { currentPage()->refresh(); });
    m_actions->add(u"help"_s, [this] {
        if (!m_presentation->toggleKeys())
            m_help->open();
    });
    m_actions->add(u"force-release"_s, [this] { m_dialogs->openReleaseOfChosen(); });
    using Bulk = WindowDialogs::Bulk;
    m_actions->add(u"release-session"_s, [this] { m_dialogs->openBulk(Bulk::Session); });
    m_actions->add(u"release-listed"_s, [this] { m_dialogs->openBulk(Bulk::Listed); });
    m_actions->add(u"remove-stale"_s, [this] { m_dialogs->openBulk(Bulk::Stale); });
    m_actions->add(u"break"_s, [this] {
        if (!m_dialogs->openBreak())
            m_status->notify(tr("No deadlock is known on the connections of this window."));
    });
    m_actions->add(u"cancel-wait"_s, [this] { m_dialogs->openCancelWait(); });
    m_actions->add(u"rehearse"_s, [this] { m_dialogs->openRehearsal(); });
    m_actions->add(u"acquire"_s, [this] { m_dialogs->openAcquire(); });
    m_time->addActions(*m_actions);
    m_presentation->addAction(*m_actions);
    addWindowActions();
    m_actions->add(u"settings"_s, [this] { m_dialogs->openSettings(); });
    m_actions->add(u"connect"_s, [this] { m_dialogs->openConnect(); });
    m_actions->add(u"guarantees"_s, [this] { m_dialogs->openGuarantees(); });
    m_actions->add(u"findings-help"_s, [this] { m_dialogs->openFindingsHelp(); });
}

void MainWindow::showPageAt(int at)
{
    if (at < 0 || at >= static_cast<int>(allPages().size()))
        return;
    m_pages->showRow(static_cast<std::size_t>(at));
    m_side->setCurrentPage(at);
    fitFoot();
    currentPage()->setFilter(m_top->findText());
    showContext();
}

bool MainWindow::showPage(const QString &name)
{
    const auto at = pageIds().indexOf(name);
    showPageAt(static_cast<int>(at));
    return at >= 0;
}

void MainWindow::selectLock(const inspect::LockName &lock)
{
    showPage(u"locks"_s);
    m_locks->selectLock(lock);
}

bool MainWindow::showSubject(const Subject &subject, const QString &page)
{
    for (std::size_t i = 0; i < allPages().size(); ++i) {
        const auto &row = allPages()[i];
        if ((page.isEmpty() ? row.isAskedByName : row.id != page) || !m_pages->at(i).showSubject(subject))
            continue;
        if (subject.kind != Subject::Kind::Lock)
            m_top->setFindText({}); // what is searched elsewhere would hide it
        showPageAt(static_cast<int>(i));
        m_pages->at(i).focusContent();
        return true;
    }
    if (subject.kind != Subject::Kind::Session || !page.isEmpty())
        return false;
    m_top->setFindText(QString::fromUtf8(subject.name)); // no page shows one alone: the list does, narrowed to it
    showPage(u"sessions"_s);
    currentPage()->focusContent();
    return true;
}

void MainWindow::setSandbox(const QString &state, bool isComplete)
{
    m_side->setSandbox(state);
    if (isComplete && m_book.all().empty())
        m_locks->showFilled(); // no server came up
    m_pages->whenMade<SimulatorPage>(
        [state, isComplete](SimulatorPage &page) { page.sandboxChanged(state, isComplete); });
}

void MainWindow::setPaused(bool paused)
{
    if (m_dialogs->refusesInPast())
        return;
    m_paused = paused;
    m_clock->setFrozen(paused);
    const auto at = paused ? std::optional(m_clock->now()) : std::nullopt;
    for (auto *page : m_pages->all())
        page->freeze(at);
    m_top->setPaused(paused);
    m_screen->setPaused(paused);
    showPause();
    showFrame();
}

// What came since is counted in the bar of time, and below.
void MainWindow::showPause()
{
    const auto at =
        m_paused ? std::optional(std::chrono::floor<std::chrono::milliseconds>(m_clock->pausedAt())) : std::nullopt;
    m_status->setPaused(at, m_screen->waiting());
    m_timeBar->showPaused(at, m_status->heldBack());
}

// Whatever is not of the present has a frame.
void MainWindow::showFrame()
{
    auto *centre = centralWidget();
    const bool isFramed = m_paused || m_time->isElsewhere();
    const int frame = isFramed ? 4 : 0;
    centre->layout()->setContentsMargins(frame, 0, frame, frame);
    setStyleProperty(centre, "look", isFramed ? u"not-now"_s : QString());
}

// Another moment than now is on screen; empty: now again.
void MainWindow::showMoment(std::optional<std::chrono::system_clock::time_point> at)
{
    const auto frozen = at || !m_paused ? at : std::optional(m_clock->now());
    for (auto *page : m_pages->all())
        page->freeze(frozen);
    m_pages->cover(at.has_value());
    m_locks->model().settle(); // rows of another moment are nobody's aim
    m_status->setPast(at);
    showTitle();
    showFrame();
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    const auto own = m_locks->ownLocks();
    if (m_mayClose || own == 0) {
        QMainWindow::closeEvent(event);
        return;
    }
    event->ignore();
    if (findChild<QMessageBox *>(u"closeQuestion"_s))
        return;
    auto *question =
        passing(named(new QMessageBox(QMessageBox::Warning, tr("Close Lockscope"),
                                      own == 1 ? tr("This window holds a lock, or waits for one.")
                                               : tr("This window holds %1 locks, or waits for them.").arg(own),
                                      QMessageBox::Cancel, this),
                      u"closeQuestion"_s));
    question->setInformativeText(tr(
        "Closing this window releases the locks it holds and cancels its waits. If a server does not respond in time, a lock with a TTL remains until it expires. Release the locks first to be sure."));
    auto *close = question->addButton(tr("Give up and close"), QMessageBox::AcceptRole);
    question->setDefaultButton(QMessageBox::Cancel);
    connect(close, &QAbstractButton::clicked, this, [this] {
        m_mayClose = true;
        this->close();
    });
    question->open();
}

void MainWindow::useMutes(MuteStore &mutes)
{
    m_pages->whenMade<FindingsPage>([&mutes](FindingsPage &page) { page.useMutes(mutes); });
    m_dialogs->useMutes(mutes);
    m_workbench->alerts().setMutes(&mutes);
}

bool MainWindow::isFirstSnapshotComplete() const
{
    if (!showsConnections() || !currentPage()->isSettled())
        return currentPage()->isSettled();
    using State = ConnectionStatus::State;
    const auto &all = m_book.all();
    return !all.empty() && std::all_of(all.begin(), all.end(), [](const ConnectionStatus &status) {
        return status.progress.firstSnapshotComplete || status.state == State::AuthFailed;
    });
}

void MainWindow::checkFirstSnapshot()
{
    if (m_firstSnapshotTold || !isFirstSnapshotComplete())
        return;
    m_firstSnapshotTold = true;
    emit firstSnapshotComplete();
}

void MainWindow::keyPressEvent(QKeyEvent *event)
{
    // Only where nothing with the focus has a use for it (a button, a text).
    if (event->key() == Qt::Key_Space && event->modifiers() == Qt::NoModifier) {
        setPaused(!m_paused);
        return;
    }
    if (event->key() == Qt::Key_Escape && (m_time->isElsewhere() || m_paused)) {
        if (m_time->isElsewhere())
            m_time->backToNow();
        else
            setPaused(false);
        return;
    }
    QMainWindow::keyPressEvent(event);
}

void MainWindow::showEvent(QShowEvent *event)
{
    QMainWindow::showEvent(event);
    if (std::exchange(m_wasShown, true))
        return;
    m_pages->makeAfterFirstFrame(*windowHandle());
    m_focus->give();
}

// A small window has room for the page only, and a lesson says itself what its keys do.
void MainWindow::fitFoot()
{
    const bool hasRoom = height() >= leastForFoot && allPages()[m_pages->current()].id != u"lessons"_s;
    m_foot->setMaximumHeight(hasRoom ? QWIDGETSIZE_MAX : 0);
}

void MainWindow::resizeEvent(QResizeEvent *event)
{
    QMainWindow::resizeEvent(event);
    m_side->setNarrow(width() < 1200);
    fitFoot();
}

void MainWindow::fitInto(const QRect &available)
{
    constexpr QSize frame(16, 44); // what a window manager puts around it
    resize(size().boundedTo(available.size() - frame).expandedTo(minimumSize()));
}

void MainWindow::saveView(QSettings &settings) const
{
    settings.setValue(u"window/geometry"_s, saveGeometry());
    m_workbench->save(settings);
    settings.setValue(u"window/page"_s, allPages()[m_pages->current()].id);
    m_pages->saveView(settings);
    m_start->noteSession();
}

void MainWindow::restoreView(QSettings &settings)
{
    restoreGeometry(settings.value(u"window/geometry"_s).toByteArray());
    m_pages->restoreView(settings);
    m_workbench->restore(settings);
    showPage(settings.value(u"window/page"_s).toString());
}

} // namespace lockscope::ui

#include "moc_mainwindow.cpp"
