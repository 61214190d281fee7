// SPDX-License-Identifier: Apache-2.0
// Single letters on the list of locks, the foot that names them, and the keys of the window itself.
#include "tests/support/testmain.h"
#include "tests/ui/windowfixture.h"
#include "ui/dialogs/forcereleasedialog.h"
#include "ui/dialogs/settingsdialog.h"
#include "ui/graph/graphview.h"
#include "ui/pages/graphpage.h"
#include "ui/pages/lockdetail.h"
#include "ui/shell/bars.h"
#include "ui/shell/sidebar.h"
#include "ui/views/lockstable.h"
#include "ui/views/queuetable.h"

#include <QClipboard>
#include <QLineEdit>
#include <QSignalSpy>

using inspect::LockName;

class TestWindowKeys : public testing::WindowFixture {
    Q_OBJECT

    QStringList foot() { return part<ui::FootBar>("footBar")->shown(); }
    ui::ForceReleaseDialog *form() { return m_window->findChild<ui::ForceReleaseDialog *>(); }
    void choose()
    {
        m_window->selectLock({ConnectionName("zk"), "/locks/orders"});
        page().table().setFocus();
    }
    void press(int key) { QTest::keyClick(QApplication::focusWidget(), static_cast<Qt::Key>(key)); }

private slots:
    void init()
    {
        openWindow();
        planReleases(1);
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        notifyConnected();
        m_backend->notifyLocks({lockOf("/locks/orders", 1), lockOf("/locks/reports", 1)});
    }

    void theFootNamesWhatActsOnTheLock()
    {
        m_backend->notifyLocks({lockOf("/locks/orders", 1, inspect::ChangeKind::Removed),
                                lockOf("/locks/reports", 1, inspect::ChangeKind::Removed)});
        page().table().setFocus();
        QTRY_VERIFY2(!foot().contains(u"R Release"_s), qPrintable(foot().join(u", "_s)));
        m_backend->notifyLocks({lockOf("/locks/orders", 1), lockOf("/locks/reports", 1)});
        choose();
        QTRY_VERIFY2(foot().contains(u"R Release"_s), qPrintable(foot().join(u", "_s)));
        const QStringList expected{u"R Release"_s, u"E Rehearse"_s,  u"H Holder’s session"_s,
                                   u"G Graph"_s,   u"C Copy note"_s, u"⏎ Open"_s};
        QCOMPARE(foot().first(expected.size()), expected); // no deadlock: no B
        QTest::keyClick(m_window.get(), Qt::Key_F, Qt::ControlModifier);
        QTRY_VERIFY2(foot().contains(u"Esc Clear"_s), qPrintable(foot().join(u", "_s)));
        m_window->showPage(u"simulator"_s);
        page().clearFocus();
        m_window->setFocus();
        QTRY_VERIFY2(foot().contains(u"F fork at the cursor"_s), qPrintable(foot().join(u", "_s)));
        m_window->showPage(u"lessons"_s); // whose stage names its own
        QTRY_COMPARE(part<ui::FootBar>("footBar")->height(), 0);
    }

    // What has no room is not cut in half, it is not there; the list of all keys always is.
    void aNarrowFootDropsTheLast()
    {
        choose();
        m_window->resize(640, 600);
        QTRY_VERIFY(part<ui::FootBar>("footBar")->width() <= 640 && foot().contains(u"R Release"_s));
        const auto &bar = *part<ui::FootBar>("footBar");
        for (const auto *button : bar.findChildren<ui::FootKeyButton *>())
            QVERIFY(button->isHidden() || button->geometry().right() <= bar.width());
        const auto buttons = bar.findChildren<ui::FootKeyButton *>();
        QVERIFY(std::ranges::any_of(buttons, [](const auto *button) { return button->key() == u"?"_s; }));
    }

