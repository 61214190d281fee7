// SPDX-License-Identifier: Apache-2.0
// Scenarios and recordings as files: what was written is read back, what is wrong is said.
#include "core/contention/recording.h"
#include "core/contention/scenario.h"
#include "core/contention/simulation.h"
#include "core/contention/trace.h"
#include "core/contention/traced/tracedport.h"
#include "core/rules/catalogue.h"
#include "tests/simulate/zookeeperworld.h"
#include "tests/support/testmain.h"

#include <QJsonArray>
#include <QJsonDocument>

using namespace lockscope::contention;

namespace {

Scenario full()
{
    return Scenario{.recipe = "curator-rwlock",
                    .contenders = 12,
                    .rounds = 3,
                    .hold = 20ms,
                    .seed = 123456789012345,
                    .faults = {FaultKind::Pause, FaultKind::LoseReply},
                    .planned = {{FaultKind::Crash, 1500us, 3, 20ms}},
                    .acts = {{1500us, 2, "get -w /sim/lock"}, {2ms, -1, "stop s1"}},
                    .arrival = Arrival::Spread,
                    .arriveWithin = 5ms,
                    .perProcess = 4,
                    .locks = 2,
                    .isOppositeOrder = true,
                    .readersPercent = 50,
                    .tries = 3,
                    .servers = 5,
                    .leastLatency = 100us,
                    .mostLatency = 5ms,
                    .wait = 7s,
                    .checksFencingTokens = true};
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
    void writtenScenarioIsPlayedAgain_data()
    {
        const Rows<QByteArray> row("recipe");
        for (const auto &recipe : recipes::catalogue()) {
            if (recipe.acquirable && recipe.simulated)
                row(recipe.id, recipe.id);
        }
    }
    void writtenScenarioIsPlayedAgain()
    {
        QFETCH(QByteArray, recipe);
        const auto &info = *recipes::findRecipe(recipe);
        Scenario scenario{.recipe = recipe,
                          .contenders = 3,
                          .hold = 20ms,
                          .seed = 77,
                          .planned = {{FaultKind::Pause, 15ms, 1, 200ms}},
                          .arrival = Arrival::Spread,
                          .arriveWithin = 30ms,
                          .limit = info.counted ? 2 : 1,
                          .readersPercent = info.readWrite ? 50 : 0,
                          .ttl = 4s,
                          .sessionTimeout = 5s,
                          .wait = 9s,
                          .checksFencingTokens = true};
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

    void missingFieldHasTheDocumentedDefault()
    {
        const auto read = Scenario::fromJson({});
        QVERIFY(read);
        QCOMPARE(read->rounds, 1);
        QCOMPARE(read->hold, 50ms);
        QVERIFY(read->arrival == Arrival::Queued && !read->wait);
    }

    void wrongWordsAreNamed_data()
    {
        const Rows<QByteArray, QString> row("json", "named");
        row("unknown recipe", QByteArray(R"({"recipe":"nope"})"), u"unknown recipe \"nope\""_s);
        row("two on Redis", QByteArray(R"({"recipe":"redlock","locks":2})"), u"one lock"_s);
        row("three locks", QByteArray(R"({"locks":3})"), u"\"locks\""_s);
        row("no order", QByteArray(R"({"locks":2,"order":"any"})"), u"\"order\""_s);
        row("two forced", QByteArray(R"({"locks":2,"faults":["force-release"]})"), u"none can be force"_s);
        row("seen only", QByteArray(R"({"recipe":"zk-election"})"), u"seen but not acquired"_s);
        row("nobody", QByteArray(R"({"contenders":0})"), u"\"contenders\""_s);
        row("half a contender", QByteArray(R"({"contenders":1.5})"), u"\"contenders\""_s);
        row("a text for a number", QByteArray(R"({"rounds":"many"})"), u"\"rounds\""_s);
        row("fault", QByteArray(R"({"faults":["rain"]})"), u"lose-request"_s);
        row("impossible fault", QByteArray(R"({"recipe":"zk-mutex","faults":["failover"]})"),
            u"failover is not simulated for zk-mutex"_s);
        row("no such contender", QByteArray(R"({"contenders":2,"planned":[{"fault":"crash","contender":2}]})"),
            u"contender 2, which does not exist"_s);
        row("readers of a mutex", QByteArray(R"({"readersPercent":10})"), u"no read mode"_s);
        row("permits of a mutex", QByteArray(R"({"limit":2})"), u"one permit"_s);
        row("seed", QByteArray(R"({"seed":-1})"), u"\"seed\""_s);
        row("a field misspelt", QByteArray(R"({"contender":3})"),
            u"unknown field \"contender\"; known fields: recipe"_s);
        row("a fault's field misspelt", QByteArray(R"({"planned":[{"fault":"crash","at":5}]})"),
            u"unknown field \"planned[0].at\""_s);
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
        Recording recording{.scenario = full(),
                            .events = {{10us, 0, Mark::Joins, false, 0, "write", {}},
                                       {25us, 1, Mark::WatchEvent, true, 0, "deleted", "/lock/\xff\n"},
                                       {25us, nobody, Mark::Fault, false, 0, "pause", {}},
                                       {40us, 11, Mark::Holds, false, 77, "x-0000000001", {}}}};
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

    void eventsNotKeptAreCounted()
    {
        Scenario scenario{.contenders = 2};
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
    void eventsAfterASessionsEndAreNotRecorded_data()
    {
        const Rows<bool, int> row("goes", "events");
        row("it stays", false, 5);
        row("it goes", true, 2);
    }
    void eventsAfterASessionsEndAreNotRecorded()
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

    void otherFileIsRefused_data()
    {
        const Rows<QByteArray> row("bytes");
        row("nothing", {});
        row("no JSON", "\x7f"
                       "ELF");
        row("another thing", QByteArray(R"({"schema":"lockscope/1"})"));
        row("hostile scenario", QByteArray(R"({"schema":"lockscope-recording/1","scenario":{"contenders":1e18}})"));
        row("a lane that is not there",
            QByteArray(
                R"({"schema":"lockscope-recording/1","scenario":{"contenders":2},"events":[[1,2,"joins","","",0,false]]})"));
        row("time goes back",
            QByteArray(
                R"({"schema":"lockscope-recording/1","scenario":{"contenders":2},"events":[[5,0,"joins","","",0,false],[4,0,"holds","","",0,false]]})"));
    }
    void otherFileIsRefused()
    {
        QFETCH(QByteArray, bytes);
        const auto read = Recording::load(bytes);
        QVERIFY(!read);
        QVERIFY(read.error().code == ErrorCode::BadInput
                && read.error().message.startsWith(u"this is not a Lockscope recording"));
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
