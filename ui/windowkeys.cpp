// SPDX-License-Identifier: Apache-2.0
// Single letters, and actions of the window itself: its connections, its colors, its panes, its end; and where the
// keyboard is at first.
#include "ui/mainwindow.h"

#include "ui/dialogs/settingsdialog.h"
#include "ui/pages/lockspage.h"
#include "ui/shell/actions.h"
#include "ui/shell/bars.h"
#include "ui/shell/connectionchooser.h"
#include "ui/shell/sidebar.h"
#include "ui/shell/topbar.h"
#include "ui/timetravel.h"
#include "ui/views/incidentlist.h"
#include "ui/windowdialogs.h"

#include <QApplication>
#include <QEvent>
#include <QShortcut>

namespace lockscope::ui {

// Those that most need come first: where the foot has no room, the last give way.
const std::vector<WindowKeys::Letter> &WindowKeys::letters()
{
    static const std::vector<Letter> all{
        {Qt::Key_B, u"break"_s, tr("Break deadlock")},
        {Qt::Key_R, u"force-release"_s, tr("Release")},
        {Qt::Key_X, u"cancel-wait"_s, tr("Cancel the wait")},
        {Qt::Key_E, u"rehearse"_s, tr("Rehearse")},
        {Qt::Key_H, u"to-session"_s, tr("Holder’s session")},
        {Qt::Key_G, u"to-graph"_s, tr("Graph")},
        {Qt::Key_C, u"note"_s, tr("Copy note")},
    };
    return all;
}

WindowKeys::WindowKeys(MainWindow &window, Actions &actions, FootBar &foot)
    : QObject(&window), m_window(window), m_actions(actions), m_foot(foot)
{
    addLetters();
    m_foot.installEventFilter(this);
    m_foot.setLast(keyOf(u"?"_s, tr("All keys"), u"help"_s));
    callAfter(m_update, 0ms, this, &WindowKeys::show);
    connect(qApp, &QApplication::focusChanged, this, &WindowKeys::update);
    connect(&window.pages(), &QStackedWidget::currentChanged, this, &WindowKeys::update);
    connect(&window.time(), &TimeTravel::moved, this, &WindowKeys::update);
    connect(&window.locksPage(), &LocksPage::currentLockChanged, this, &WindowKeys::update);
    connect(&window.locksPage().table(), &LocksTable::chosenRowsChanged, this, &WindowKeys::update);
    connect(&window.locksPage().detail(), &LockDetail::releaseChanged, this, &WindowKeys::update);
    connect(&window.connections(), &ConnectionBook::changed, this, &WindowKeys::update);
    if (auto *theme = Theme::instance())
        connect(theme, &Theme::changed, &m_foot, qOverload<>(&QWidget::update));
    update();
}

// Pages name their keys in the language that was chosen for them.
bool WindowKeys::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::LanguageChange)
        update();
    return QObject::eventFilter(watched, event);
}

// Within the page only: forms, the palette and the help have letters of their own, and a text takes its own first.
void WindowKeys::addLetters()
{
    for (const auto &letter : letters()) {
        new QShortcut(
            letter.key, &m_window.locksPage(), this, [this, letter] { press(letter); },
            Qt::WidgetWithChildrenShortcut);
    }
    for (int number = 1; number <= 9; ++number) {
        new QShortcut(
            QKeySequence(Qt::Key_0 + number), &m_window.locksPage(), this,
            [this, number] { m_window.locksPage().detail().chooseWaiter(number); }, Qt::WidgetWithChildrenShortcut);
    }
    // Along the events of the chosen lock, as on its strip of time.
    for (auto *list : std::initializer_list<QWidget *>{&m_window.locksPage().table(),
                                                       m_window.locksPage().findChild<IncidentList *>()}) {
        for (const bool isBefore : {true, false}) {
            new QShortcut(
                QKeySequence(isBefore ? Qt::Key_Left : Qt::Key_Right), list, this,
                [this, isBefore] { m_window.time().goToChange(isBefore); }, Qt::WidgetWithChildrenShortcut);
        }
    }
}

