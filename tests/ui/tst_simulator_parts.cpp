// SPDX-License-Identifier: Apache-2.0
// The parts of the simulator's page that need no window: the index of a run, the cursor, the words.
#include "tests/support/testmain.h"
#include "tests/ui/lanepicture.h"
#include "ui/simulator/countertiles.h"
#include "ui/simulator/lanesview.h"
#include "ui/simulator/lanepaint.h"
#include "ui/simulator/playback.h"
#include "ui/simulator/runner.h"
#include "ui/simulator/runpanel.h"
#include "ui/simulator/serverstrip.h"
#include "ui/simulator/simulatortext.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QImage>
#include <QPainter>
#include <QTemporaryDir>

using namespace lockscope::ui;
using contention::Event;
using contention::Mark;
using contention::Recording;

class TestSimulatorParts : public QObject, testing::LanePicture {
    Q_OBJECT

private slots:
    void laneIsWhatItsEventsMakeIt()
    {
        const auto run =
            played(one({eventAt(1ms, 0, Mark::Joins), eventAt(2ms, 0, Mark::Holds), eventAt(3ms, 0, Mark::Pauses),
                        eventAt(4ms, 1, Mark::Joins), eventAt(5ms, 0, Mark::Resumes), eventAt(6ms, 0, Mark::Releases),
                        eventAt(7ms, 1, Mark::Dies), eventAt(9ms, 1, Mark::Comes)}));
        const auto first = run->spans(0);
        QCOMPARE(first.size(), 4u);
        QCOMPARE(first[0].state, LaneState::Waits);
        QCOMPARE(first[1].state, LaneState::Holds);
        QVERIFY(!first[1].isPaused);
        QVERIFY(first[2].isPaused && first[2].state == LaneState::Holds); // it still believes
        QCOMPARE(first[2].to, Moment(5ms));
        QCOMPARE(first[3].to, Moment(6ms));
        const auto second = run->spans(1);
        QCOMPARE(second.size(), 2u);
        QCOMPARE(second[1].state, LaneState::Dead);
        QCOMPARE(second[1].to, Moment(9ms));
        QVERIFY(run->spans(7).empty() && run->spans(-1).empty());
    }

    void readersAndVersionHoldersHaveTheirOwnLook()
    {
        auto recording =
            one({eventAt(1ms, 0, Mark::Joins), eventAt(2ms, 0, Mark::Holds), eventAt(3ms, 0, Mark::Releases)});
        recording.events.front().what = "read";
        QVERIFY(played(recording)->spans(0)[1].isReader);
        recording.events.front().what = "write";
        QVERIFY(!played(recording)->spans(0)[1].isReader);
        recording.scenario.recipe = "sql-version";
        QCOMPARE(played(recording)->spans(0)[1].state, LaneState::Works);
        recording.scenario.recipe = "zk-mutex";
        recording.events.insert(recording.events.begin() + 1, eventAt(1500us, 0, Mark::Gets));
        QCOMPARE(played(recording)->spans(0)[1].state, LaneState::HasOne);
        QCOMPARE(played(recording)->laneAt(0, 1600us).state, LaneState::HasOne);
        QCOMPARE(played(recording)->laneAt(0, 2ms).state, LaneState::Holds);
        QCOMPARE(played(recording)->laneAt(0, 3ms).state, LaneState::Away);
    }

    // What the legend names is in the picture, and the other way round.
    void aServerThatIsDownIsNoFaultOfALane()
    {
        contention::Scenario scenario{.recipe = "redlock", .contenders = 2, .hold = 500ms};
        contention::PlannedFault restart{.kind = contention::FaultKind::RestartEmpty, .at = 100ms, .lasts = 200ms};
        scenario.planned = {restart};
        const auto signsOf = [](const contention::Scenario &one, std::optional<Moment> until) {
            const auto run = played(*contention::simulate(one));
            const auto signs = Legend::signsOf({run}, until);
            return std::pair(std::ranges::count(signs, LaneGlyph::Fault),
                             std::ranges::count(signs, LaneGlyph::ServerDown));
        };
        QCOMPARE(signsOf(scenario, {}), (std::pair<std::ptrdiff_t, std::ptrdiff_t>(0, 1)));
        QCOMPARE(signsOf(scenario, 50ms), (std::pair<std::ptrdiff_t, std::ptrdiff_t>(0, 0)));
        scenario.planned.front().kind = contention::FaultKind::Pause;
        QCOMPARE(signsOf(scenario, {}), (std::pair<std::ptrdiff_t, std::ptrdiff_t>(1, 0)));
        scenario.planned.front().kind = contention::FaultKind::Crash; // has a sign of its own
        QCOMPARE(signsOf(scenario, {}), (std::pair<std::ptrdiff_t, std::ptrdiff_t>(0, 0)));
    }

