// SPDX-License-Identifier: Apache-2.0
// What the window has for the people who work in it: locks in windows of their own, filters that are kept, export,
// the menu of all actions, About; and columns that keep their widths sane.
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/dialogs/guaranteesdialog.h"
#include "ui/dialogs/settingsdialog.h"
#include "ui/models/lockrow.h"
#include "ui/pages/livetree.h"
#include "ui/pages/lockdetail.h"
#include "ui/pages/page.h"
#include "ui/pages/sessionspage.h"
#include "ui/parts/notices.h"
#include "ui/shell/actions.h"
#include "ui/shell/palette.h"
#include "ui/parts/labels.h"
#include "ui/views/lockstable.h"
#include "ui/workbench.h"

#include <QCheckBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>

using inspect::ChangeKind;
using inspect::LockName;

namespace {

LockName benchName(const QByteArray &path)
{
    return {ConnectionName("zk"), path};
}

} // namespace

class TestWorkbench : public testing::WindowFixture {
    Q_OBJECT

    void press(QWidget *where, const QString &keys) { QTest::keySequence(where, QKeySequence(keys)); }
    ui::DetailWindow *detached() { return m_window->findChild<ui::DetailWindow *>(); }
    static QPushButton *release(const QWidget &window)
    {
        return window.findChild<QPushButton *>(u"forceReleaseButton"_s);
    }

private slots:
    void init()
    {
        m_now = present;
        openWindow();
        notifyConnected();
        m_backend->notifyLocks({lockOf("/locks/orders", 2), lockOf("/locks/nightly-report", 0)});
        m_window->selectLock(benchName("/locks/orders"));
    }

    void aLockOpensInItsOwnWindowAndIsFollowed()
    {
        press(m_window.get(), u"Ctrl+D"_s);
        auto *window = detached();
        QVERIFY(window && window->isVisible());
        QCOMPARE(window->windowTitle(), u"zk:/locks/orders – Lockscope"_s);
        QCOMPARE(window->detail().snapshot()->waiterCount(), 2);
        m_window->selectLock(benchName("/locks/nightly-report")); // whatever is chosen elsewhere
        m_backend->notifyLocks({lockOf("/locks/orders", 5)});
        QCOMPARE(window->detail().snapshot()->waiterCount(), 5);
        m_backend->notifyLocks({lockOf("/locks/orders", 5, ChangeKind::Removed)});
        QVERIFY(window->findChild<ui::AnswerLabel *>()->sentence().startsWith(u"/locks/orders is gone"_s));
        QVERIFY(!release(*window)->isEnabled());
    }

    // In one list they took two columns and the whole of a small screen.
    void theMenuHasEveryActionOnceAndIsLow()
    {
        auto *menu = part<QPushButton>("menuButton")->menu();
        QVERIFY(menu);
        emit menu->aboutToShow();
        QVERIFY2(menu->sizeHint().height() < 500, qPrintable(QString::number(menu->sizeHint().height())));
        QStringList offered;
        const auto take = [&offered](const QMenu &one) {
            for (const auto *action : one.actions()) {
                if (!action->menu() && !action->isSeparator())
                    offered << action->objectName();
            }
        };
        take(*menu);
        for (const auto *group : menu->findChildren<QMenu *>()) {
            QVERIFY(group->sizeHint().height() < 500);
            take(*group);
        }
        QStringList all;
        for (const auto *action : m_window->actions().all()) {
            if (action->objectName() != u"menu"_s) // which opens it
                all << action->objectName();
        }
        offered.sort();
        all.sort();
        QCOMPARE(offered, all);
    }

    void severalAtOnceEachOnce()
    {
        press(m_window.get(), u"Ctrl+D"_s);
        m_window->selectLock(benchName("/locks/nightly-report"));
        press(m_window.get(), u"Ctrl+D"_s);
        press(m_window.get(), u"Ctrl+D"_s);
        QCOMPARE(m_window->findChildren<ui::DetailWindow *>().size(), 2);
        for (auto *window : m_window->findChildren<ui::DetailWindow *>())
            QTest::keyClick(window, Qt::Key_Escape);
        QTRY_COMPARE(m_window->findChildren<ui::DetailWindow *>().size(), 0);
    }

    // Two numbers on the screen are of one moment.
    void itCountsByTheSameClock()
    {
        auto *window = m_window->workbench().detach(benchName("/locks/orders"));
        const auto sentence = [](const QWidget &where) { return where.findChild<ui::AnswerLabel *>()->sentence(); };
        m_now += 30s;
        page().setClock([this] { return m_now; }); // which ticks
        QTRY_COMPARE(sentence(*window), sentence(page().detail()));
        QVERIFY(sentence(*window).contains(u"4 m 42 s"_s));
    }