bool WindowKeys::isOnLocks() const
{
    return m_window.locksPage().isVisibleTo(&m_window);
}

void WindowKeys::press(const Letter &letter)
{
    m_actions.trigger(m_actions.find(letter.action));
}

FootKey WindowKeys::keyOf(const QString &key, const QString &text, const QString &action)
{
    return {key, text, [this, action] { m_actions.trigger(m_actions.find(action)); }};
}

void WindowKeys::show()
{
    m_foot.setKeys(keys());
}

std::vector<FootKey> WindowKeys::keys()
{
    std::vector<FootKey> keys;
    if (m_window.time().isElsewhere()) {
        keys.push_back(keyOf(u"Esc"_s, tr("Return to live view"), u"now"_s));
        keys.push_back({u"← →"_s, tr("Event")});
        if (qobject_cast<const TimelineView *>(QApplication::focusWidget())) {
            keys.push_back({u"⇧← ⇧→"_s, tr("1 second")});
            keys.push_back({u"Home"_s, tr("Start of recording")});
        }
    }
    const auto *focus = QApplication::focusWidget();
    if (qobject_cast<const QLineEdit *>(focus) && focus->objectName() == u"find"_s) {
        keys.push_back({u"⏎"_s, tr("Into the results")});
        keys.push_back({u"Esc"_s, tr("Clear")});
    } else if (isOnLocks() && m_window.locksPage().start().isHidden()) {
        addLockKeys(keys);
    } else {
        addPageKeys(keys);
    }
    keys.push_back(keyOf(u"/"_s, tr("Find"), u"find"_s));
    keys.push_back(keyOf(u"Ctrl+K"_s, tr("Go to, or do"), u"palette"_s));
    return keys;
}

QString WindowKeys::textOf(const Letter &letter) const
{
    if (letter.action != u"force-release"_s || !m_window.dialogs().areSeveralChosen())
        return letter.text;
    return tr("Release %1 locks").arg(m_window.locksPage().table().chosenRows().size());
}

void WindowKeys::addLockKeys(std::vector<FootKey> &keys)
{
    auto &page = m_window.locksPage();
    if (!page.currentLock()) {
        if (page.model().rowCount() > 0)
            keys.push_back({u"↑ ↓"_s, tr("Choose a lock")});
        return;
    }
    for (const auto &letter : letters()) {
        const bool hasUse = letter.action != u"break"_s || m_window.dialogs().isChosenDeadlocked();
        if (hasUse && m_actions.whyNot(m_actions.find(letter.action)).isEmpty())
            keys.push_back(keyOf(QKeySequence(letter.key).toString(), textOf(letter), letter.action));
    }
    if (page.table().hasFocus())
        keys.push_back({u"⏎"_s, tr("Open"), [&page] { page.detail().focusQueue(); }});
    if (page.detail().hasWaiters())
        keys.push_back({u"1…9"_s, tr("Waiting client")});
    keys.push_back(keyOf(u"F6"_s, tr("Next pane"), u"next-pane"_s));
}

void WindowKeys::addPageKeys(std::vector<FootKey> &keys) const
{
    const auto row = m_window.pages().current();
    const auto &id = allPages()[row].id;
    if (id == u"findings"_s)
        keys.insert(keys.end(), {{u"⏎"_s, tr("Go to the lock")},
                                 {u"M"_s, tr("Mute")},
                                 {u"S"_s, tr("Session")},
                                 {u"B"_s, tr("Break deadlock")}});
    else if (id == u"znodes"_s || id == u"keys"_s)
        keys.insert(keys.end(), {{u"Ins"_s, tr("Create")}, {u"F2"_s, tr("Edit")}, {u"Del"_s, tr("Delete")}});
    for (const auto &[key, text] : m_window.pages().at(row).keys())
        keys.push_back({key, text});
}

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