    void unseenEventsAreNotPainted()
    {
        const auto run = herd(8);
        auto frame = frameOf(*run, 40);
        frame.cursor = frame.to / 4;
        const auto isEmptyRight = [&] {
            QImage image(620, 420, QImage::Format_RGB32);
            image.fill(lightTokens().panel);
            QPainter painter(&image);
            paintLanes(painter, *run, frame, lightTokens());
            paintCursor(painter, frame, lightTokens());
            painter.end();
            const int from = static_cast<int>(frame.xOf(frame.cursor)) + 6;
            for (int x = from; x < 600; ++x) {
                for (int y = 0; y < 320; ++y) {
                    if (image.pixelColor(x, y) != lightTokens().panel)
                        return false;
                }
            }
            return true;
        };
        QVERIFY(!isEmptyRight()); // pale, and there
        frame.seen = frame.cursor;
        QVERIFY(isEmptyRight());
        frame.seen = frame.to / 2;
        QVERIFY(!isEmptyRight());
    }

    void theServersGoOnAndBack()
    {
        contention::Scenario scenario{.recipe = "redis-set-nx", .contenders = 2, .ttl = 3s};
        const auto simulated = contention::simulate(scenario);
        QVERIFY(simulated);
        ServerStrip strip;
        strip.setRun(played(*simulated));
        strip.setMoment(10ms, false);
        const auto words = strip.serverWords();
        QVERIFY2(words.size() == 1 && words.front().startsWith(u"sim-lock  = c00’s · 3.0 s left"_s),
                 qPrintable(words.join(u'\n')));
        QCOMPARE(strip.beliefs().front(), u"holds: c00"_s);
        strip.setMoment(simulated->elapsed, false);
        QCOMPARE(strip.serverWords(), QStringList(u"empty"_s));
        strip.setMoment(10ms, false);
        QCOMPARE(strip.serverWords(), words);
        strip.setMoment(Moment{}, true);
        QCOMPARE(strip.serverWords(), QStringList(u"empty"_s));
        QVERIFY(strip.beliefs().isEmpty());
    }

    void eventsOfNoLaneAreNoLane()
    {
        const auto run = played(one({eventAt(1ms, contention::nobody, Mark::Fault), eventAt(2ms, 5, Mark::Joins)}));
        QCOMPARE(run->lanes(), 2);
        QVERIFY(run->troublesOf().of(0).empty());
        QVERIFY(run->spans(0).empty());
        QCOMPARE(eventSentence(*run, 0).left(6), u"Fault:"_s);
    }

    void talliesGrowToTheTotals()
    {
        const auto run = herd(60);
        const auto &total = run->recording().counters;
        QCOMPARE(total.watchEvents, 60 * 59 / 2);
        QVERIFY(run->eventCount() > 3 * 1024); // more than one step of the tallies
        Tally last;
        for (std::size_t count = 0; count <= run->eventCount(); ++count) {
            const Tally now = run->tallyAfter(count).value_or(Tally{});
            QVERIFY(now.requests >= last.requests && now.watchEvents >= last.watchEvents
                    && now.wastedWakeups >= last.wastedWakeups);
            last = now;
        }
        QCOMPARE(last.requests, total.requests);
        QCOMPARE(last.watchEvents, total.watchEvents);
        QCOMPARE(last.wastedWakeups, total.wastedWakeups);
        // Counted one by one in the middle.
        const std::size_t middle = run->eventCount() / 2;
        qint64 requests = 0;
        for (std::size_t i = 0; i < middle; ++i)
            requests += run->event(i).mark == Mark::Request;
        QCOMPARE(run->wholeTallyAfter(middle).requests, requests);
        QVERIFY(run->tallyAfter(middle));
        QCOMPARE(run->tallyAfter(middle)->requests, requests); // nobody asked before the first release
        const Moment wait = run->waitP99After(middle, run->event(middle - 1).at);
        QVERIFY(wait > Moment{} && wait < total.waits.p99);
    }

