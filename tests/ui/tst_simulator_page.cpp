// SPDX-License-Identifier: Apache-2.0
// A walk through the page of the simulator: it plays, steps, is forked, jumps to what broke, exports and reads back.
#include "tests/support/fakebackend.h"
#include "tests/support/fakerecording.h"
#include "tests/support/patience.h"
#include "tests/support/testmain.h"
#include "tests/ui/animatedpng.h"
#include "tests/ui/themedapplication.h"
#include "ui/mainwindow.h"
#include "ui/pages/simulatorpage.h"
#include "ui/simulator/countertiles.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/runpanel.h"
#include "ui/simulator/scalingchart.h"
#include "ui/simulator/scenariodialog.h"
#include "ui/simulator/transportbar.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QSemaphore>
#include <QSlider>
#include <QSpinBox>
#include <QSvgRenderer>
#include <QTemporaryDir>

using contention::FaultKind;
using contention::Scenario;
using ui::Comparison;
using ui::Moment;

namespace {

Comparison herdAgainstPredecessor(int contenders)
{
    Comparison comparison = ui::presets().front().comparison;
    comparison.scenario.contenders = contenders;
    return comparison;
}

// Two hold at once at 80 ms.
Result<contention::Recording> brokenSimulate(const Scenario &scenario, const contention::OnProgress &onProgress)
{
    auto recording = testing::fakeSimulate(scenario, onProgress);
    if (recording && scenario.recipe == "zk-herd-mutex")
        recording->violations = {{"exclusion", 80ms, u"c00 and c01 both believe to hold"_s}};
    return recording;
}

QByteArray contentOf(const QString &file)
{
    QFile from(file);
    return from.open(QIODevice::ReadOnly) ? from.readAll() : QByteArray();
}

} // namespace

class TestSimulatorPage : public QObject {
    Q_OBJECT

private:
    std::unique_ptr<ui::SimulatorPage> m_page;
    QTemporaryDir m_folder;

    ui::Playback &playback() { return m_page->playback(); }
    const ui::CounterTiles &tiles(std::size_t run) { return m_page->panel(run).tiles(); }
    bool isPlayed(const Comparison &comparison)
    {
        const auto isThere = [&] {
            return m_page->isSettled() && m_page->comparison().scenario == comparison.scenario
                   && m_page->panels() == comparison.recipes.size();
        };
        return QTest::qWaitFor(isThere, testing::patienceMs);
    }
    void open(ui::Simulate simulate, int contenders = 20)
    {
        m_page = std::make_unique<ui::SimulatorPage>(nullptr, std::move(simulate));
        m_page->resize(1200, 820);
        m_page->play(herdAgainstPredecessor(contenders));
        m_page->show();
        QVERIFY(isPlayed(herdAgainstPredecessor(contenders)));
        m_page->focusContent();
    }
    void pressOn(QWidget *widget, Qt::Key key) { QTest::keyClick(widget, key); }
    void pressKey(Qt::Key key)
    {
        m_page->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_page.get()));
        m_page->focusContent();
        pressOn(QApplication::focusWidget() ? QApplication::focusWidget() : m_page.get(), key);
    }
    QString saved(ui::ExportKind kind, const QString &name, std::size_t run = 0)
    {
        const QString file = m_folder.filePath(name);
        m_page->exportTo(kind, run, file);
        const auto isSaved = [&] { return m_page->complaint() == u"Saved "_s + name; };
        return QTest::qWaitFor(isSaved, testing::patienceMs) ? file : QString();
    }