    void aLetterOpensItsForm()
    {
        choose();
        press(Qt::Key_R);
        QTRY_VERIFY(form());
        QVERIFY(!m_backend->last<ForceRelease>());
        form()->reject();
        QTRY_VERIFY(!form());
        m_window->activateWindow();
        QTRY_COMPARE(QApplication::focusWidget(), &page().table());
        press(Qt::Key_C);
        QTRY_VERIFY(QGuiApplication::clipboard()->text().contains(u"/locks/orders"_s));
        press(Qt::Key_G);
        QTRY_VERIFY(m_window->findChild<ui::GraphPage *>()->isVisible());
    }

    void aClickOnTheFootDoesTheSame()
    {
        choose();
        QTRY_VERIFY(foot().contains(u"R Release"_s));
        for (auto *button : part<ui::FootBar>("footBar")->findChildren<ui::FootKeyButton *>()) {
            if (button->key() == u"R"_s)
                QTest::mouseClick(button, Qt::LeftButton);
        }
        QTRY_VERIFY(form());
    }

    void aLetterInAFieldIsText()
    {
        choose();
        press(Qt::Key_Slash);
        auto *find = part<QLineEdit>("find");
        QTRY_COMPARE(QApplication::focusWidget(), find);
        QTest::keyClicks(find, u"r/b"_s);
        QCOMPARE(find->text(), u"r/b"_s);
        QVERIFY(!form());
    }

    void onAnotherPageLettersDoNothing()
    {
        choose();
        m_window->showPage(u"sessions"_s);
        QTest::keyClick(m_window.get(), Qt::Key_R);
        QVERIFY(!form());
    }

    // A rehearsal sends nothing, and begins with the form.
    void rehearseBeginsAtOnce()
    {
        choose();
        press(Qt::Key_E);
        QTRY_VERIFY(form());
        QTRY_VERIFY(m_backend->last<Rehearse>());
        QVERIFY(!m_backend->last<ForceRelease>());
    }

    // Of a waiter that is chosen in the queue; the form begins with that method.
    void aWaitIsCanceledFromTheQueue()
    {
        choose();
        QTRY_VERIFY(foot().contains(u"R Release"_s) && !foot().contains(u"X Cancel the wait"_s));
        const auto waiter = page().detail().snapshot()->contenders.back();
        QCOMPARE(waiter.role, inspect::Role::Waiter);
        part<ui::QueueTable>("queueTable")->setCurrentContender(waiter.id);
        page().detail().focusQueue();
        QTRY_VERIFY2(foot().contains(u"X Cancel the wait"_s), qPrintable(foot().join(u", "_s)));
        press(Qt::Key_X);
        QTRY_VERIFY(form());
        QTRY_VERIFY(m_backend->last<PlanRelease>());
        QTRY_COMPARE(m_backend->last<PlanRelease>()->way, operate::ReleaseAction::KillWaiter);
        QCOMPARE(m_backend->last<PlanRelease>()->contender, waiter.id);
    }

    void f6GoesRoundThePanes()
    {
        choose();
        press(Qt::Key_F6);
        QTRY_VERIFY(page().detail().isAncestorOf(QApplication::focusWidget()));
        press(Qt::Key_F6);
        QTRY_VERIFY(qobject_cast<ui::RailItem *>(QApplication::focusWidget()));
        press(Qt::Key_F6);
        QTRY_COMPARE(QApplication::focusWidget(), &page().table());
    }

    void settingsAndQuitAreWhereUsersLook()
    {
        m_window->findChild<ui::RailItem *>(u"settingsItem"_s)->click();
        auto *settings = m_window->findChild<ui::SettingsDialog *>();
        QVERIFY(settings);
        settings->reject();
        QSignalSpy demo(m_window.get(), &ui::MainWindow::demoRequested);
        m_window->findChild<ui::RailItem *>(u"sandboxItem"_s)->click();
        QCOMPARE(demo.count(), 1);
        QTest::keyClick(m_window.get(), Qt::Key_Q, Qt::ControlModifier);
        QTRY_VERIFY(!m_window->isVisible());
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestWindowKeys)
#include "tst_window_keys.moc"
