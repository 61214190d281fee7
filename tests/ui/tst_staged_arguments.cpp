// SPDX-License-Identifier: Apache-2.0
// The two arguments against Redlock, staged by hand as tests/claims.md lists it: in no more than ten clicks each,
// what must hold breaks, and the page says so.
#include "tests/support/fakerecording.h"
#include "tests/support/testmain.h"
#include "tests/ui/themedapplication.h"
#include "ui/pages/simulatorpage.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/runpanel.h"

#include <QAction>
#include <QContextMenuEvent>
#include <QMenu>
#include <QPushButton>

using ui::Moment;

namespace {

constexpr int mostClicks = 10;

// What the page opens with, and its chart, are not what is asked here.
Result<contention::Recording> withoutCharts(const contention::Scenario &scenario,
                                            const contention::OnProgress &onProgress)
{
    return scenario.keepsEvents && scenario.recipe == "redlock" ? contention::simulate(scenario, onProgress)
                                                                : testing::fakeSimulate(scenario, onProgress);
}

} // namespace

class TestStagedArguments : public QObject {
    Q_OBJECT

    std::unique_ptr<ui::SimulatorPage> m_page;
    int m_clicks = 0;

    const contention::Recording &recording() { return m_page->playback().runs().front()->recording(); }
    bool isBroken()
    {
        return std::ranges::count(recording().violations, QByteArray("exclusion"), &contention::Violation::invariant)
               > 0;
    }
    void settle()
    {
        QVERIFY(QTest::qWaitFor([this] { return m_page->isSettled(); }, 60'000));
    }

    // "Compare", and one of its entries.
    void choosePreset(const QString &title)
    {
        for (auto *action : m_page->findChildren<QAction *>()) {
            if (action->text() == title) {
                action->trigger();
                m_clicks += 2;
                settle();
                QVERIFY(!isBroken()); // not by itself
                return;
            }
        }
        QFAIL(qPrintable(u"no preset "_s + title));
    }
    // With the right button into the bar of who holds, then an entry of a menu in that menu.
    void makeItHappen(int lane, Moment at, const QString &entry)
    {
        auto &lanes = m_page->panel(0).lanes();
        const auto frame = lanes.frame();
        const QPoint place(qRound(frame.xOf(at)), qRound(frame.middleOf(lane)));
        QContextMenuEvent click(QContextMenuEvent::Mouse, place, lanes.viewport()->mapToGlobal(place));
        QCoreApplication::sendEvent(lanes.viewport(), &click);
        // It acts where one clicked, to a pixel.
        QVERIFY(std::chrono::abs(m_page->playback().at() - at) < (frame.to - frame.from) / 100);
        auto *menu = m_page->findChild<QMenu *>(u"laneMenu"_s);
        QVERIFY(menu);
        auto *action = menu->findChild<QAction *>(entry);
        QVERIFY2(action, qPrintable(entry));
        m_clicks += 3;
        action->trigger();
        menu->close();
        settle();
    }
    Moment whileItHolds(int lane)
    {
        for (const auto &span : m_page->playback().runs().front()->spans(lane)) {
            if (span.state == ui::LaneState::Holds)
                return span.from + (span.to - span.from) / 3;
        }
        return {};
    }

private slots:
    void init()
    {
        m_clicks = 0;
        m_page = std::make_unique<ui::SimulatorPage>(nullptr, withoutCharts);
        m_page->resize(1024, 768);
        m_page->show();
        settle();
    }
    void cleanup() { m_page.reset(); }

    // A client stops for longer than its lease lasts, and writes when it goes on.
    void aClientIsPaused()
    {
        choosePreset(u"Redlock on five servers"_s);
        makeItHappen(0, whileItHolds(0), u"pause-twice"_s);
        QVERIFY(isBroken());
        QVERIFY(m_clicks <= mostClicks);
        auto *jump = m_page->findChild<QPushButton *>(u"exclusion0"_s);
        QVERIFY(jump);
        jump->click();
        QVERIFY2(m_page->sentence().contains("paused"_L1), qPrintable(m_page->sentence()));
    }

    // The lock stands on three servers; the clock of one of them jumps, and the other client gets a majority.
    void aClockJumps()
    {
        choosePreset(u"Redlock on three of five servers"_s);
        makeItHappen(0, whileItHolds(0), u"clock-server3-forward"_s);
        QVERIFY(isBroken());
        QVERIFY(m_clicks <= mostClicks);
    }

    // On one of those that it does not stand on: nothing happens.
    void anotherClockDoesNotMatter()
    {
        choosePreset(u"Redlock on three of five servers"_s);
        makeItHappen(0, whileItHolds(0), u"clock-server1-forward"_s);
        QVERIFY(!isBroken());
    }

    void aChosenClockIsInTheFile()
    {
        contention::Scenario scenario{.recipe = "redlock"};
        contention::PlannedFault fault{.kind = contention::FaultKind::ClockJump,
                                       .lasts = 3s,
                                       .clock = contention::PlannedFault::Clock::Server,
                                       .isBack = true,
                                       .server = 2};
        scenario.planned = {fault};
        const auto read = contention::Scenario::fromJson(scenario.toJson());
        QVERIFY(read);
        QCOMPARE(*read, scenario);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestStagedArguments)
#include "tst_staged_arguments.moc"
