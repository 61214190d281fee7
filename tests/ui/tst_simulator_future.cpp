// SPDX-License-Identifier: Apache-2.0
// "Hide what comes": who is to guess what a run does sees nothing of it before the cursor was there, neither in the
// lanes nor in what is counted, broken or drawn below them. With LOCKSCOPE_SHOTS=folder it leaves pictures, dark ones
// with LOCKSCOPE_DARK=1.
#include "tests/support/fakerecording.h"
#include "tests/support/patience.h"
#include "tests/support/testmain.h"
#include "ui/pages/simulatorpage.h"
#include "ui/simulator/countertiles.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/runpanel.h"
#include "ui/simulator/scalingchart.h"
#include "ui/simulator/transportbar.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>

using ui::Comparison;

namespace {

// Two believe, from about 200 ms on.
Comparison brokenRun(quint64 seed = 1)
{
    Comparison comparison = ui::presets().front().comparison;
    comparison.recipes = {"sql-get-lock"};
    comparison.scenario.contenders = 3;
    comparison.scenario.hold = 500ms;
    comparison.scenario.seed = seed;
    contention::PlannedFault fault{.kind = contention::FaultKind::Expire, .at = 200ms, .contender = 0};
    comparison.scenario.planned = {fault};
    return comparison;
}

} // namespace

class TestSimulatorFuture : public QObject {
    Q_OBJECT

    std::unique_ptr<ui::Theme> m_theme;
    std::unique_ptr<ui::SimulatorPage> m_page;

    void play(const Comparison &comparison)
    {
        m_page->play(comparison);
        const auto isThere = [&] {
            return m_page->isSettled() && m_page->comparison().scenario == comparison.scenario
                   && m_page->panels() == comparison.recipes.size();
        };
        QVERIFY(QTest::qWaitFor(isThere, testing::patienceMs));
    }
    QPushButton *toggle() { return m_page->findChild<QPushButton *>(u"hideFutureButton"_s); }
    bool isShown(const char *name)
    {
        const auto *widget = m_page->findChild<QWidget *>(QString::fromLatin1(name));
        return widget && widget->isVisible();
    }
    const ui::CounterTiles &tiles() { return m_page->panel(0).tiles(); }
    std::optional<ui::Moment> seen() { return m_page->panel(0).lanes().frame().seen; }

    void shoot(const char *name)
    {
        if (const auto folder = qEnvironmentVariable("LOCKSCOPE_SHOTS"); !folder.isEmpty())
            QVERIFY(m_page->grab().save(u"%1/future-%2.png"_s.arg(folder, QString::fromLatin1(name))));
    }

private slots:
    void initTestCase()
    {
        const bool isDark = qEnvironmentVariableIsSet("LOCKSCOPE_DARK");
        m_theme = std::make_unique<ui::Theme>(*qApp, isDark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light);
    }
    void cleanupTestCase() { m_theme.reset(); }
    void init()
    {
        const auto withoutChart = [](const contention::Scenario &scenario, const contention::OnProgress &onProgress) {
            return scenario.keepsEvents ? contention::simulate(scenario, onProgress)
                                        : testing::fakeSimulate(scenario, onProgress);
        };
        m_page = std::make_unique<ui::SimulatorPage>(nullptr, withoutChart);
        m_page->resize(1200, 900);
        m_page->show();
        play(brokenRun());
    }
    void cleanup() { m_page.reset(); }

    void everythingIsThereUnlessItIsAskedFor()
    {
        QVERIFY(!toggle()->isChecked());
        QVERIFY(!seen());
        QVERIFY(isShown("exclusion0") && isShown("progress0"));
        QVERIFY(m_page->chart().isVisible());
        QVERIFY(tiles().wholeRun().contains("whole run"_L1));
    }