    void theWaitOf99In100IsThatOfTheSortedWaits()
    {
        std::vector<Event> events;
        std::vector<Moment> waits;
        quint64 chance = 1;
        for (int i = 0; i < 700; ++i) {
            chance = chance * 6364136223846793005 + 1442695040888963407;
            waits.push_back(Moment(qint64(chance >> 33) % 1000 + 1)); // equal ones among them
            const Moment begin(i * 2000);
            events.push_back(eventAt(begin, 0, Mark::Joins));
            events.push_back(eventAt(begin + waits.back(), 0, Mark::Holds));
        }
        events.push_back(eventAt(Moment(2000 * 700), 0, Mark::Releases));
        const auto run = played(one(std::move(events)));
        for (std::size_t count = 1; count <= waits.size(); ++count) {
            std::vector<Moment> sorted(waits.begin(), waits.begin() + std::ptrdiff_t(count));
            std::sort(sorted.begin(), sorted.end());
            QCOMPARE(run->waitP99After(2 * count, run->event(2 * count - 1).at), sorted[(count * 99 + 99) / 100 - 1]);
        }
    }

    // Whoever waits for ever is not left out while the others are counted, and a lock that nobody gets has no zero.
    void aWaitThatGoesOnCounts()
    {
        auto recording =
            one({eventAt(0ms, 0, Mark::Joins), eventAt(1ms, 0, Mark::Holds), eventAt(2ms, 1, Mark::Joins),
                 eventAt(3ms, 1, Mark::Request), eventAt(900ms, contention::nobody, Mark::Breaks)});
        recording.counters.waits.p99 = 898ms;
        const auto run = played(recording);
        QCOMPARE(run->waitP99After(1, 0ms), Moment{});
        QCOMPARE(run->waitP99After(2, 1ms), Moment(1ms));
        QCOMPARE(run->waitP99After(4, 502ms), Moment(500ms));
        QCOMPARE(run->waitP99After(5, 900ms), Moment(898ms));
        QVERIFY(!run->tallyAfter(4) && !run->tallyAfter(5));
        QCOMPARE(run->wholeTallyAfter(5).requests, 1);
        CounterTiles tiles;
        tiles.show(*run, 5, 900ms);
        QCOMPARE(tiles.requests(), u"–"_s);
        QCOMPARE(tiles.waitP99(), momentText(898ms));
    }

    void eventOfTheOwnNodeIsNotCounted()
    {
        const auto run =
            played(one({eventAt(1ms, 0, Mark::Joins), eventAt(2ms, 0, Mark::Holds), eventAt(2ms, 1, Mark::Joins),
                        eventAt(3ms, 0, Mark::Releases), eventAt(4ms, 0, Mark::WatchEvent), // its own node went
                        eventAt(4ms, 1, Mark::WatchEvent), eventAt(5ms, 1, Mark::Holds)}));
        QCOMPARE(run->wholeTallyAfter(5).watchEvents, 0);
        QCOMPARE(run->wholeTallyAfter(6).watchEvents, 1);
        QCOMPARE(handOverSentence(*run, 7), u"c00 released; one is woken, and only that one; c01 holds now"_s);
        QCOMPARE(handOverSentence(*run, 3), QString());
    }

    void cursorStepsThroughAllRunsInTheOrderOfTime()
    {
        Playback playback;
        playback.setRuns({herd(5), predecessor(5)});
        QVERIFY(playback.isAtEnd());
        const std::size_t all = playback.eventsInAll();
        playback.toStart();
        QCOMPARE(playback.happenedInAll(), 0u);
        QVERIFY(!playback.lastRun());
        std::vector<std::pair<std::size_t, std::size_t>> places;
        Moment last{};
        for (std::size_t i = 0; i < all; ++i) {
            places.push_back({playback.happened(0), playback.happened(1)});
            playback.stepForward();
            QVERIFY(playback.at() >= last);
            last = playback.at();
            QCOMPARE(playback.happenedInAll(), i + 1);
        }
        QVERIFY(playback.isAtEnd());
        playback.stepForward(); // nowhere to go
        QCOMPARE(playback.happenedInAll(), all);
        for (std::size_t i = all; i-- > 0;) {
            playback.stepBack(); // over the same places
            QCOMPARE(std::pair(playback.happened(0), playback.happened(1)), places[i]);
        }
        QCOMPARE(playback.at(), Moment{});
    }

