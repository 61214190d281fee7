// SPDX-License-Identifier: Apache-2.0
// Scenarios and recordings as files: what was written is read back, what is wrong is said.
#include "core/contention/recording.h"
#include "core/contention/scenario.h"
#include "core/contention/simulation.h"
#include "core/contention/trace.h"
#include "core/contention/traced/tracedsession.h"
#include "core/rules/catalogue.h"
#include "tests/simulate/zookeeperworld.h"
#include "tests/support/testmain.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>

using namespace lockscope;
using namespace lockscope::contention;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

Scenario full()
{
    Scenario scenario;
    scenario.recipe = "curator-rwlock";
    scenario.contenders = 12;
    scenario.rounds = 3;
    scenario.hold = 20ms;
    scenario.seed = 123456789012345;
    scenario.faults = {FaultKind::Pause, FaultKind::LoseReply};
    scenario.planned = {{FaultKind::Crash, 1500us, 3, 20ms}};
    scenario.arrival = Arrival::Spread;
    scenario.arriveWithin = 5ms;
    scenario.perProcess = 4;
    scenario.readersPercent = 50;
    scenario.locks = 2;
    scenario.isOppositeOrder = true;
    scenario.wait = 7s;
    scenario.tries = 3;
    scenario.servers = 5;
    scenario.leastLatency = 100us;
    scenario.mostLatency = 5ms;
    scenario.acts = {{1500us, 2, "get -w /sim/lock"}, {2ms, -1, "stop s1"}};
    scenario.checksFencingTokens = true;
    return scenario;
}

} // namespace

class TestRecording : public QObject {
    Q_OBJECT
private slots:
    void aScenarioComesBackAsItWas()
    {
        const auto scenario = full();
        const auto read = Scenario::fromJson(scenario.toJson());
        QVERIFY(read);
        QVERIFY(*read == scenario);
        QVERIFY(scenario.check());
    }