    void nothingOfWhatComesIsToBeSeen()
    {
        toggle()->click();
        QVERIFY(m_page->playback().at() == 0ms); // from the start, since all had been seen
        QCOMPARE(seen(), std::optional(ui::Moment(0)));
        QVERIFY(!isShown("exclusion0") && isShown("exclusion0-so-far"));
        QVERIFY(isShown("progress0")); // which holds: said in the same words
        QVERIFY(!tiles().wholeRun().contains("whole run"_L1));
        QVERIFY(!m_page->chart().isVisible());
        QVERIFY2(!m_page->transport().place().contains(" of "_L1), qPrintable(m_page->transport().place()));
        // What broke is said from the moment on at which it did, and stays.
        const auto broke = m_page->playback().runs().front()->recording().violations.front().at;
        m_page->playback().seek(broke - 1us);
        QVERIFY(!isShown("exclusion0") && isShown("exclusion0-so-far"));
        shoot("before");
        m_page->playback().seek(broke);
        QVERIFY(isShown("exclusion0") && !isShown("exclusion0-so-far"));
        shoot("broken");
        m_page->playback().seek(1ms);
        QVERIFY(isShown("exclusion0"));
        QCOMPARE(seen(), std::optional(broke));
        // At the end it has all been seen.
        m_page->playback().toEnd();
        QVERIFY(m_page->chart().isVisible() && isShown("effect0"));
        QVERIFY(tiles().wholeRun().contains("whole run"_L1));
        QVERIFY(m_page->transport().place().contains(" of "_L1));
        m_page->playback().toStart();
        QVERIFY(!seen());
    }

    void theNextRunIsHiddenAgain()
    {
        toggle()->click();
        m_page->playback().toEnd();
        play(brokenRun(2));
        QVERIFY(m_page->playback().at() == 0ms);
        QCOMPARE(seen(), std::optional(ui::Moment(0)));
        QVERIFY(!isShown("exclusion0"));
        toggle()->click();
        QVERIFY(!seen() && isShown("exclusion0") && m_page->chart().isVisible());
    }

    // A herd's badge counts the whole run.
    void aBadgeBetraysNothing()
    {
        Comparison herd = ui::presets().front().comparison;
        herd.scenario.contenders = 8;
        play(herd);
        const auto isBadgeShown = [this] {
            const auto labels = m_page->panel(0).findChildren<QLabel *>();
            return std::ranges::any_of(labels, [this](const QLabel *label) {
                return label->isVisible() && label->text() == m_page->panel(0).badge();
            });
        };
        QVERIFY(!m_page->panel(0).badge().isEmpty() && isBadgeShown());
        toggle()->click();
        QVERIFY(!isBadgeShown());
        m_page->playback().toEnd();
        QVERIFY(isBadgeShown());
    }

    // Who forks looks at the moment of the fault, and has not seen what follows from it.
    void aForkHidesWhatFollows()
    {
        toggle()->click();
        m_page->playback().seek(100ms);
        contention::PlannedFault fault{.kind = contention::FaultKind::Crash, .at = 100ms, .contender = 1};
        m_page->fork(fault);
        QVERIFY(QTest::qWaitFor(
            [this] { return m_page->isSettled() && m_page->comparison().scenario.planned.size() == 2; },
            testing::patienceMs));
        QCOMPARE(m_page->playback().at(), ui::Moment(100ms));
        QCOMPARE(seen(), std::optional(ui::Moment(100ms)));
    }

    void itIsRemembered()
    {
        QTemporaryDir folder;
        QSettings settings(folder.filePath(u"view.ini"_s), QSettings::IniFormat);
        toggle()->click();
        m_page->saveView(settings);
        ui::SimulatorPage other(nullptr, testing::fakeSimulate);
        other.restoreView(settings);
        QVERIFY(other.findChild<QPushButton *>(u"hideFutureButton"_s)->isChecked());
        toggle()->click();
        m_page->saveView(settings);
        other.restoreView(settings);
        QVERIFY(!other.findChild<QPushButton *>(u"hideFutureButton"_s)->isChecked());
    }
};

LOCKSCOPE_GUI_TEST(TestSimulatorFuture)
#include "tst_simulator_future.moc"