    void playingGoesBySpeedAndEndsAtTheEnd()
    {
        Playback playback;
        playback.setRuns({predecessor(10)});
        playback.play(); // from the start, as it stood at the end
        QVERIFY(playback.isPlaying());
        playback.advance(20ms);
        QCOMPARE(playback.at(), Moment(20ms));
        playback.setSpeed(0);
        QCOMPARE(Playback::speedText(Playback::speeds().front()), u"1/64 ×"_s);
        playback.advance(64ms);
        QCOMPARE(playback.at(), Moment(21ms));
        playback.setSpeed(99); // unlimited
        playback.advance(1s);
        QVERIFY(playback.isAtEnd());
        QVERIFY(!playback.isPlaying());
    }

    void sentencesSayWhatHappened()
    {
        Playback playback;
        playback.setRuns({herd(100), predecessor(100)});
        playback.seek(1ms + 50ms + 600us); // the first has released, and everybody was told
        QCOMPARE(
            sentenceAt(playback),
            u"Watch the predecessor: c01 sends getChildren. Watch the children: c00 released; 99 are woken, 98 of them wasted. Watch the predecessor: c00 released; one is woken, and only that one."_s);
        playback.toStart();
        QVERIFY(sentenceAt(playback).startsWith(u"Nothing has happened yet"_s));
        playback.toEnd();
        QCOMPARE(
            sentenceAt(playback),
            u"All is over after 5.10 s. Watch the children: 5,050 requests and 4,851 wasted wake-ups. Watch the predecessor: 199 requests and no wasted wake-up."_s);
        playback.setRuns({predecessor(3)});
        playback.toStart();
        playback.stepForward();
        QCOMPARE(sentenceAt(playback), u"c00 asks for the lock."_s);
    }

    void wordsForWakeUps()
    {
        QCOMPARE(wakeUpsOf(predecessor(100)->recording()).words, u"one wake-up per release"_s);
        const auto many = wakeUpsOf(herd(100)->recording());
        QVERIFY(many.isHerd);
        QCOMPARE(many.words, u"herd: 50.0 wake-ups per release"_s);
        QCOMPARE(momentText(640us), u"640 µs"_s);
        QCOMPARE(momentText(300ms), u"300.0 ms"_s);
        QCOMPARE(momentText(9100ms), u"9.10 s"_s);
        QCOMPARE(axisText(2500ms), u"2.5 s"_s);
    }

    void hostileFilesAreRefused()
    {
        QTemporaryDir folder;
        const auto file = folder.filePath(u"x.lockscope"_s);
        const auto write = [&](const QByteArray &bytes) {
            QFile to(file);
            QVERIFY(to.open(QIODevice::WriteOnly));
            QCOMPARE(to.write(bytes), bytes.size());
        };
        QVERIFY(!loadRun(folder.filePath(u"none"_s)));
        write("\x00\xff{{{");
        const auto garbage = loadRun(file);
        QVERIFY(!garbage);
        QVERIFY(garbage.error().message.startsWith(u"x.lockscope: "_s));
        auto recording = predecessor(3)->recording();
        recording.events.back().at = Moment::max();
        write(recording.save());
        const auto endless = loadRun(file);
        QVERIFY(!endless);
        QVERIFY(endless.error().message.contains(u"hundred years"_s));
        write(predecessor(3)->recording().save());
        const auto good = loadRun(file);
        QVERIFY2(good, good ? "" : qPrintable(good.error().message));
        QCOMPARE((*good)->eventCount(), predecessor(3)->eventCount());
    }
};

LOCKSCOPE_GUI_TEST(TestSimulatorParts)
#include "tst_simulator_parts.moc"
