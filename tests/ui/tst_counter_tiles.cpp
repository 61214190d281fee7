// SPDX-License-Identifier: Apache-2.0
// The tiles below a run: what a lesson may choose, counted up to the cursor, and at the end as the recording has it.
#include "tests/support/testmain.h"
#include "tests/ui/tilecounters.h"
#include "ui/simulator/countertiles.h"
#include "ui/simulator/simulatortext.h"

#include <QLabel>

using namespace lockscope::ui;
using contention::Mark;

namespace {

contention::Event happens(Moment at, int contender, Mark mark, const char *what = "")
{
    return contention::Event{.at = at, .contender = contender, .mark = mark, .what = what};
}

// c00 believes for too long: from 4 to 7 ms there are two. c02 gives up, tries again, and gives up for good.
PlayedRun twoBelieve()
{
    contention::Recording recording;
    recording.scenario.recipe = "redis-set-nx";
    recording.scenario.contenders = 3;
    recording.events = {happens(1ms, 0, Mark::Joins, "write"), happens(1ms, 0, Mark::Holds),
                        happens(2ms, 1, Mark::Joins, "write"), happens(2ms, 2, Mark::Joins, "write"),
                        happens(3ms, 2, Mark::GivesUp),        happens(3ms, 2, Mark::Joins, "again"),
                        happens(4ms, 1, Mark::Holds),          happens(4ms, 1, Mark::Breaks, "exclusion"),
                        happens(7ms, 0, Mark::Loses),          happens(8ms, 2, Mark::GivesUp),
                        happens(9ms, 1, Mark::Releases),       happens(9ms, 1, Mark::Answer)};
    return PlayedRun(std::move(recording));
}

QString figureAt(const PlayedRun &run, const char *name, Moment at)
{
    return tileKind(name)->figure(run, run.countUntil(at), at).text;
}

} // namespace

class TestCounterTiles : public QObject {
    Q_OBJECT
private slots:
    void eachNameOfALessonHasATile()
    {
        for (const auto &name : lessons::tileNames()) {
            const auto *kind = tileKind(name);
            QVERIFY2(kind, name);
            QVERIFY(!kind->title().isEmpty() && !kind->tip().isEmpty());
        }
        QVERIFY(!tileKind("elapsedMs"));
    }

    void theyCountUpToTheCursor()
    {
        const auto run = twoBelieve();
        QCOMPARE(figureAt(run, "grants", 3ms), u"1"_s);
        QCOMPARE(figureAt(run, "grants", 4ms), u"2"_s);
        QCOMPARE(figureAt(run, "violations", 3ms), u"0"_s);
        QCOMPARE(figureAt(run, "violations", 4ms), u"1"_s);
        QCOMPARE(figureAt(run, "longestOverlapMs", 3ms), u"never"_s);
        QCOMPARE(figureAt(run, "longestOverlapMs", 4ms), u"now"_s);        // it begins: "0.0 ms" would deny it
        QCOMPARE(figureAt(run, "longestOverlapMs", 6ms), momentText(2ms)); // it goes on
        QCOMPARE(figureAt(run, "longestOverlapMs", 8ms), momentText(3ms));
        QCOMPARE(figureAt(run, "gaveUp", 2ms), u"0"_s);
        QCOMPARE(tileKind("gaveUp")->figure(run, 5, 3ms).text, u"1"_s);
        QCOMPARE(figureAt(run, "gaveUp", 3ms), u"0"_s); // it tries again
        QCOMPARE(figureAt(run, "gaveUp", 8ms), u"1"_s);
        QCOMPARE(tileKind("violations")->figure(run, 8, 4ms).isBad, 1);
    }

    // One event before the end everything is counted that the recording counts; nothing jumps with the last one.
    void theyComeToTheCountersOfTheRecording_data()
    {
        const Rows<QByteArray> row("id");
        for (const auto *id :
             {"redlock-argued", "sql-connection", "deadlock", "watches", "shared", "pause-and-fencing"})
            row(id, QByteArray(id));
    }
    void theyComeToTheCountersOfTheRecording()
    {
        QFETCH(QByteArray, id);
        const auto all = lessons::loadLessons({lessons::lessonFolders().front()});
        const auto lesson = std::ranges::find(all.lessons, id, &lessons::Lesson::id);
        QVERIFY(lesson != all.lessons.end());
        for (const auto &one : lesson->runs) {
            auto recording = contention::simulate(one.scenario);
            QVERIFY(recording);
            // What says nothing at the end counts nothing: an answer, that somebody does something beside the lock.
            recording->events.push_back(
                {.at = recording->events.back().at, .contender = contention::nobody, .mark = Mark::Answer});
            const PlayedRun run(*std::move(recording));
            for (const auto *name :
                 {"grants", "gaveUp", "longestOverlapMs", "violations", "allRequests", "allWatchEvents"})
                QCOMPARE(tileKind(name)->figure(run, run.eventCount() - 1, run.end()).text,
                         tileKind(name)->figure(run, run.eventCount(), run.end()).text);
        }
    }

    void aLessonChoosesThem()
    {
        const auto run = twoBelieve();
        CounterTiles tiles;
        tiles.resize(400, 120);
        tiles.show(run, run.eventCount(), run.end());
        QVERIFY(!tiles.requests().isEmpty() && tiles.figure("grants").isEmpty());
        QVERIFY(tiles.wholeRun().contains("from the first release on"_L1));
        tiles.choose({"grants", "longestOverlapMs"});
        tiles.show(run, run.countUntil(8ms), 8ms);
        QCOMPARE(tiles.figure("grants"), u"2"_s);
        QVERIFY(tiles.requests().isEmpty());
        QCOMPARE(tiles.figure("longestOverlapMs"), momentText(3ms));
        // Nothing there is counted from the first release on, and so nothing says it.
        QVERIFY(!tiles.wholeRun().contains("first release"_L1));
        int seen = 0;
        for (const auto *label : tiles.findChildren<QLabel *>())
            seen += !label->parentWidget()->isHidden() && label->parentWidget() != &tiles;
        QCOMPARE(seen, 4); // two names, two figures
    }
};

LOCKSCOPE_GUI_TEST(TestCounterTiles)
#include "tst_counter_tiles.moc"
