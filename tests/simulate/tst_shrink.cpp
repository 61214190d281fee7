// SPDX-License-Identifier: Apache-2.0
// From a run that broke something to the shortest found that breaks the same: smaller, the same whenever it is asked
// for, and replayed by what is printed of it.
#include "core/contention/recording.h"
#include "core/contention/simulation.h"
#include "tests/support/testmain.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QRegularExpression>

#include <algorithm>

using namespace lockscope::contention;

namespace {

Scenario crowded()
{
    Scenario scenario{.recipe = "redis-set-nx", .contenders = 12, .rounds = 4, .hold = 200ms, .seed = 5, .ttl = 3s};
    scenario.faults = faultsFor(scenario.recipe);
    return scenario;
}

// What happened, without what the faults did.
std::vector<Event> before(const Recording &recording, contention::Moment until)
{
    std::vector<Event> events;
    for (const auto &event : recording.events) {
        if (event.at < until)
            events.push_back(event);
    }
    return events;
}

} // namespace

class TestShrink : public QObject {
    Q_OBJECT
private slots:
    void aShorterScheduleBreaksTheSame()
    {
        const auto found = shrink(crowded(), breaks("exclusion"), 300);
        QVERIFY(found);
        const auto &shortest = found->recording.scenario;
        QVERIFY(breaks("exclusion")(found->recording));
        QCOMPARE(shortest.rounds, 1);
        QCOMPARE(shortest.contenders, 2); // one alone breaks no exclusion
        QCOMPARE(shortest.faults.size(), std::size_t(1));
        QVERIFY(found->replays <= 300);
        QVERIFY(!found->recording.events.empty());
    }

    // A process that dies while the others of its run still connect, as shorter schedules have it, comes again.
    void aClientThatDiesWhileAllConnectComesAgain()
    {
        Scenario scenario{.recipe = "redisson-fair-lock", .contenders = 6, .rounds = 3, .seed = 7};
        scenario.perProcess = 2;
        scenario.faults = faultsFor(scenario.recipe);
        const auto found = shrink(scenario, breaks("exclusion"), 300);
        QVERIFY2(found, found ? "" : qPrintable(found.error().message));
    }

    void theSameSearchFindsTheSame()
    {
        const auto once = shrink(crowded(), breaks("effect"), 40), again = shrink(crowded(), breaks("effect"), 40);
        QVERIFY(once && again);
        QVERIFY(once->recording.scenario == again->recording.scenario);
        QCOMPARE(once->recording.eventHash, again->recording.eventHash);
        QCOMPARE(once->replays, again->replays);
        QVERIFY(once->replays <= 40);
    }

    // Of planned faults only those stay that it takes.
    void plannedFaultsAreLeftOut()
    {
        Scenario scenario{.recipe = "redis-set-nx",
                          .contenders = 4,
                          .hold = 500ms,
                          .planned = {{FaultKind::Delay, 5ms, 1, {}},
                                      {FaultKind::Pause, 20ms, 0, 8s},
                                      {FaultKind::ClockJump, 40ms, 2, {}},
                                      {FaultKind::Drift, 60ms, 3, {}}},
                          .ttl = 3s};
        const auto found = shrink(scenario, breaks("exclusion"), 200);
        QVERIFY(found);
        const auto &planned = found->recording.scenario.planned;
        QCOMPARE(planned.size(), std::size_t(1));
        QVERIFY(planned.front().kind == FaultKind::Pause);
    }

    void withoutReplaysItIsAsItWas()
    {
        const auto found = shrink(crowded(), breaks("exclusion"), 0);
        QVERIFY(found);
        QCOMPARE(found->replays, 0);
        auto told = crowded();
        QVERIFY(found->recording.scenario == told);
    }

    void scenarioWithoutViolationIsRefused()
    {
        auto sound = crowded();
        sound.faults.clear();
        const auto found = shrink(sound, breaks("exclusion"), 10);
        QVERIFY(!found);
        QCOMPARE(found.error().code, ErrorCode::BadInput);
    }

