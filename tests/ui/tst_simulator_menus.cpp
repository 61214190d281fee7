// SPDX-License-Identifier: Apache-2.0
// Where the page of the simulator looks, and what a click there offers: the cursor is in sight, and a server's line
// has that server's faults.
#include "tests/support/fakerecording.h"
#include "tests/support/patience.h"
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/pages/simulatorpage.h"
#include "ui/simulator/comparison.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/runpanel.h"

#include <QContextMenuEvent>
#include <QLabel>
#include <QMenu>
#include <QPushButton>

using ui::Comparison;

class TestSimulatorMenus : public QObject {
    Q_OBJECT

    std::unique_ptr<ui::SimulatorPage> m_page;

    ui::Playback &playback() { return m_page->playback(); }
    bool isPlayed(const Comparison &comparison)
    {
        const auto isThere = [&] {
            return m_page->isSettled() && m_page->comparison().scenario == comparison.scenario
                   && m_page->panels() == comparison.recipes.size();
        };
        return QTest::qWaitFor(isThere, testing::patienceMs);
    }
    static Comparison herdAgainstPredecessor(int contenders)
    {
        Comparison comparison = ui::presets().front().comparison;
        comparison.scenario.contenders = contenders;
        return comparison;
    }
    void open(ui::Simulate simulate, int contenders)
    {
        m_page = std::make_unique<ui::SimulatorPage>(nullptr, std::move(simulate));
        m_page->resize(1200, 820);
        m_page->play(herdAgainstPredecessor(contenders));
        m_page->show();
        QVERIFY(isPlayed(herdAgainstPredecessor(contenders)));
    }

private slots:
    void cleanup() { m_page.reset(); }

    // A menu says whose faults it offers, and of several servers which one.
    void aServerOfSeveralIsChosen()
    {
        const auto withoutChart = [](const contention::Scenario &scenario, const contention::OnProgress &onProgress) {
            return scenario.keepsEvents ? contention::simulate(scenario, onProgress)
                                        : testing::fakeSimulate(scenario, onProgress);
        };
        open(withoutChart, 3);
        Comparison redlock = ui::presets()[4].comparison;
        m_page->play(redlock);
        QVERIFY(isPlayed(redlock));
        auto &lanes = m_page->panel(0).lanes();
        const auto frame = lanes.frame();
        const QPoint point = QPointF(frame.lanes.center().x(), frame.servers.height() * 0.7).toPoint(); // s4
        QContextMenuEvent click(QContextMenuEvent::Mouse, point, lanes.viewport()->mapToGlobal(point));
        QApplication::sendEvent(lanes.viewport(), &click);
        auto *menu = m_page->findChild<QMenu *>(u"serverMenu"_s);
        QVERIFY(menu);
        QVERIFY(menu->actions().front()->text().startsWith(u"server s4 at "_s));
        QVERIFY(!menu->actions().front()->isSeparator() && !menu->actions().front()->isEnabled());
        QVERIFY(!menu->findChild<QAction *>(u"pause"_s));
        menu->findChild<QAction *>(u"restart-empty"_s)->trigger();
        menu->close();
        QVERIFY(QTest::qWaitFor([&] { return m_page->isSettled(); }, 30'000));
        QCOMPARE(m_page->comparison().scenario.planned.back().only, 3);
        QVERIFY2(m_page->chips().join(u' ').contains(u"restart-empty of server 4 at"_s),
                 qPrintable(m_page->chips().join(u' ')));
        m_page->openForkMenu();
        menu = m_page->findChild<QMenu *>(u"forkMenu"_s);
        QVERIFY(menu->findChild<QAction *>(u"restart-empty"_s) && menu->findChild<QAction *>(u"restart-empty-s2"_s));
        menu->close();
    }

    // What is typed beside the lock is part of what is played, and said as a fault is.
    void actsAreInTheHeading()
    {
        open(testing::fakeSimulate, 3);
        QVERIFY(!m_page->chips().join(u' ').contains("typed"_L1));
        Comparison typing = herdAgainstPredecessor(3);
        typing.recipes = {"zk-mutex"};
        typing.scenario.acts = {{5ms, 1, "create /sim/config v1"}, {6ms, 0, "ls -w /sim"}, {7ms, -1, "stop s1"}};
        typing.scenario.servers = 3;
        m_page->play(typing);
        QVERIFY(isPlayed(typing));
        QVERIFY2(m_page->chips().contains(
                     u"typed: c01: create /sim/config v1 at 5.0 ms, c00: ls -w /sim at 6.0 ms and 1 more"_s),
                 qPrintable(m_page->chips().join(u';')));
        const auto labels = m_page->findChildren<QLabel *>();
        QVERIFY(
            std::ranges::any_of(labels, [](const QLabel *label) { return label->toolTip().contains("stop s1"_L1); }));
    }

    // Where it opens, too.
    void theCursorIsInSight()
    {
        open(testing::fakeSimulate, 100);
        const auto isInSight = [&] {
            const auto frame = m_page->panel(0).lanes().frame();
            return playback().at() >= frame.from && playback().at() <= frame.to;
        };
        auto *overview = m_page->findChild<QPushButton *>(u"overviewButton"_s);
        QTRY_VERIFY(overview->isChecked()); // a crowd opens with all of its time
        QVERIFY(isInSight());
        overview->setChecked(false);
        QVERIFY(m_page->panel(0).lanes().zoom() > 1);
        QVERIFY(isInSight());
        playback().toStart();
        QVERIFY(isInSight());
        Comparison few = herdAgainstPredecessor(3);
        m_page->play(few);
        QVERIFY(isPlayed(few));
        QTRY_COMPARE(m_page->panel(0).lanes().zoom(), 1.0); // all of it
        QVERIFY(isInSight());
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestSimulatorMenus)
#include "tst_simulator_menus.moc"
