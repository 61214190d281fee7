// SPDX-License-Identifier: Apache-2.0
// The window on a projector (F11): the page alone, with large text, and its keys when asked for.
#include "core/inspect/findings.h"
#include "tests/support/fakebackend.h"
#include "tests/support/fakedata.h"
#include "tests/support/testmain.h"
#include "tests/ui/cutparts.h"
#include "tests/ui/lessonscene.h"
#include "tests/ui/themedapplication.h"
#include "ui/mainwindow.h"
#include "ui/models/lockrow.h"
#include "ui/pages/lessonspage.h"
#include "ui/pages/lockspage.h"
#include "ui/shell/sidebar.h"
#include "ui/views/lockstable.h"

#include <QAbstractItemDelegate>
#include <QHeaderView>
#include <QLabel>
#include <QScopeGuard>

using namespace lockscope::ui;

class TestPresentation : public QObject {
    Q_OBJECT

private slots:

    // Nothing but the page, and no text that the last row cannot read.
    void aProjectorShowsThePageAlone()
    {
        testing::FakeBackend backend;
        MainWindow window(backend);
        QVERIFY(window.showPage(u"lessons"_s));
        window.show();
        auto *lessons = window.findChild<LessonsPage *>();
        lessons->openLesson(numberOf(*lessons, "predecessor"));
        QTRY_VERIFY(lessons->lesson().isPlayed());
        QVERIFY(QTest::qWaitForWindowActive(&window));
        press(window, Qt::Key_F11);
        QVERIFY(Theme::instance()->isLarge());
        QVERIFY(!window.findChild<SideBar *>()->isVisible());
        QVERIFY(textFont(11).pixelSize() >= 14 && monoFont(11).pixelSize() >= 14);
        for (const auto *shown : lessons->findChildren<QLabel *>()) {
            if (shown->isVisible() && !shown->text().isEmpty())
                QVERIFY2(shown->font().pixelSize() >= 14, qPrintable(shown->text()));
        }
        press(window, Qt::Key_F11);
        QVERIFY(!Theme::instance()->isLarge());
        QVERIFY(window.findChild<SideBar *>()->isVisible());
    }

    void rowsOfLocksAreHigherInLargeText()
    {
        testing::FakeBackend backend;
        MainWindow window(backend);
        const auto largeness = qScopeGuard([] { Theme::instance()->setLarge(false); });
        Theme::instance()->setLarge(true);
        backend.notifyConnection(testing::connectedStatus("zk", Scheme::ZooKeeper, false, SystemTime{}));
        backend.notifyLocks(
            {testing::change(inspect::ChangeKind::Added, testing::queueLock("zk", "/locks/nightly-report", 2, {}))});
        const auto &table = window.locksPage().table();
        QTRY_COMPARE(table.rowHeight(0), shownSize(stackedRowHeight) + shownSize(groupHeadHeight));
        QVERIFY(shownSize(stackedRowHeight) > stackedRowHeight);
    }

    // While presenting, ? shows and hides a line of the page's own keys; where it has none, and else, the whole list.
    void itsKeysAreOnTheScreenWhenAskedFor()
    {
        testing::FakeBackend backend;
        MainWindow window(backend);
        QVERIFY(window.showPage(u"lessons"_s));
        window.resize(1024, 768);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        const auto shoot = [&](const QString &name) {
            const QString folder = qEnvironmentVariable("LOCKSCOPE_SHOTS");
            QTest::qWait(folder.isEmpty() ? 0 : 200);
            QVERIFY(folder.isEmpty() || window.grab().save(folder + u"/keybar-"_s + name + u".png"_s));
        };
        const auto *bar = window.findChild<QLabel *>(u"keyBar"_s);
        const auto hasList = [&] {
            const auto *card = window.findChild<QWidget *>(u"helpCard"_s);
            return card && card->isVisible();
        };
        press(window, Qt::Key_Question);
        QVERIFY(!bar->isVisible() && hasList());
        press(*QApplication::focusWidget(), Qt::Key_Escape);
        press(window, Qt::Key_F11);
        QVERIFY(!bar->isVisible()); // nobody has asked
        press(window, Qt::Key_Question);
        QVERIFY(bar->isVisible() && !hasList());
        QTRY_VERIFY(testing::cutParts(window).filter(u"KeyBar"_s).isEmpty());
        shoot(u"lessons"_s);
        QVERIFY2(bar->text().contains("PgDn"_L1) && bar->text().contains("F11"_L1), qPrintable(bar->text()));
        window.showPage(u"simulator"_s);
        QVERIFY2(bar->isVisible() && bar->text().contains("Home"_L1), qPrintable(bar->text()));
        QTRY_VERIFY(testing::cutParts(window).filter(u"KeyBar"_s).isEmpty());
        shoot(u"simulator"_s);
        window.showPage(u"log"_s);
        QVERIFY(!bar->isVisible());
        window.showPage(u"lessons"_s);
        QVERIFY(bar->isVisible());
        press(window, Qt::Key_Question);
        QVERIFY(!bar->isVisible() && !hasList());
        window.showPage(u"log"_s);
        press(window, Qt::Key_Question);
        QVERIFY(!bar->isVisible() && hasList());
        press(*QApplication::focusWidget(), Qt::Key_Escape);
        window.showPage(u"lessons"_s);
        press(window, Qt::Key_Question);
        press(window, Qt::Key_F11);
        QVERIFY(!bar->isVisible()); // ended with the presentation
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestPresentation)
#include "tst_presentation.moc"