    // What --json printed, what --save wrote, and the scenario in it: all three are the same run again.
    void whatWasWrittenIsPlayedAgain_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        for (const auto &recipe : recipes::catalogue()) {
            if (recipe.acquirable && recipe.simulated)
                QTest::newRow(recipe.id) << recipe.id;
        }
    }
    void whatWasWrittenIsPlayedAgain()
    {
        QFETCH(QByteArray, recipe);
        const auto &info = *recipes::findRecipe(recipe);
        Scenario scenario;
        scenario.recipe = recipe;
        scenario.contenders = 3;
        scenario.hold = 20ms;
        scenario.seed = 77;
        scenario.ttl = 4s;
        scenario.sessionTimeout = 5s;
        scenario.wait = 9s;
        scenario.limit = info.counted ? 2 : 1;
        scenario.readersPercent = info.readWrite ? 50 : 0;
        scenario.arrival = Arrival::Spread;
        scenario.arriveWithin = 30ms;
        scenario.checksFencingTokens = true;
        scenario.planned = {{FaultKind::Pause, 15ms, 1, 200ms}};
        const auto played = contention::simulate(scenario);
        QVERIFY2(played, played ? "" : qPrintable(played.error().message));
        const QJsonObject printed{{u"schema"_s, u"lockscope/1"_s},
                                  {u"scenario"_s, scenario.toJson()},
                                  {u"runs"_s, QJsonArray{played->toJson()}}};
        for (const auto &written : {scenario.toJson(), printed, QJsonDocument::fromJson(played->save()).object()}) {
            const auto read = scenariosOf(written);
            QVERIFY2(read, read ? "" : qPrintable(read.error().message));
            QCOMPARE(read->size(), std::size_t(1));
            QVERIFY(read->front() == scenario);
            const auto again = contention::simulate(read->front());
            QVERIFY(again && again->eventHash == played->eventHash);
        }
    }

    void severalRunsSayEachTheirOwn()
    {
        Scenario one, other;
        one.recipe = "zk-mutex";
        other.recipe = "redlock";
        other.faults = {FaultKind::RestartEmpty}; // --fault all is not the same for both
        const QJsonArray runs{QJsonObject{{u"scenario"_s, one.toJson()}},
                              QJsonObject{{u"scenario"_s, other.toJson()}}};
        const auto read =
            scenariosOf({{u"schema"_s, u"lockscope/1"_s}, {u"scenario"_s, one.toJson()}, {u"runs"_s, runs}});
        QVERIFY(read && read->size() == 2);
        QVERIFY(read->front() == one && read->back() == other);
        QVERIFY(!scenariosOf({{u"schema"_s, u"lockscope/1"_s}})); // not the default scenario in its place
        QVERIFY(!scenariosOf({{u"scenario"_s, 5}}));
    }

    void whatIsLeftOutIsTheDocumentedDefault()
    {
        const auto read = Scenario::fromJson({});
        QVERIFY(read);
        QCOMPARE(read->rounds, 1);
        QCOMPARE(read->hold, 50ms);
        QVERIFY(read->arrival == Arrival::Queued && !read->wait);
    }

    void wrongWordsAreNamed_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QString>("named");
        QTest::newRow("no recipe") << QByteArray(R"({"recipe":"nope"})") << "no recipe \"nope\"";
        QTest::newRow("two on Redis") << QByteArray(R"({"recipe":"redlock","locks":2})") << "one lock";
        QTest::newRow("three locks") << QByteArray(R"({"locks":3})") << "\"locks\"";
        QTest::newRow("no order") << QByteArray(R"({"locks":2,"order":"any"})") << "\"order\"";
        QTest::newRow("two forced") << QByteArray(R"({"locks":2,"faults":["force-release"]})") << "none can be force";
        QTest::newRow("seen only") << QByteArray(R"({"recipe":"zk-election"})") << "seen but not acquired";
        QTest::newRow("nobody") << QByteArray(R"({"contenders":0})") << "\"contenders\"";
        QTest::newRow("half a contender") << QByteArray(R"({"contenders":1.5})") << "\"contenders\"";
        QTest::newRow("a text for a number") << QByteArray(R"({"rounds":"many"})") << "\"rounds\"";
        QTest::newRow("fault") << QByteArray(R"({"faults":["rain"]})") << "lose-request";
        QTest::newRow("impossible fault") << QByteArray(R"({"recipe":"zk-mutex","faults":["failover"]})")
                                          << "failover is not simulated for zk-mutex";
        QTest::newRow("no such contender")
            << QByteArray(R"({"contenders":2,"planned":[{"fault":"crash","contender":2}]})") << "no contender 2";
        QTest::newRow("readers of a mutex") << QByteArray(R"({"readersPercent":10})") << "no read mode";
        QTest::newRow("permits of a mutex") << QByteArray(R"({"limit":2})") << "one permit";
        QTest::newRow("seed") << QByteArray(R"({"seed":-1})") << "\"seed\"";
        QTest::newRow("a field misspelt")
            << QByteArray(R"({"contender":3})") << "there is no field \"contender\"; there are: recipe";
        QTest::newRow("a fault's field misspelt")
            << QByteArray(R"({"planned":[{"fault":"crash","at":5}]})") << "no field \"planned[0].at\"";
    }
    void wrongWordsAreNamed()
    {
        QFETCH(QByteArray, json);
        QFETCH(QString, named);
        const auto read = Scenario::fromJson(QJsonDocument::fromJson(json).object());
        const auto message = read ? read->check().error().message : read.error().message;
        QVERIFY2(message.contains(named), qPrintable(message));
    }

    void everyFaultHasItsNameAndItsRecipes()
    {
        for (const auto kind : allFaults()) {
            QCOMPARE(faultByName(nameOf(kind)), std::optional(kind));
            QVERIFY(!summaryOf(kind).isEmpty());
        }
        const auto ofZooKeeper = faultsFor("zk-mutex"), ofRedis = faultsFor("redis-set-nx");
        QVERIFY(std::count(ofZooKeeper.begin(), ofZooKeeper.end(), FaultKind::Lag) == 1);
        QVERIFY(std::count(ofZooKeeper.begin(), ofZooKeeper.end(), FaultKind::RestartEmpty) == 0);
        QVERIFY(std::count(ofRedis.begin(), ofRedis.end(), FaultKind::RestartEmpty) == 1);
        QVERIFY(faultsFor("nope").empty());
    }

    void aRecordingComesBackAsItWas()
    {
        Recording recording;
        recording.scenario = full();
        recording.events = {{10us, 0, Mark::Joins, false, 0, "write", {}},
                            {25us, 1, Mark::WatchEvent, true, 0, "deleted", "/lock/\xff\n"},
                            {25us, nobody, Mark::Fault, false, 0, "pause", {}},
                            {40us, 11, Mark::Holds, false, 77, "x-0000000001", {}}};
        recording.counters.requests = 9;
        recording.counters.waits = {1ms, 2ms, 1500us};
        recording.violations = {{"exclusion", 40us, QStringLiteral("two of them")}};
        recording.eventHash = 0xfedcba9876543210;
        recording.leftBehind = {"/lock/x"};
        recording.isCut = true;
        recording.eventsNotKept = 3'000'000'000;
        const auto read = Recording::load(recording.save());
        QVERIFY2(read, read ? "" : qPrintable(read.error().message));
        QVERIFY(read->scenario == recording.scenario);
        QCOMPARE(read->events.size(), recording.events.size());
        QCOMPARE(read->events[1].where, recording.events[1].where);
        QVERIFY(read->events[1].isWasted);
        QCOMPARE(read->events[3].token, 77);
        QCOMPARE(read->counters.waits.max, Moment(1500));
        QCOMPARE(read->violations.front().message, QStringLiteral("two of them"));
        QCOMPARE(read->eventHash, recording.eventHash);
        QVERIFY(read->isCut);
        QCOMPARE(read->eventsNotKept, recording.eventsNotKept);
        QCOMPARE(read->save(), recording.save());
    }

    void whatIsNotKeptIsCounted()
    {
        Scenario scenario;
        scenario.contenders = 2;
        Trace trace(
            scenario, [] { return Moment(5); }, 3);
        for (int i = 0; i < 5; ++i)
            trace.sent(1, "list", "/x", 10);
        const auto recording = trace.take("sim");
        QCOMPARE(recording.events.size(), std::size_t(3));
        QVERIFY(recording.isCut);
        QCOMPARE(recording.eventsNotKept, 2);
        QCOMPARE(recording.counters.allRequests, 5);
        QCOMPARE(recording.toJson().value(QStringLiteral("eventsNotKept")).toInteger(), 2);
        // Who wants none of them misses none.
        scenario.keepsEvents = false;
        Trace counting(
            scenario, [] { return Moment(5); }, 3);
        counting.sent(1, "list", "/x", 10);
        const auto counted = counting.take("sim");
        QVERIFY(!counted.isCut && counted.events.empty() && counted.eventsNotKept == 0);
    }

    // A contender that is killed has no eyes any more: neither its answers nor its watches are its own.
    void whatComesAfterASessionHasGoneIsNotWrittenDown_data()
    {
        QTest::addColumn<bool>("goes");
        QTest::addColumn<int>("events");
        QTest::newRow("it stays") << false << 5;
        QTest::newRow("it goes") << true << 2;
    }
    void whatComesAfterASessionHasGoneIsNotWrittenDown()
    {
        QFETCH(bool, goes);
        QFETCH(int, events);
        lockscope::testing::ZooKeeperWorld world;
        const auto client = world.open();
        Trace trace(
            Scenario(), [] { return Moment(0); }, 100);
        auto traced = std::make_unique<TracedSession>(*client.session, trace, 0);
        const zk::Watch watch(world.loop);
        const auto listed = traced->children(ZPath("/"), watch, Deadline::never());
        const auto made =
            traced->create(ZPath("/a"), {}, zk::CreateMode::Persistent, zk::openAcl(), Deadline::never());
        if (goes)
            traced.reset();
        QVERIFY(world.await(listed));
        QVERIFY(world.await(made));
        QVERIFY(world.waitFor([&] { return watch.event().isComplete(); }));
        QCOMPARE(trace.take("sim").events.size(), std::size_t(events));
    }

    void whatIsNoRecordingIsRefused_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("no JSON") << QByteArray("\x7f"
                                               "ELF");
        QTest::newRow("another thing") << QByteArray(R"({"schema":"lockscope/1"})");
        QTest::newRow("hostile scenario")
            << QByteArray(R"({"schema":"lockscope-recording/1","scenario":{"contenders":1e18}})");
        QTest::newRow("a lane that is not there") << QByteArray(
            R"({"schema":"lockscope-recording/1","scenario":{"contenders":2},"events":[[1,2,"joins","","",0,false]]})");
        QTest::newRow("time goes back") << QByteArray(
            R"({"schema":"lockscope-recording/1","scenario":{"contenders":2},"events":[[5,0,"joins","","",0,false],[4,0,"holds","","",0,false]]})");
    }
    void whatIsNoRecordingIsRefused()
    {
        QFETCH(QByteArray, bytes);
        const auto read = Recording::load(bytes);
        QVERIFY(!read);
        QVERIFY(read.error().code == ErrorCode::BadInput && read.error().message.startsWith(u"this is no recording"));
    }

    void theTableIsSafeInASpreadsheet()
    {
        Recording recording;
        recording.scenario.contenders = 200;
        recording.events = {{1us, 7, Mark::Request, false, 0, "=1+1", "a,\"b\""}};
        QCOMPARE(recording.toCsv(), QByteArray("at_us,contender,mark,what,where,token,wasted\n"
                                               "1,c007,request,'=1+1,\"a,\"\"b\"\"\",,0\n"));
    }
};

LOCKSCOPE_TEST(TestRecording)
#include "tst_recording.moc"