    void staleLockIsNotReleased()
    {
        auto *window = m_window->workbench().detach(benchName("/locks/orders"));
        QVERIFY(release(*window)->isEnabled());
        auto status = testing::connectedStatus("zk", Scheme::ZooKeeper, false, present);
        status.state = ConnectionStatus::State::Broken;
        m_backend->notifyConnection(status);
        QVERIFY(!release(*window)->isEnabled());
        QVERIFY(!release(page().detail())->isEnabled());
        emit window->detail().forceReleaseRequested(); // as if it had been clicked a moment before
        QVERIFY(!m_window->findChild<ui::ForceReleaseDialog *>());
        notifyConnected();
        QVERIFY(release(*window)->isEnabled());
    }

    void releaseFromTheBenchChoosesItsLock()
    {
        auto *window = m_window->workbench().detach(benchName("/locks/orders"));
        m_window->selectLock(benchName("/locks/nightly-report"));
        m_window->showPage(u"log"_s);
        release(*window)->click();
        QCOMPARE(page().currentLock(), std::optional(benchName("/locks/orders")));
        QVERIFY(m_window->findChild<ui::ForceReleaseDialog *>());
        QVERIFY(m_backend->calls.last().startsWith(u"planForceRelease zk:/locks/orders "_s));
    }

    void aFilterIsKeptAndChosenAgain()
    {
        auto *find = m_window->findChild<QLineEdit *>(u"find"_s);
        find->setText(u"night"_s);
        page().setChip(ui::LocksModel::Chip::Contended);
        press(m_window.get(), u"Ctrl+S"_s);
        auto *question = m_window->findChild<QInputDialog *>(u"filterName"_s);
        QVERIFY(question);
        question->setTextValue(u"the night & its jobs"_s);
        question->accept();
        find->clear();
        page().setFilter({});
        page().showAll();
        m_window->showPage(u"log"_s);
        press(m_window.get(), u"Ctrl+K"_s);
        auto *palette = m_window->findChild<ui::CommandPalette *>();
        QTest::keyClicks(&palette->field(), u"jobs"_s);
        QTest::keyClick(&palette->field(), Qt::Key_Return);
        QCOMPARE(find->text(), u"night"_s);
        QCOMPARE(page().model().chip(), ui::LocksModel::Chip::Contended);
        QVERIFY(page().isVisible());

        QTemporaryDir folder;
        QSettings settings(folder.filePath(u"view.ini"_s), QSettings::IniFormat);
        m_window->saveView(settings);
        ui::MainWindow other(*m_backend);
        other.restoreView(settings);
        QCOMPARE(other.workbench().filters().all(), m_window->workbench().filters().all());
        QCOMPARE(other.workbench().filters().all().size(), 1U);
    }

    void filtersOfABrokenFileAreLeftOut()
    {
        QTemporaryDir folder;
        QSettings settings(folder.filePath(u"view.ini"_s), QSettings::IniFormat);
        settings.beginWriteArray(u"filters"_s);
        settings.setArrayIndex(0);
        settings.setValue(u"name"_s, u"  "_s);
        settings.setArrayIndex(1);
        settings.setValue(u"name"_s, u"odd"_s);
        settings.setValue(u"chip"_s, 99);
        settings.endArray();
        ui::SavedFilters filters;
        filters.restore(settings);
        QCOMPARE(filters.all(), std::vector<ui::SavedFilter>({{u"odd"_s, QString(), 0}}));
        QVERIFY(!filters.keep({u"\n"_s, QString(), 0}));
    }

    void theTableOnScreenIsExported()
    {
        m_backend->notifyLocks({testing::change(
            inspect::ChangeKind::Added, testing::redisLock("zk", "lock:mail", 30s, testing::serverTime(present)))});
        page().table().setFocus();
        press(&page().table(), u"Ctrl+E"_s);
        auto *dialog = m_window->findChild<QFileDialog *>(u"exportDialog"_s);
        QVERIFY(dialog);
        QTemporaryDir folder;
        const QString file = folder.filePath(u"locks.csv"_s);
        emit dialog->fileSelected(file);
        QFile written(file);
        QVERIFY(written.open(QIODevice::ReadOnly));
        const auto all = written.readAll();
        QVERIFY(all.contains(",/locks/orders,"));
        // On screen it is b0f1…2d1e0f: nobody could compare that with anything.
        QVERIFY2(all.contains(",b0f1c2d3e4a5968778695a4b3c2d1e0f,"), all.constData());
    }

