// SPDX-License-Identifier: Apache-2.0
// From a lesson into the simulator: as it is, or with a fault where one points; and back.
#include "tests/support/fakebackend.h"
#include "tests/support/testmain.h"
#include "tests/ui/lessonscene.h"
#include "tests/ui/themedapplication.h"
#include "ui/mainwindow.h"
#include "ui/pages/page.h"
#include "ui/pages/simulatorpage.h"
#include "ui/simulator/lanesview.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>

using namespace lockscope::ui;

class TestLessonsTried : public QObject {
    Q_OBJECT

private slots:

    void aLessonIsTriedInTheSimulatorAndBack()
    {
        testing::FakeBackend backend;
        MainWindow window(backend);
        QVERIFY(window.showPage(u"lessons"_s));
        window.show();
        window.pages().all();
        auto *lessons = window.findChild<LessonsPage *>();
        auto *simulator = window.findChild<SimulatorPage *>();
        lessons->openLesson(numberOf(*lessons, "predecessor")); // the same with two recipes
        QTRY_VERIFY(lessons->lesson().isPlayed());
        QTest::mouseClick(lessons->findChild<QPushButton *>(u"lessonTry"_s), Qt::LeftButton);
        QTRY_COMPARE(simulator->panels(), std::size_t(2));
        QVERIFY(simulator->isVisible());
        QCOMPARE(simulator->comparison().recipes, (std::vector<QByteArray>{"zk-herd-mutex", "zk-mutex"}));
        auto *back = simulator->findChild<QPushButton *>(u"toLesson"_s);
        QVERIFY(back->isVisible());
        QTest::mouseClick(back, Qt::LeftButton);
        QVERIFY(lessons->isVisible() && !lessons->isListOpen());
        // Two scenarios that differ: one of them, by its name; broken recipes, too.
        lessons->openLesson(numberOf(*lessons, "crash"));
        QTRY_VERIFY(lessons->lesson().isPlayed());
        lessons->lesson().tryIt();
        auto *menu = lessons->findChild<QMenu *>(u"tryMenu"_s);
        QVERIFY(!menu || menu->actions().size() == 2);
        if (menu)
            menu->actions().back()->trigger();
        QTRY_VERIFY(simulator->comparison().recipes.back() == "broken-persistent-node");
    }

    // Whom and when by pointing, in the lesson's picture; the lesson itself stays what its words tell.
    void pointedFaultIsPlayedInTheSimulator()
    {
        LessonScene scene;
        QVERIFY(scene.open("predecessor"));
        QSignalSpy tried(&scene.lesson(), &LessonView::tryRequested);
        auto &picture = scene.lesson().picture();
        picture.runTo(picture.end());
        picture.arrive();
        auto &lanes = picture.lanes(0);
        const auto frame = lanes.frame();
        const QPoint point(int(frame.lanes.center().x()), int(frame.middleOf(1)));
        const auto at = frame.momentAt(point.x());
        const auto told = scene.lesson().lesson().runs.front().scenario;
        QContextMenuEvent click(QContextMenuEvent::Mouse, point, lanes.viewport()->mapToGlobal(point));
        QApplication::sendEvent(lanes.viewport(), &click);
        auto *menu = scene.lesson().findChild<QMenu *>(u"lessonMenu"_s);
        QVERIFY(menu && menu->findChild<QAction *>(u"crash"_s));
        QVERIFY(menu->actions().front()->text().contains(u"simulator"_s) && !menu->actions().front()->isEnabled());
        menu->findChild<QAction *>(u"crash"_s)->trigger();
        menu->close();
        QCOMPARE(tried.count(), 1);
        const auto forked = tried.first().first().value<Comparison>();
        QCOMPARE(forked.recipes, (std::vector<QByteArray>{"zk-herd-mutex", "zk-mutex"}));
        QCOMPARE(forked.scenario.planned.size(), told.planned.size() + 1);
        QCOMPARE(forked.scenario.planned.back().contender, 1);
        QCOMPARE(forked.scenario.planned.back().at, at);
        QCOMPARE(scene.lesson().lesson().runs.front().scenario, told);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestLessonsTried)
#include "tst_lessons_tried.moc"
