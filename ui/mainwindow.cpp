// SPDX-License-Identifier: Apache-2.0
#include "ui/mainwindow.h"

#include "core/base/text.h"
#include "core/workspace/values.h"
#include "ui/dialogs/acquiredialog.h"
#include "ui/dialogs/connectdialog.h"
#include "ui/dialogs/connectform.h"
#include "ui/dialogs/findingsdialog.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/dialogs/guaranteesdialog.h"
#include "ui/pages/lockdetail.h"
#include "ui/pages/lockspage.h"
#include "ui/pages/pages.h"
#include "ui/models/pausablebackend.h"
#include "ui/models/screenclock.h"
#include "ui/pages/simulatorpage.h"
#include "ui/shell/bars.h"
#include "ui/shell/helpoverlay.h"
#include "ui/shell/sidebar.h"
#include "ui/views/lockstable.h"

#include <QAction>
#include <QCloseEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

MainWindow::MainWindow(Backend &backend, QWidget *parent)
    : QMainWindow(parent), m_backend(backend), m_screen(new PausableBackend(backend, this)),
      m_clock(std::make_shared<ScreenClock>()), m_top(new TopBar(m_book, this)), m_side(new SideBar(m_book, this)),
      m_status(new StatusBar(m_book, this)), m_stack(new QStackedWidget(this))
{
    setWindowTitle(u"Lockscope"_s);
    setMinimumSize(760, 480);
    resize(1440, 900);
    auto *centre = new QWidget(this);
    auto *column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_top);
    auto *middle = new QHBoxLayout;
    middle->setSpacing(0);
    middle->addWidget(m_side);
    middle->addWidget(m_stack, 1);
    column->addLayout(middle, 1);
    column->addWidget(m_status);
    setCentralWidget(centre);

    // The clock, then the book hear of each batch before any page does.
    connect(m_screen, &Backend::updated, m_clock.get(), &ScreenClock::catchUp);
    connect(m_screen, &Backend::updated, &m_book, &ConnectionBook::apply);
    for (const auto &row : allPages())
        addPage(row);
    connectParts();
    addShortcuts();
    showPageAt(0);
}

MainWindow::~MainWindow() = default;

void MainWindow::connectParts()
{
    m_locks = findChild<LocksPage *>();
    m_simulator = findChild<SimulatorPage *>();
    connect(m_simulator, &SimulatorPage::sandboxRequested, this, &MainWindow::sandboxRequested);
    QStringList titles;
    for (const auto &row : allPages())
        titles << row.title;
    m_help = new HelpOverlay(titles, this);
    connect(m_help, &HelpOverlay::guaranteesRequested, this, &MainWindow::openGuarantees);
    connect(m_help, &HelpOverlay::findingsRequested, this, &MainWindow::openFindingsHelp);
    connect(m_top, &TopBar::findChanged, this, [this](const QString &text) { currentPage()->setFilter(text); });
    connect(m_top, &TopBar::findDone, this, [this] { currentPage()->focusContent(); });
    connect(m_top, &TopBar::pauseToggled, this, [this] { setPaused(!m_paused); });
    connect(m_top, &TopBar::helpRequested, this, [this] { m_help->open(); });
    connect(m_top, &TopBar::writesMenuRequested, this, &MainWindow::showWritesMenu);
    connect(m_side, &SideBar::pageChosen, this, &MainWindow::showPageAt);
    connect(m_side, &SideBar::connectionChosen, this, &MainWindow::setConnection);
    connect(m_side, &SideBar::connectRequested, this, &MainWindow::openConnect);
    connect(m_side, &SideBar::readOnlyRequested, this,
            [this](const ConnectionName &name, bool readOnly) { askReadOnly(name, readOnly); });
    connect(m_side, &SideBar::disconnectRequested, this, &MainWindow::forget);
    connect(m_side, &SideBar::retryRequested, this, [this](const ConnectionName &name) { m_screen->retry(name); });
    connect(m_side, &SideBar::editRequested, this, &MainWindow::openEdit);
    connect(m_locks, &LocksPage::retryRequested, this, [this](const ConnectionName &name) { m_screen->retry(name); });
    connect(m_locks, &LocksPage::editRequested, this, &MainWindow::openEdit);
    connect(m_locks, &LocksPage::connectRequested, this, &MainWindow::openConnect);
    connect(m_locks, &LocksPage::sandboxRequested, this, &MainWindow::sandboxRequested);
    connect(m_locks, &LocksPage::filterCleared, this, [this] {
        m_top->setFindText({});
        m_locks->setFilter({}); // the find field tells a moment later
        m_locks->showAll();
        if (!m_connection.isEmpty())
            setConnection({});
    });
    connect(m_locks, &LocksPage::currentLockChanged, this, &MainWindow::showContext);
    connect(m_locks, &LocksPage::forceReleaseRequested, this, &MainWindow::openForceRelease);
    connect(m_locks, &LocksPage::acquireRequested, this, &MainWindow::openAcquire);
    connect(&m_book, &ConnectionBook::changed, this, &MainWindow::checkFirstSnapshot);
}

