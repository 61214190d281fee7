// SPDX-License-Identifier: Apache-2.0
// What happens in a run beside the recipes: somebody types a command, an operator stops a server, a disk keeps what
// was written, a lock is taken twice, an acquire that timed out is tried again.
#include "core/contention/scenario.h"
#include "tests/simulate/played.h"
#include "tests/support/testmain.h"

#include <QJsonDocument>

using namespace lockscope::contention;

namespace {

QByteArrayList outcomes(const Recording &run)
{
    QByteArrayList all;
    for (const auto &event : run.events) {
        if (event.mark == Mark::Acts)
            all << event.where;
    }
    return all;
}

qint64 countOf(const Recording &run, Mark mark, const QByteArray &what = {}, int contender = nobody)
{
    return std::ranges::count_if(run.events, [&](const Event &event) {
        return event.mark == mark && (what.isEmpty() || event.what == what)
               && (contender == nobody || event.contender == contender);
    });
}

// Long enough for somebody to type something.
Scenario longHeld(const QByteArray &recipe, int contenders)
{
    auto scenario = scenarioFor(recipe, contenders);
    scenario.hold = 200ms;
    scenario.ttl = 30s;
    scenario.sessionTimeout = 10s;
    return scenario;
}

} // namespace

class TestActs : public QObject {
    Q_OBJECT
private slots:
    void aCommandIsDoneAndAnswered_data()
    {
        const Rows<QByteArrayList, QByteArray> row("commands", "outcome");
        row("create", {"create /a v1"}, "/a");
        row("get", {"create /a v 1", "get /a"}, "v 1, zxid 9");
        row("set", {"create /a v1", "set /a v2"}, "version 1, zxid 10");
        row("ls", {"create /a", "create -s /a/n-", "create -e /a/b", "ls /a"}, "b, n-0000000000");
        row("no children", {"create -e /a", "create /a/b"},
            "cannot create /a/b: an ephemeral znode cannot have children");
        row("not empty", {"delete /sim/lock"}, "cannot delete /sim/lock: it has children");
        row("too large", {"create -size 2000000 /a"},
            "cannot create /a: 2000023 bytes exceed the limit of one ZooKeeper request (1 MiB)");
        row("a contender's node", {"delete {c01}"}, "ok");
        row("nobody's node", {"delete {c01}", "delete {c01}"}, "it has no node");
    }
    void aCommandIsDoneAndAnswered()
    {
        QFETCH(QByteArrayList, commands);
        QFETCH(QByteArray, outcome);
        auto scenario = longHeld("zk-mutex", 2);
        scenario.wait = 1s; // where its node is deleted it waits in vain
        auto at = 20ms;
        for (const auto &command : commands)
            scenario.acts.push_back({at += 5ms, 0, command});
        const auto run = play(scenario);
        QCOMPARE(outcomes(run).size(), commands.size());
        QCOMPARE(outcomes(run).last(), outcome);
        QCOMPARE(run.leftBehind.size(), std::size_t(0)); // what was made beside the lock is not the lock's
    }

    void aRedisCommandIsAnswered()
    {
        auto scenario = longHeld("redis-set-nx", 2);
        scenario.acts = {{50ms, 1, "EXISTS sim-lock"}, {60ms, 1, "DEL sim-lock"}, {60500us, 1, "GET sim-lock"}};
        const auto run = play(scenario);
        QCOMPARE(outcomes(run), (QByteArrayList{"1", "1", "(nil)"}));
        QVERIFY(broke(run, "exclusion"));
    }