private slots:
    void cleanup() { m_page.reset(); }

    void twoRunsStandBesideEachOtherWithTheirTotals()
    {
        open(testing::fakeSimulate);
        QCOMPARE(m_page->heading(), u"20 contenders, one lock"_s);
        QCOMPARE(m_page->chips(),
                 (QStringList{u"simulator"_s, u"seed 7"_s, u"hold 50 ms"_s, u"all queue first"_s, u"no faults"_s}));
        QCOMPARE(m_page->panels(), 2u);
        QCOMPARE(tiles(0).watchEvents(), u"190"_s); // 20 · 19 / 2
        QCOMPARE(tiles(0).wasted(), u"171"_s);
        QCOMPARE(tiles(1).watchEvents(), u"19"_s);
        QCOMPARE(tiles(1).wasted(), u"0"_s);
        const QString whole = tiles(0).wholeRun();
        QVERIFY2(whole.startsWith(u"above: from the first release on · since the start: "_s), qPrintable(whole));
        QVERIFY2(whole.endsWith(u" · whole run: wait p50 0.0 ms, longest 969.0 ms · fairness –"_s),
                 qPrintable(whole));
        QCOMPARE(m_page->panel(1).badge(), u"one wake-up per release"_s);
        QVERIFY(m_page->panel(0).badge().startsWith(u"herd"_s));
        QCOMPARE(m_page->chart().valueOf(0, 200), 200 + 200 * 199 / 2);
        QCOMPARE(m_page->chart().valueOf(1, 200), 399);
        m_page->chart().timeButton()->click();
        QVERIFY(m_page->chart().valueOf(1, 200) > 10 && m_page->chart().valueOf(1, 200) < 11); // seconds
        QVERIFY(m_page->chart().readingAt(200).startsWith(u"200 contenders\nWatch the children: 10."_s));
        const auto exclusion = m_page->findChild<QWidget *>(u"exclusion0"_s);
        QVERIFY(exclusion && !qobject_cast<QPushButton *>(exclusion)); // nothing to click: it held
        m_page->findChild<QPushButton *>(u"seedChip"_s)->click();
        QCOMPARE(QApplication::clipboard()->text(), u"7"_s);
    }

    void keysStepPlayAndSetTheSpeed()
    {
        open(testing::fakeSimulate);
        pressKey(Qt::Key_Home);
        QCOMPARE(playback().happenedInAll(), 0u);
        QCOMPARE(tiles(0).requests(), u"–"_s); // nobody has released
        pressKey(Qt::Key_Right);
        pressKey(Qt::Key_Right);
        QCOMPARE(playback().happenedInAll(), 2u);
        const auto place = u"t = 0.0 ms · event 2 of %1"_s;
        QVERIFY2(m_page->transport().place().startsWith(place.left(place.size() - 2)),
                 qPrintable(m_page->transport().place()));
        QVERIFY(m_page->sentence().contains(u"asks for the lock"_s));
        pressKey(Qt::Key_Left);
        QCOMPARE(playback().happenedInAll(), 1u);
        const int speed = playback().speed();
        pressKey(Qt::Key_Minus);
        QCOMPARE(playback().speed(), speed - 1);
        pressKey(Qt::Key_Plus);
        QCOMPARE(playback().speed(), speed);
        pressKey(Qt::Key_Space);
        QVERIFY(playback().isPlaying());
        pressKey(Qt::Key_Period);
        QVERIFY(!playback().isPlaying());
        pressKey(Qt::Key_End);
        QVERIFY(playback().isAtEnd());
    }

    void sliderScrubsAndTilesFollowTheCursor()
    {
        open(testing::fakeSimulate);
        auto *slider = m_page->transport().slider();
        slider->setValue(slider->maximum() / 2);
        QVERIFY(playback().at() > playback().end() / 2 - 5ms && playback().at() < playback().end() / 2 + 5ms);
        const int half = tiles(1).watchEvents().toInt();
        QVERIFY2(half >= 8 && half <= 11, qPrintable(tiles(1).watchEvents()));
        slider->setValue(slider->maximum());
        QCOMPARE(tiles(1).watchEvents(), u"19"_s);
        // A click into the lanes sets the cursor and chooses the lane everywhere.
        auto &lanes = m_page->panel(0).lanes();
        const auto frame = lanes.frame();
        const Moment middle = frame.from + (frame.to - frame.from) / 2;
        const QPointF at(frame.xOf(middle), frame.lanes.top() + 2.5 * frame.laneHeight);
        QTest::mouseClick(lanes.viewport(), Qt::LeftButton, {}, at.toPoint());
        QVERIFY(playback().at() > middle - 10ms && playback().at() < middle + 10ms);
        QCOMPARE(m_page->panel(1).lanes().chosenLane(), frame.laneAt(at.toPoint().y()));
    }

    void forkPlaysTheSameWithOneFaultMoreAndStaysThere()
    {
        open(testing::fakeSimulate);
        playback().seek(120ms);
        auto &lanes = m_page->panel(1).lanes();
        lanes.setFocus();
        pressOn(&lanes, Qt::Key_Down);
        pressOn(&lanes, Qt::Key_Down);
        pressOn(&lanes, Qt::Key_Return);
        auto *menu = m_page->findChild<QMenu *>(u"laneMenu"_s);
        QVERIFY(menu);
        QVERIFY(!menu->findChild<QAction *>(u"restart-empty"_s)); // no ZooKeeper does that
        menu->findChild<QAction *>(u"pause"_s)->trigger();
        Comparison forked = herdAgainstPredecessor(20);
        forked.scenario.planned = {{FaultKind::Pause, 120ms, 1, 0ms}};
        QVERIFY(isPlayed(forked));
        QCOMPARE(playback().at(), Moment(120ms));
        QVERIFY2(m_page->chips().contains(u"faults: pause c01 at 120.0 ms"_s),
                 qPrintable(m_page->chips().join(u';')));
        QCOMPARE(playback().runs()[0]->troublesOf().of(1).size(), 1u);
        menu->close();
        m_page->openForkMenu();
        m_page->findChild<QMenu *>(u"forkMenu"_s)->findChild<QAction *>(u"takeBack"_s)->trigger();
        QVERIFY(isPlayed(herdAgainstPredecessor(20)));
    }

    // The very request that was clicked is lost.
    void aMessageCanBeMadeToGoWrong()
    {
        const auto withoutChart = [](const Scenario &scenario, const contention::OnProgress &onProgress) {
            return scenario.keepsEvents ? contention::simulate(scenario, onProgress)
                                        : testing::fakeSimulate(scenario, onProgress);
        };
        open(withoutChart, 5);
        const auto run = playback().runs()[1];
        const auto requests = run->requestsOf().of(2);
        QVERIFY(!requests.empty());
        const auto sent = run->event(requests.back());
        auto &lanes = m_page->panel(1).lanes();
        const auto frame = lanes.frame();
        const QPointF point(frame.xOf(sent.at), frame.lanes.top() + 2.5 * frame.laneHeight);
        emit lanes.menuRequested(2, lanes.viewport()->mapToGlobal(point.toPoint()));
        auto *menu = m_page->findChild<QMenu *>(u"laneMenu"_s);
        QVERIFY(menu && menu->findChild<QAction *>(u"pause"_s)); // the contender's, too
        auto *lose = menu->findChild<QAction *>(u"message-lose-request"_s);
        QVERIFY(lose);
        lose->trigger();
        menu->close();
        QVERIFY(QTest::qWaitFor([&] { return m_page->isSettled(); }, 30'000));
        QCOMPARE(m_page->comparison().scenario.planned.size(), 1u);
        const auto forked = playback().runs()[1];
        const auto troubles = forked->troublesOf().of(2);
        QVERIFY(!troubles.empty());
        const auto &fault = forked->event(troubles.front());
        QCOMPARE(fault.what, QByteArray("lose-request"));
        QCOMPARE(fault.at, sent.at);
        QVERIFY(forked->recording().violations.empty()); // it tries again
    }

    void violationIsShownAndAClickJumpsThere()
    {
        open(brokenSimulate);
        auto *jump = m_page->findChild<QPushButton *>(u"exclusion0"_s);
        QVERIFY(jump);
        QCOMPARE(jump->text(), u"✕ at 80.0 ms"_s);
        playback().seek(79ms); // not yet
        QCOMPARE(jump->text(), u"● until 80.0 ms"_s);
        playback().seek(80ms);
        QCOMPARE(jump->text(), u"✕ at 80.0 ms"_s);
        playback().seek(79ms);
        jump->click();
        QCOMPARE(playback().at(), Moment(80ms));
        QCOMPARE(m_page->sentence(), u"c00 and c01 both believe to hold."_s);
        QVERIFY(!qobject_cast<QPushButton *>(m_page->findChild<QWidget *>(u"exclusion1"_s)));
    }

    void exportsAndReadsBack()
    {
        open(testing::fakeSimulate);
        const auto png = saved(ui::ExportKind::Png, u"a.png"_s);
        QVERIFY(!QImage(png).isNull());
        const auto svg = saved(ui::ExportKind::Svg, u"a.svg"_s);
        QVERIFY(QSvgRenderer(svg).isValid());
        // All lanes of both runs, and the legend of what is in them.
        const auto drawn = QString::fromUtf8(contentOf(svg));
        QCOMPARE(drawn.count(u">c00<"_s), 2);
        QCOMPARE(drawn.count(u">c19<"_s), 2);
        QVERIFY(drawn.contains(u">is woken without getting the lock<"_s) && drawn.contains(u">holds<"_s));
        QVERIFY(!drawn.contains(u">paused<"_s));
        // Frame after frame leads to the still picture that other programs show.
        const auto animation = contentOf(saved(ui::ExportKind::Animation, u"a.animated.png"_s));
        const auto played = testing::playAnimation(animation);
        QVERIFY2(played.failure.isEmpty(), qPrintable(played.failure));
        QVERIFY2(played.frames > 20, QByteArray::number(played.frames).constData());
        QCOMPARE(played.milliseconds, 119 * 100 + 4000);
        QCOMPARE(played.canvas, QImage::fromData(animation).convertToFormat(QImage::Format_RGB888));
        const auto csv = contentOf(saved(ui::ExportKind::Csv, u"a.csv"_s, 1));
        QCOMPARE(csv.count('\n'), static_cast<qsizetype>(playback().runs()[1]->eventCount()) + 1);
        const auto json = QJsonDocument::fromJson(contentOf(saved(ui::ExportKind::Json, u"a.json"_s)));
        QCOMPARE(json[u"schema"].toString(), u"lockscope/1"_s);
        QCOMPARE(json[u"runs"].toArray().size(), 2);
        QCOMPARE(json[u"runs"][0][u"watchEvents"].toInt(), 190);
        const auto recording = saved(ui::ExportKind::Recording, u"a.lockscope"_s, 0);
        m_page->openRecordings({recording});
        QVERIFY(QTest::qWaitFor([&] { return m_page->isSettled() && m_page->panels() == 1; }, 30'000));
        QCOMPARE(tiles(0).watchEvents(), u"190"_s);
        QCOMPARE(m_page->comparison().recipes, std::vector<QByteArray>{"zk-herd-mutex"});

        m_page->exportTo(ui::ExportKind::Csv, 0, m_folder.filePath(u"no/such/folder.csv"_s));
        QVERIFY(
            QTest::qWaitFor([&] { return m_page->complaint().startsWith(u"folder.csv was not saved: "_s); }, 30'000));
        QFile hostile(m_folder.filePath(u"h.lockscope"_s));
        QVERIFY(hostile.open(QIODevice::WriteOnly));
        hostile.write("{\"schema\":\"lockscope-recording/1\",\"scenario\":{\"contenders\":1e300}}");
        hostile.close();
        m_page->openRecordings({hostile.fileName()});
        QVERIFY(QTest::qWaitFor([&] { return m_page->complaint().startsWith(u"h.lockscope: "_s); }, 30'000));
        QCOMPARE(m_page->panels(), 1u); // what was shown stays
    }

    void cancelledRunLeavesTheEarlierComparison()
    {
        // Theirs as well: a run that is not wanted any more may end after this function.
        const auto mayEnd = std::make_shared<QSemaphore>();
        const auto begun = std::make_shared<std::atomic<int>>(0);
        const auto slow = [mayEnd, begun](const Scenario &scenario,
                                          const contention::OnProgress &onProgress) -> Result<contention::Recording> {
            if (scenario.keepsEvents && scenario.contenders == 33) {
                ++*begun;
                while (!mayEnd->tryAcquire(1, 5)) {
                    if (!onProgress({1ms, 1, 33}))
                        return Error{ErrorCode::Cancelled, u"cancelled"_s};
                }
            }
            return testing::fakeSimulate(scenario, onProgress);
        };
        open(slow);
        m_page->play(herdAgainstPredecessor(33));
        QVERIFY(QTest::qWaitFor([&] { return *begun == 1; }, 30'000));
        QVERIFY(!m_page->isSettled());
        m_page->play(herdAgainstPredecessor(44)); // takes its place
        QVERIFY(isPlayed(herdAgainstPredecessor(44)));
        QCOMPARE(tiles(1).watchEvents(), u"43"_s);

        m_page->play(herdAgainstPredecessor(33));
        QVERIFY(QTest::qWaitFor([&] { return *begun == 2; }, 30'000));
        m_page->findChild<QPushButton *>(u"cancelRun"_s)->click();
        QVERIFY(QTest::qWaitFor([&] { return m_page->isSettled(); }, 30'000));
        QCOMPARE(m_page->comparison().scenario.contenders, 44);
        QVERIFY(m_page->complaint().isEmpty());
    }

    void dialogSaysWhatIsWrongBeforeItPlays()
    {
        open(testing::fakeSimulate);
        m_page->openScenario();
        auto *dialog = m_page->window()->findChild<ui::ScenarioDialog *>(u"scenarioDialog"_s);
        QVERIFY(dialog);
        auto *play = dialog->findChild<QPushButton *>(u"play"_s);
        QVERIFY(play->isEnabled());
        dialog->findChild<QLineEdit *>(u"hold"_s)->setText(u"soon"_s);
        QVERIFY(!play->isEnabled());
        QVERIFY(!dialog->comparison());
        QVERIFY(dialog->comparison().error().message.startsWith(u"hold: "_s));
        dialog->findChild<QLineEdit *>(u"hold"_s)->setText(u"20ms"_s);
        dialog->findChild<QLineEdit *>(u"seed"_s)->setText(u"-1"_s);
        QVERIFY(!play->isEnabled());
        dialog->findChild<QLineEdit *>(u"seed"_s)->setText(u"41"_s);
        QVERIFY(!dialog->findChild<QCheckBox *>(u"fault-failover"_s)->isEnabled());
        dialog->findChild<QCheckBox *>(u"fault-crash"_s)->setChecked(true);
        dialog->findChild<QSpinBox *>(u"contenders"_s)->setValue(12);
        dialog->findChild<QComboBox *>(u"recipe0"_s)
            ->setCurrentIndex(dialog->findChild<QComboBox *>(u"recipe0"_s)->findData(QByteArray("zk-mutex")));
        dialog->findChild<QComboBox *>(u"recipe1"_s)->setCurrentIndex(0);
        QVERIFY(play->isEnabled());
        const auto wanted = *dialog->comparison();
        QCOMPARE(wanted.recipes, std::vector<QByteArray>{"zk-mutex"});
        QCOMPARE(wanted.scenario.faults, std::vector<FaultKind>{FaultKind::Crash});
        play->click();
        QVERIFY(isPlayed(wanted));
        QCOMPARE(m_page->heading(), u"12 contenders, one lock"_s);
        QVERIFY(m_page->chips().contains(u"seed 41"_s));
        QVERIFY(m_page->chips().contains(u"hold 20 ms"_s));
    }

    void formSetsWhatAScenarioHas()
    {
        open(testing::fakeSimulate);
        m_page->openScenario();
        auto *dialog = m_page->window()->findChild<ui::ScenarioDialog *>(u"scenarioDialog"_s);
        const auto choice = [&](const char *name) { return dialog->findChild<QComboBox *>(QLatin1StringView(name)); };
        const auto number = [&](const char *name) { return dialog->findChild<QSpinBox *>(QLatin1StringView(name)); };
        const auto line = [&](const char *name) { return dialog->findChild<QLineEdit *>(QLatin1StringView(name)); };
        const auto recipe = [&](const QByteArray &id) {
            choice("recipe1")->setCurrentIndex(0);
            choice("recipe0")->setCurrentIndex(choice("recipe0")->findData(id));
        };
        recipe("broken-timeout-as-grant"); // a mistake made on purpose is played as any recipe
        QVERIFY(!number("tries")->isEnabled() && !choice("aof")->isEnabled());
        line("wait")->setText(u"2s"_s);
        number("tries")->setValue(2);
        line("sessionTimeout")->setText(u"6s"_s);
        choice("locks")->setCurrentIndex(2);
        choice("servers")->setCurrentText(u"3"_s);
        number("latency")->setValue(3000);
        const auto wanted = dialog->comparison();
        QVERIFY2(wanted, qPrintable(wanted ? QString() : wanted.error().message));
        const auto &scenario = wanted->scenario;
        QCOMPARE(scenario.tries, 2);
        QCOMPARE(scenario.sessionTimeout, 6s);
        QCOMPARE(scenario.locks, 2);
        QVERIFY(scenario.isOppositeOrder);
        QCOMPARE(scenario.servers, 3);
        QCOMPARE(scenario.mostLatency, 3ms);
        QCOMPARE(scenario.leastLatency, 2ms);
        choice("locks")->setCurrentIndex(0);
        recipe("redis-set-nx");
        QVERIFY(choice("aof")->isEnabled() && !choice("servers")->isEnabled());
        choice("aof")->setCurrentIndex(2);
        number("acquires")->setValue(2);
        const auto onRedis = dialog->comparison();
        QVERIFY2(onRedis, qPrintable(onRedis ? QString() : onRedis.error().message));
        QCOMPARE(onRedis->scenario.aof, contention::Aof::Always);
        QCOMPARE(onRedis->scenario.acquires, 2);
        QCOMPARE(onRedis->scenario.servers, 0);
    }

    void narrowPageStacksWithoutGrowing()
    {
        open(testing::fakeSimulate);
        m_page->resize(800, 400); // the window at 1024x768: words say left and right
        QVERIFY(QTest::qWaitFor([&] { return m_page->width() == 800; }, 30'000));
        QCOMPARE(m_page->panel(1).y(), m_page->panel(0).y());
        m_page->resize(740, 400); // what is narrow asks for less room
        QVERIFY(QTest::qWaitFor([&] { return m_page->panel(1).y() > m_page->panel(0).y(); }, 30'000));
        const auto isSmall = [&] {
            m_page->resize(560, 400); // as soon as the layout says it can
            return m_page->width() == 560;
        };
        QVERIFY2(QTest::qWaitFor(isSmall, 30'000), qPrintable(QString::number(m_page->minimumSizeHint().width())));
        QVERIFY(m_page->panel(1).y() > m_page->panel(0).y());
        QVERIFY(m_page->panel(0).width() <= 560);
        m_page->resize(1200, 820);
        QVERIFY(QTest::qWaitFor([&] { return m_page->panel(1).y() == m_page->panel(0).y(); }, 30'000));
    }

    void hundredThousandLanesPaintWhatIsInSight()
    {
        Comparison large = herdAgainstPredecessor(100'000);
        large.recipes = {"zk-mutex"};
        open(testing::fakeSimulate);
        m_page->play(large);
        QVERIFY(isPlayed(large));
        auto &lanes = m_page->panel(0).lanes();
        auto *overview = m_page->findChild<QPushButton *>(u"overviewButton"_s);
        QTRY_VERIFY(overview->isChecked()); // a crowd opens in it
        overview->setChecked(false);
        playback().seek(playback().end() / 2);
        QVERIFY(lanes.verticalScrollBar()->value() > 0); // it follows who holds
        QVERIFY(!lanes.grab().isNull());
        QVERIFY(lanes.cost().lanes > 0 && lanes.cost().lanes <= lanes.height() / 26 + 2);
        QVERIFY(lanes.cost().bars + lanes.cost().marks <= lanes.cost().lanes * lanes.width());
    }

    void pageOfTheWindowPlaysInTheSimulatedWorld()
    {
        testing::FakeBackend backend;
        ui::MainWindow window(backend);
        QVERIFY(window.showPage(u"simulator"_s));
        QVERIFY(!window.isFirstSnapshotComplete());
        window.show();
        auto *page = window.findChild<ui::SimulatorPage *>();
        QVERIFY(QTest::qWaitFor([&] { return page->panels() == 2 || !page->complaint().isEmpty(); }, 60'000));
        QVERIFY2(page->complaint().isEmpty(), qPrintable(page->complaint()));
        QVERIFY(page->playback().at() == Moment{} && page->panel(0).tiles().watchEvents() == u"–"_s);
        page->playback().toEnd();
        // 100 contenders: N − 1 told by the predecessor's watch, N(N−1)/2 by the children's.
        QCOMPARE(page->panel(0).tiles().watchEvents(), u"4,950"_s);
        QCOMPARE(page->panel(1).tiles().watchEvents(), u"99"_s);
        QCOMPARE(page->panel(1).tiles().requests(), u"199"_s);
        QVERIFY(page->playback().eventsInAll() > 5'000);
    }
};

LOCKSCOPE_TEST_IN(testing::ThemedApplication, TestSimulatorPage)
#include "tst_simulator_page.moc"