void MainWindow::addPage(const PageRow &row)
{
    const int number = static_cast<int>(m_pages.size());
    auto *page = row.make(m_book, this);
    m_pages.push_back(page);
    m_stack->addWidget(page);
    m_side->addPage(row.title, number);
    connect(page, &Page::countChanged, this,
            [this, number](const QString &count) { m_side->setPageCount(number, count); });
    connect(page, &Page::settled, this, &MainWindow::checkFirstSnapshot);
    connect(page, &Page::lockActivated, this, &MainWindow::selectLock);
    page->useClock(m_clock);
    page->setBackend(m_screen);
    auto *shortcut = new QShortcut(QKeySequence(u"Ctrl+%1"_s.arg(number + 1)), this);
    connect(shortcut, &QShortcut::activated, this, [this, number] {
        showPageAt(number);
        currentPage()->focusContent();
    });
}

void MainWindow::addShortcuts()
{
    const auto on = [this](const QString &keys, auto slot) {
        connect(new QShortcut(QKeySequence(keys), this), &QShortcut::activated, this, slot);
    };
    on(u"Ctrl+K"_s, [this] { m_top->focusFind(); });
    on(u"Ctrl+F"_s, [this] { m_top->focusFind(); });
    on(u"F5"_s, [this] { currentPage()->refresh(); });
    on(u"?"_s, [this] { m_help->open(); });
    on(u"F1"_s, [this] { m_help->open(); });
    on(u"Ctrl+Shift+F"_s, [this] { openForceRelease(); });
    on(u"Ctrl+Shift+A"_s, [this] { openAcquire(); });
}

Page *MainWindow::currentPage() const
{
    return m_pages[static_cast<std::size_t>(m_stack->currentIndex())];
}

bool MainWindow::showsConnections() const
{
    return allPages()[static_cast<std::size_t>(m_stack->currentIndex())].showsConnections;
}

void MainWindow::showPageAt(int at)
{
    if (at < 0 || at >= static_cast<int>(m_pages.size()))
        return;
    m_stack->setCurrentIndex(at);
    m_side->setCurrentPage(at);
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
    showPageAt(m_stack->indexOf(m_locks));
    m_locks->selectLock(lock);
}

void MainWindow::setSandbox(const QString &state, bool isComplete)
{
    m_side->setSandbox(state);
    m_simulator->sandboxChanged(state, isComplete);
}

void MainWindow::setPaused(bool paused)
{
    m_paused = paused;
    m_clock->setFrozen(paused);
    const auto at = paused ? std::optional(m_clock->now()) : std::nullopt;
    for (auto *page : m_pages)
        page->freeze(at);
    m_top->setPaused(paused);
    disconnect(m_screen, &PausableBackend::waitingChanged, m_status, nullptr);
    m_status->setPaused(at);
    m_screen->setPaused(paused);
    if (paused)
        connect(m_screen, &PausableBackend::waitingChanged, m_status,
                [this, at] { m_status->setPaused(at, m_screen->waiting()); });
}

void MainWindow::setConnection(const ConnectionName &name)
{
    m_connection = name;
    m_side->setCurrentConnection(name);
    for (auto *page : m_pages)
        page->showConnection(name);
    showContext();
}