    void impossibleActIsRefused_data()
    {
        const Rows<QByteArray, int, QByteArray, QString> row("recipe", "contender", "command", "why");
        row("no command", "zk-mutex", 0, "destroy /a", u"unknown command"_s);
        row("no option", "zk-mutex", 0, "get -x /a", u"has no option -x"_s);
        row("no path", "zk-mutex", 0, "ls", u"each with a path"_s);
        row("nobody's", "zk-mutex", -1, "ls /", u"needs a contender"_s);
        row("not there", "zk-mutex", 7, "ls /", u"contender 7, which does not exist"_s);
        row("etcd", "etcd-mutex", 0, "get a", u"is not available on etcd"_s);
        row("one Redis", "redis-set-nx", -1, "stop s1", u"is not available on"_s);
    }
    void impossibleActIsRefused()
    {
        QFETCH(QByteArray, recipe);
        QFETCH(int, contender);
        QFETCH(QByteArray, command);
        QFETCH(QString, why);
        auto scenario = longHeld(recipe, 2);
        scenario.acts = {{1ms, contender, command}};
        const auto verdict = scenario.check();
        QVERIFY(!verdict);
        QVERIFY2(verdict.error().message.contains(why), qPrintable(verdict.error().message));
    }

    void majorityContinuesAndAMinorityDoesNot()
    {
        auto scenario = longHeld("zk-mutex", 3);
        scenario.servers = 3;
        scenario.acts = {{50ms, -1, "stop s2"}, {3s, -1, "stop s3"}};
        scenario.hold = 2s;
        const auto run = play(scenario);
        // Two of them had it before s3 went, nobody after: nobody is there to say that a session is over.
        QCOMPARE(run.counters.grants, 2);
        QVERIFY(!broke(run, "exclusion"));
        scenario.acts.push_back({20s, -1, "start s3"});
        const auto again = play(scenario);
        QCOMPARE(again.counters.grants, 3);
        QVERIFY(!broke(again, "exclusion"));
        QVERIFY(!broke(again, "progress"));
        QCOMPARE(countOf(again, Mark::Loses), 0); // 17 s without servers, and no session of 10 s is over
    }

    void aLeaderThatStopsIsReplaced()
    {
        auto scenario = longHeld("zk-mutex", 3);
        scenario.servers = 5;
        scenario.acts = {{50ms, -1, "stop s1"}, {60ms, -1, "stop s1"}};
        const auto run = play(scenario);
        QCOMPARE(run.counters.grants, 3);
        QCOMPARE(outcomes(run), (QByteArrayList{"ok", "nothing to do"}));
    }

    void aFollowerThatIsBehindAnswersWithWhatItHas()
    {
        auto scenario = longHeld("zk-mutex", 2);
        scenario.servers = 3;
        scenario.hold = 1s;
        scenario.planned = {{FaultKind::Lag, 50ms, 0, 400ms}};
        scenario.acts = {{20ms, 1, "create /a v1"},
                         {60ms, 1, "set /a v2"},
                         {80ms, 0, "get /a"},
                         {90ms, 0, "sync /a"},
                         {90100us, 0, "get /a"}};
        const auto run = play(scenario);
        QCOMPARE(outcomes(run), (QByteArrayList{"/a", "version 1, zxid 10", "v1, zxid 9", "ok", "v2, zxid 10"}));
    }

    void aRestartFindsWhatIsOnTheDisk_data()
    {
        const Rows<int, bool> row("aof", "isLost");
        row("nothing", int(Aof::None), true);
        row("the last second is missing", int(Aof::EverySecond), true);
        row("everything", int(Aof::Always), false);
    }
    void aRestartFindsWhatIsOnTheDisk()
    {
        QFETCH(int, aof);
        QFETCH(bool, isLost);
        auto scenario = longHeld("redis-set-nx", 2);
        scenario.hold = 2s;
        scenario.aof = static_cast<Aof>(aof);
        scenario.planned = {{FaultKind::RestartEmpty, 800ms, 0, 100ms}};
        QCOMPARE(broke(play(scenario), "exclusion"), isLost);
        // A key that was there at the last whole second is on the disk with everysec, too.
        scenario.planned.front().at = 1300ms;
        QCOMPARE(broke(play(scenario), "exclusion"), scenario.aof == Aof::None);
    }