    // Under a name that need not be typed.
    void aNoteIsSavedUnderTheLocksName()
    {
        m_window->selectLock(benchName("/locks/orders"));
        m_window->actions().find(u"save-note"_s)->trigger();
        auto *dialog = m_window->findChild<QFileDialog *>(u"noteDialog"_s);
        QVERIFY(dialog);
        QCOMPARE(QFileInfo(dialog->selectedFiles().value(0)).fileName(), u"incident-locks-orders.md"_s);
        QTemporaryDir folder;
        const QString file = folder.filePath(u"note.md"_s);
        emit dialog->fileSelected(file);
        QTRY_VERIFY(QFile::exists(file));
        QFile written(file);
        QVERIFY(written.open(QIODevice::ReadOnly));
        QVERIFY(written.readAll().startsWith("# Incident: "));
    }

    void theMenuListsEveryActionWithItsKeys()
    {
        auto *menu = m_window->findChild<QMenu *>(u"actionsMenu"_s);
        emit menu->aboutToShow();
        auto listed = menu->actions();
        for (const auto *below : menu->findChildren<QMenu *>())
            listed += below->actions();
        for (auto *action : m_window->actions().all()) {
            if (action->objectName() != u"menu"_s)
                QVERIFY2(listed.contains(action), qPrintable(action->text()));
        }
    }

    void aboutSaysVersionLicencesAndWhereFilesLie()
    {
        m_window->actions().find(u"about"_s)->trigger();
        const auto *about = m_window->findChild<ui::AboutDialog *>();
        QVERIFY(about);
        QString all;
        for (const auto *label : about->findChildren<QLabel *>())
            all += label->text() + u'\n';
        for (const auto &words : {QStringLiteral("Lockscope " LOCKSCOPE_VERSION), u"Apache-2.0"_s, u"hiredis"_s,
                                  u"audit.jsonl"_s, QString::fromLatin1(qVersion())})
            QVERIFY2(all.contains(words), qPrintable(words));
        const auto strictest = u"LGPL-3"_s;
        QVERIFY2(all.contains(strictest) && !all.remove(strictest).contains(u"GPL"), qPrintable(all));
    }

    // A link shows, and does nothing else: no connecting, no acting, whoever wrote it.
    void aLinkShowsALockOfAConnectionThatIsOpen()
    {
        m_window->showPage(u"log"_s);
        m_window->workbench().openLink(u"lockscope://open?connection=zk&lock=%2Flocks%2Fnightly-report"_s);
        QVERIFY(page().isVisible());
        QCOMPARE(page().currentLock(), std::optional(benchName("/locks/nightly-report")));
        QVERIFY(!m_window->findChild<QMessageBox *>(u"workbenchSays"_s));
        const auto asked = m_backend->calls;
        for (const auto &link : {u"lockscope://open?connection=elsewhere&lock=a"_s, u"zk://evil:2181/"_s,
                                 u"lockscope://open?connection=zk%3Dzk%3A%2F%2Fevil%3A2181&lock=a"_s}) {
            m_window->workbench().openLink(link);
            auto *said = m_window->findChild<QMessageBox *>(u"workbenchSays"_s);
            QVERIFY(said);
            delete said;
        }
        QCOMPARE(page().currentLock(), std::optional(benchName("/locks/nightly-report")));
        // One that is not there is not met with an empty page.
        m_window->workbench().openLink(u"lockscope://open?connection=zk&lock=%2Flocks%2Fgone"_s);
        const auto *said = m_window->findChild<QMessageBox *>(u"workbenchSays"_s);
        QVERIFY(said);
        QVERIFY2(said->text().contains(u"/locks/gone was not found on zk"_s), qPrintable(said->text()));
        QCOMPARE(m_backend->calls, asked);
        QVERIFY(!m_backend->last<Connect>());
    }