// What the bars speak of: the chosen connection, else the one of the lock in the detail.
void MainWindow::showContext()
{
    ConnectionName context = m_connection;
    if (context.isEmpty() && currentPage() == m_locks && m_locks->currentLock())
        context = m_locks->currentLock()->connection;
    m_top->setContext(context);
    m_status->setContext(m_connection);
}

void MainWindow::askReadOnly(const ConnectionName &name, bool readOnly, QWidget *over)
{
    const auto *status = m_book.find(name);
    if (!status || readOnly || !status->production) {
        m_backend.setReadOnly(name, readOnly);
        return;
    }
    const QString shown = label(name.bytes(), 60);
    auto *question = new QMessageBox(QMessageBox::Warning, tr("Allow writes"),
                                     tr("%1 is marked as production. Allow Lockscope to write to it?").arg(shown),
                                     QMessageBox::Cancel, over ? over : this);
    question->setAttribute(Qt::WA_DeleteOnClose);
    question->setObjectName(u"armQuestion"_s);
    question->setTextFormat(Qt::PlainText);
    question->setInformativeText(
        tr("Looking stays as it is. Acquire and force-release become possible, each with its own "
           "confirmation, until you make it read-only again or close the window."));
    auto *arm = question->addButton(tr("Allow writes on %1").arg(shown), QMessageBox::DestructiveRole);
    arm->setProperty("look", u"danger"_s);
    question->setDefaultButton(QMessageBox::Cancel);
    connect(arm, &QAbstractButton::clicked, this, [this, name] { m_backend.setReadOnly(name, false); });
    question->open();
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
    auto *question = new QMessageBox(QMessageBox::Warning, tr("Close Lockscope"),
                                     own == 1 ? tr("This window holds a lock, or waits for one.")
                                              : tr("This window holds %1 locks, or waits for them.").arg(own),
                                     QMessageBox::Cancel, this);
    question->setAttribute(Qt::WA_DeleteOnClose);
    question->setObjectName(u"closeQuestion"_s);
    question->setInformativeText(
        tr("Closing gives back what it holds and gives up what it waits for. Where a server does not answer in time, "
           "a lock with a TTL stays until that has passed. To be sure, release it first."));
    auto *close = question->addButton(tr("Give up and close"), QMessageBox::DestructiveRole);
    question->setDefaultButton(QMessageBox::Cancel);
    connect(close, &QAbstractButton::clicked, this, [this] {
        m_mayClose = true;
        this->close();
    });
    question->open();
}

void MainWindow::showWritesMenu(const QPoint &at)
{
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (const auto &status : m_book.all()) {
        const QString shown = label(status.name.bytes(), 60);
        auto *action = menu->addAction(status.readOnlyForGood ? tr("%1 is read-only for this run").arg(shown)
                                       : status.readOnly      ? tr("Allow writes on %1…").arg(shown)
                                                              : tr("Make %1 read-only").arg(shown));
        action->setEnabled(!status.readOnlyForGood);
        connect(action, &QAction::triggered, this,
                [this, name = status.name, now = status.readOnly] { askReadOnly(name, !now); });
    }
    menu->popup(at);
}

void MainWindow::useConnections(ConnectionStore &store)
{
    m_store = &store;
    const auto colours = [this] {
        m_side->setColours([this](const ConnectionName &name) {
            for (const auto &saved : m_store->all()) {
                if (saved.name == QString::fromUtf8(name.bytes()))
                    return saved.colour == ConnectionColour::None ? QColor() : colourOf(saved.colour);
            }
            return QColor();
        });
    };
    connect(&store, &ConnectionStore::changed, this, colours);
    colours();
}

void MainWindow::forget(const ConnectionName &name)
{
    m_screen->disconnectFrom(name);
    m_book.remove(name);
    m_locks->removeConnection(name);
    if (m_connection == name)
        setConnection({});
}

void MainWindow::openConnect()
{
    openEdit({});
}