    // Withheld, a fault does not happen, and up to then everything is as it was; also the other faults' turn.
    void aWithheldFaultChangesNothingBeforeIt()
    {
        auto scenario = crowded();
        scenario.rounds = 1;
        std::erase(scenario.faults,
                   FaultKind::DeadThread); // nobody gets the lock after it, and the others never come
        const auto whole = contention::simulate(scenario);
        QVERIFY(whole);
        int told = 0;
        for (std::size_t number = 0; number < scenario.faults.size(); ++number) {
            auto without = scenario;
            without.withheld = {static_cast<int>(number)};
            const auto rest = contention::simulate(without);
            QVERIFY(rest);
            const auto kind = nameOf(scenario.faults[number]);
            const auto isIt = [&](const Event &event) { return event.mark == Mark::Fault && event.what == kind; };
            QVERIFY2(std::none_of(rest->events.begin(), rest->events.end(), isIt), kind);
            const auto happened = std::find_if(whole->events.begin(), whole->events.end(), isIt);
            QVERIFY2(happened != whole->events.end(), kind);
            const auto then = before(*whole, happened->at), now = before(*rest, happened->at);
            QVERIFY2(then.size() == now.size(), kind);
            for (std::size_t i = 0; i < then.size(); ++i)
                QVERIFY2(then[i].what == now[i].what && then[i].at == now[i].at, kind);
            told += then.empty() ? 0 : 1;
        }
        QVERIFY(told > 0);
    }

    void aWithheldFaultSurvivesJson()
    {
        auto scenario = crowded();
        scenario.withheld = {1, 3};
        const auto back = Scenario::fromJson(scenario.toJson());
        QVERIFY(back && *back == scenario);
        auto object = scenario.toJson();
        object.insert(u"withheld"_s, QJsonArray{-1});
        QVERIFY(!Scenario::fromJson(object));
    }

    void theCommandPlaysIt()
    {
        auto scenario = crowded();
        scenario.faults = {FaultKind::Pause, FaultKind::LoseReply};
        scenario.checksFencingTokens = true;
        QCOMPARE(commandLine(scenario),
                 u"lockscopectl simulate --recipe redis-set-nx --contenders 12 --rounds 4 --hold 200ms --seed 5 "
                 "--ttl 3000ms --fault pause --fault lose-reply --fencing"_s);
        // What has no option goes as a whole.
        scenario.withheld = {1};
        const auto command = commandLine(scenario);
        const auto from = command.indexOf(u"--scenario '"_s), to = command.lastIndexOf(u'\'');
        QVERIFY(from > 0 && to == command.size() - 1);
        const auto json = QJsonDocument::fromJson(command.mid(from + 12, to - from - 12).toUtf8());
        const auto back = Scenario::fromJson(json.object());
        QVERIFY(back && *back == scenario);
    }

    // What a crash does to who polls begins with the crash: pages of polling would hide it.
    void repeatedRequestsAreListedOnce()
    {
        Scenario scenario{.recipe = "redis-setnx-expire", .contenders = 4, .seed = 6, .faults = {FaultKind::Crash}};
        const auto played = simulate(scenario);
        QVERIFY(played);
        QVERIFY(played->events.size() > 1000);
        const auto lines = eventLines(*played, "progress", 200);
        QVERIFY2(lines.size() < 60, qPrintable(lines.join(u'\n')));
        QVERIFY2(!lines.filter(QRegularExpression(u"dies|crash"_s)).isEmpty(), qPrintable(lines.join(u'\n')));
        QVERIFY2(lines.filter(u" lines before"_s).isEmpty(), qPrintable(lines.first()));
        // None is lost: those that stand there, and those that are counted.
        const QRegularExpression fold(u"the same (\\d+) times more, until"_s);
        qint64 requests = 0;
        for (qsizetype i = 0; i < lines.size(); ++i) {
            const auto match = fold.match(lines[i]);
            if (match.hasMatch())
                requests += match.captured(1).toLongLong();
            requests += lines[i].contains(u"request   SETNX"_s) ? 1 : 0;
        }
        const auto end = std::ranges::find(played->events, Mark::Breaks, &Event::mark);
        QCOMPARE(requests, std::count_if(played->events.begin(), end, [](const Event &event) {
                     return event.mark == Mark::Request && event.what == "SETNX";
                 }));
    }

    void theEventsEndWhereItBreaks()
    {
        const auto found = shrink(crowded(), breaks("exclusion"), 100);
        QVERIFY(found);
        const auto lines = eventLines(found->recording, "exclusion", 1000);
        QVERIFY(lines.size() > 5);
        QVERIFY2(lines.first().contains(u"c00"_s), qPrintable(lines.first()));
        QVERIFY2(lines.last().contains(u"all believe they hold it"_s), qPrintable(lines.last()));
        QVERIFY(
            std::any_of(lines.begin(), lines.end(), [](const QString &line) { return line.contains(u"fault"_s); }));
        const auto last = eventLines(found->recording, "exclusion", 3);
        QCOMPARE(last.size(), 4);
        QCOMPARE(last.last(), lines.last());
        QVERIFY2(last.first().contains(u"%1 lines before"_s.arg(lines.size() - 3)), qPrintable(last.first()));
    }
};

LOCKSCOPE_TEST(TestShrink)
#include "tst_shrink.moc"