    // A link given at the start comes before its connection does.
    void aLinkWaitsForAConnectionThatIsComing()
    {
        const auto isShown = [this] {
            return page().currentLock() == std::optional(LockName{ConnectionName("late"), "/a"});
        };
        const auto said = [this] { return m_window->findChild<QMessageBox *>(u"workbenchSays"_s); };
        const auto link = u"lockscope://open?connection=late&lock=%2Fa"_s;
        const auto isLate = [](const ConnectionName &name) { return name == ConnectionName("late"); };
        auto lock = lockOf("/a", 0);
        lock.lock.lock.connection = ConnectionName("late");
        auto &bench = m_window->workbench();
        bench.openLinkAmong(link, isLate);
        QVERIFY(!said());
        m_backend->notifyConnection(testing::connectedStatus("other", Scheme::Redis, false, m_now));
        QVERIFY(!said());
        m_backend->notifyConnection(testing::connectedStatus("late", Scheme::ZooKeeper, false, m_now));
        QVERIFY(!said());
        m_backend->notifyLocks({lock});
        QVERIFY(isShown());
        // One that none of them will be called, or that never came, is said.
        bench.openLinkAmong(u"lockscope://open?connection=never&lock=%2Fa"_s, isLate);
        QVERIFY(said());
        delete said();
        bench.openLinkAmong(u"lockscope://open?connection=never&lock=%2Fa"_s, [](const auto &) { return true; });
        QVERIFY(!said());
        bench.endWaitOfLink();
        QVERIFY(said());
    }

    void aLockIsShownOnThePageThatIsAskedFor()
    {
        for (const auto &one : {u"graph"_s, u"sessions"_s, u"locks"_s}) {
            m_window->showPage(u"log"_s);
            m_window->workbench().showOn(one, benchName("/locks/nightly-report"));
            QCOMPARE(ui::allPages()[m_window->pages().current()].id, one);
            QCOMPARE(page().currentLock(), std::optional(benchName("/locks/nightly-report")));
        }
    }

    // Off until asked for; then what is new is told once, and a click goes to it. Nothing a client wrote is said.
    void aNewFindingIsToldAndAClickGoesToIt()
    {
        auto &tray = m_window->workbench().tray();
        const auto notifyImmortal = [this](const QByteArray &key) {
            m_backend->notifyLocks({testing::change(
                ChangeKind::Added, testing::redisLock("zk", key, std::nullopt, testing::serverTime(present)))});
        };
        notifyImmortal("first-lock");
        QCOMPARE(tray.unseen(), 0);
        m_window->actions().find(u"alerts"_s)->trigger();
        auto *dialog = m_window->findChild<ui::AlertsDialog *>();
        QVERIFY(dialog);
        for (auto *box : dialog->findChildren<QCheckBox *>())
            box->setChecked(box->objectName() == u"alertsOn"_s); // of all connections
        dialog->accept();
        QVERIFY(m_window->workbench().alerts().rule().isOn);
        QSignalSpy alerted(&m_window->workbench().alerts(), &ui::AlertWatch::alerted);
        notifyImmortal("first-lock"); // was there
        notifyImmortal("second-lock");
        QCOMPARE(alerted.count(), 1);
        const auto alerts = alerted[0][0].value<std::vector<ui::Alert>>();
        QCOMPARE(alerts[0].lock, benchName("second-lock"));
        QVERIFY(ui::Tray::textOf(alerts).endsWith(u": zk:second-lock"_s));
        auto marked = alerts;
        marked[0].lock = benchName("<b>&amp;");
        QVERIFY(ui::Tray::textOf(marked).endsWith(u": zk:‹b>＆amp;"_s)); // no markup
        emit tray.activated(alerts[0].lock);
        QCOMPARE(page().currentLock(), std::optional(benchName("second-lock")));
    }

    // Of the review: "127.0.0.…" beside 450 empty pixels.
    void noColumnIsCutWhereThereIsRoom()
    {
        inspect::SessionSnapshot session;
        session.connection = ConnectionName("zk");
        session.session = u"0x1000009b4890001"_s;
        session.endpoint = u"192.168.100.107:56332"_s;
        session.client = u"a client with a long name"_s;
        session.holds = {"/locks/orders"};
        m_backend->tell({.sessions = {{session.connection, {session}}}});
        m_window->showPage(u"sessions"_s);
        auto *table = m_window->findChild<ui::SessionsPage *>()->table();
        auto *header = table->header();
        header->restoreState(header->saveState());
        table->setColumnWidth(ui::SessionsModel::Connection, 120);
        const auto *cells = qobject_cast<const ui::TreeCellDelegate *>(table->itemDelegate());
        for (const int column : {ui::SessionsModel::Endpoint, ui::SessionsModel::Client, ui::SessionsModel::Session})
            QTRY_VERIFY(table->columnWidth(column) >= cells->widthNeeded(table->model()->index(0, column)));
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestWorkbench)
#include "tst_workbench.moc"