void MainWindow::openEdit(const ConnectionName &name)
{
    if (!m_store) {
        emit connectRequested();
        return;
    }
    QStringList taken;
    for (const auto &status : m_book.all()) {
        if (status.name != name)
            taken << QString::fromUtf8(status.name.bytes());
    }
    auto *dialog = new ConnectDialog(*m_store, taken, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    if (const auto *status = m_book.find(name)) {
        SavedConnection asItIs;
        asItIs.name = QString::fromUtf8(name.bytes());
        asItIs.uri = status->uri;
        asItIs.production = status->production;
        asItIs.readOnly = status->readOnly;
        dialog->edit(asItIs);
    }
    connect(dialog, &ConnectDialog::connectRequested, this, [this, name](const ConnectionSpec &spec) {
        if (m_book.find(name))
            forget(name); // what was edited takes its place
        emit aboutToConnect(spec);
        m_backend.connectTo(spec);
    });
    dialog->open();
}

bool MainWindow::isFirstSnapshotComplete() const
{
    if (!showsConnections())
        return currentPage()->isSettled();
    using State = ConnectionStatus::State;
    const auto &all = m_book.all();
    return !all.empty() && std::all_of(all.begin(), all.end(), [](const ConnectionStatus &status) {
        return status.progress.firstSnapshotComplete || status.state == State::AuthFailed;
    });
}

bool MainWindow::isAllThereIs() const
{
    return showsConnections() || currentPage()->isSettled();
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
    QMainWindow::keyPressEvent(event);
}

void MainWindow::showEvent(QShowEvent *event)
{
    QMainWindow::showEvent(event);
    // Not the find field, first though it is: arrows walk through the rows at once.
    if (std::exchange(m_wasShown, true))
        return;
    if (currentPage() == m_locks)
        m_locks->table().setFocus(); // chooses nothing yet
    else
        currentPage()->focusContent();
    if (m_top->isAncestorOf(focusWidget()))
        focusWidget()->clearFocus();
}

void MainWindow::resizeEvent(QResizeEvent *event)
{
    QMainWindow::resizeEvent(event);
    m_side->setFixedWidth(width() < 1000 ? 184 : 228);
}

void MainWindow::openForceRelease()
{
    const auto *lock = m_locks->detail().snapshot();
    if (currentPage() != m_locks || !lock || m_locks->detail().holder().isEmpty()
        || m_locks->currentLock() != lock->lock)
        return;
    auto *dialog = new ForceReleaseDialog(m_backend, m_book, *lock, m_locks->detail().chosen(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    // What is done is done in the present, paused or not; else the form says what the row behind it says.
    dialog->setClock([this] { return m_clock->isFrozen() ? m_clock->present() : m_clock->now(); });
    connect(m_clock.get(), &ScreenClock::ticked, dialog, &ForceReleaseDialog::tick);
    connect(dialog, &ForceReleaseDialog::armRequested, this,
            [this, dialog](const ConnectionName &name) { askReadOnly(name, false, dialog); });
    dialog->open();
}

void MainWindow::openAcquire()
{
    if (m_book.all().empty())
        return;
    const auto *lock = currentPage() == m_locks ? m_locks->detail().snapshot() : nullptr;
    auto *dialog = new AcquireDialog(m_backend, m_book, lock, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &AcquireDialog::acquiring, this,
            [this](quint64, const inspect::LockName &name) { selectLock(name); });
    dialog->open();
}

void MainWindow::openGuarantees()
{
    auto *dialog = new GuaranteesDialog({}, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::openFindingsHelp()
{
    auto *dialog = new FindingsDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::fitInto(const QRect &available)
{
    constexpr QSize frame(16, 44); // what a window manager puts around it
    resize(size().boundedTo(available.size() - frame).expandedTo(minimumSize()));
}

void MainWindow::saveView(QSettings &settings) const
{
    settings.setValue(u"window/geometry"_s, saveGeometry());
    settings.setValue(u"window/page"_s, pageIds().at(m_stack->currentIndex()));
    for (std::size_t i = 0; i < m_pages.size(); ++i) {
        settings.beginGroup(u"page-"_s + allPages()[i].id); // pages name their columns alike
        m_pages[i]->saveView(settings);
        settings.endGroup();
    }
}

void MainWindow::restoreView(QSettings &settings)
{
    restoreGeometry(settings.value(u"window/geometry"_s).toByteArray());
    for (std::size_t i = 0; i < m_pages.size(); ++i) {
        settings.beginGroup(u"page-"_s + allPages()[i].id);
        m_pages[i]->restoreView(settings);
        settings.endGroup();
    }
    showPage(settings.value(u"window/page"_s).toString());
}

} // namespace lockscope::ui