    void onlyReentrantHolderGetsItAgain_data()
    {
        const Rows<QByteArray, int> row("recipe", "grants");
        for (const auto *recipe : {"curator-mutex", "redisson-lock", "sql-get-lock"})
            row(recipe, QByteArray(recipe), 2);
        for (const auto *recipe : {"kazoo-lock", "zk-mutex", "redis-set-nx", "etcd-mutex"})
            row(recipe, QByteArray(recipe), 0);
    }
    void onlyReentrantHolderGetsItAgain()
    {
        QFETCH(QByteArray, recipe);
        QFETCH(int, grants);
        auto scenario = longHeld(recipe, 2);
        scenario.acquires = 3;
        scenario.wait = 1s;
        const auto run = play(scenario);
        QCOMPARE(run.counters.grants, grants);
        QCOMPARE(countOf(run, Mark::Gets, "3 of 3"), grants);
        QCOMPARE(run.leftBehind.size(), std::size_t(0));
        QVERIFY(!broke(run, "exclusion"));
    }

    void eachTryQueuesAnew()
    {
        auto scenario = longHeld("curator-mutex", 3);
        scenario.hold = 500ms;
        scenario.wait = 300ms;
        scenario.tries = 2;
        const auto run = play(scenario);
        // c0 holds; the others time out, queue again, and one of them has it within its second try.
        QCOMPARE(run.counters.grants, 2);
        QCOMPARE(countOf(run, Mark::Joins, "again"), 2);
        QCOMPARE(countOf(run, Mark::GivesUp), 3);
        scenario.tries = 1;
        QCOMPARE(play(scenario).counters.grants, 1);
    }

    void slowMessagesChangeNoOrder()
    {
        auto scenario = longHeld("zk-mutex", 5);
        scenario.leastLatency = 20ms;
        scenario.mostLatency = 60ms;
        const auto run = play(scenario);
        QCOMPARE(run.counters.grants, 5);
        QVERIFY(run.violations.empty());
        QVERIFY(run.elapsed > 5 * 200ms + 4 * 40ms);
    }

    void numbersThatCannotBePlayedAreRefused_data()
    {
        const Rows<QByteArray, QString> row("json", "why");
        row("even", QByteArray(R"({"recipe":"zk-mutex","servers":4})"), u"not played on 4 servers"_s);
        row("one Redis", QByteArray(R"({"recipe":"redis-set-nx","servers":3})"), u"not played on 3"_s);
        row("aof", QByteArray(R"({"recipe":"zk-mutex","aof":"always"})"), u"Redis's"_s);
        row("no such aof", QByteArray(R"({"recipe":"redis-set-nx","aof":"often"})"), u"everysec"_s);
        row("tries", QByteArray(R"({"recipe":"zk-mutex","tries":2})"), u"say how long each waits"_s);
        row("permits", QByteArray(R"({"recipe":"kazoo-semaphore","acquires":2})"), u"not permits"_s);
        row("one lock each", QByteArray(R"({"recipe":"sql-for-update","acquires":2})"), u"one lock at a time"_s);
        row("latency", QByteArray(R"({"recipe":"zk-mutex","leastLatencyUs":500})"), u"the least first"_s);
        row("unknown", QByteArray(R"({"recipe":"zk-mutex","acts":[{"atUs":1,"do":"x"}]})"), u"does"_s);
    }
    void numbersThatCannotBePlayedAreRefused()
    {
        QFETCH(QByteArray, json);
        QFETCH(QString, why);
        const auto read = Scenario::fromJson(QJsonDocument::fromJson(json).object());
        const auto verdict = read ? read->check() : Result<void>(read.error());
        QVERIFY(!verdict);
        QVERIFY2(verdict.error().message.contains(why), qPrintable(verdict.error().message));
    }
};

LOCKSCOPE_TEST(TestActs)
#include "tst_acts.moc"
