// SPDX-License-Identifier: Apache-2.0
// A Redis observer after a stall and after a reconnect, where a database is swapped or another one has keys, and
// where SCAN does not end. On virtual time.
#include "core/inspect/redis/observerreader.h"
#include "tests/support/keepingsink.h"
#include "tests/support/testmain.h"
#include "tests/unit/quietredis.h"

using namespace lockscope::inspect;

namespace {

const QByteArray nextToken("7b1de2a0-1111-4d7e-8c55-2f8f2a0d9b11");

struct Following {
    VirtualLoop loop;
    QuietRedis server{loop};
    KeepingSink sink;
    std::unique_ptr<RedisObserver> observer;

    Following() { server.keys = {"lock:1", "lock:2", "lock:3"}; }
    void start(ObserverOptions options = {}, int database = 0)
    {
        observer = std::make_unique<RedisObserver>(server, ConnectionName("redis"), options, sink, database);
        observer->start();
        loop.advance(3s);
    }
    [[nodiscard]] bool showsToken(const QByteArray &token) const
    {
        return sink.locks.size() == 3 && std::ranges::all_of(sink.locks, [&](const auto &lock) {
                   return !lock.second.contenders.empty()
                          && lock.second.contenders.front().guard.redis().value == token;
               });
    }
    [[nodiscard]] bool isComplete() const { return sink.coverage.size() == 1 && sink.coverage.front().complete; }
};

redis::Value infoOf(const QByteArray &text)
{
    return testing::textOf(text);
}

} // namespace

class TestRedisOutages : public QObject {
    Q_OBJECT

private slots:
    void lostReadIsRepeatedAfterReconnect_data()
    {
        addColumns<int, bool>("seconds", "refusesTracking");
        for (const int seconds : {1, 3, 6}) {
            QTest::addRow("tracking, %d s", seconds) << seconds << false;
            QTest::addRow("polling, %d s", seconds) << seconds << true;
        }
    }
    void lostReadIsRepeatedAfterReconnect()
    {
        QFETCH(int, seconds);
        QFETCH(bool, refusesTracking);
        Following redis;
        redis.server.refusesTracking = refusesTracking;
        redis.start();
        QVERIFY(redis.showsToken(redis.server.token));
        redis.server.isMute = true;
        redis.server.token = nextToken;
        if (!refusesTracking)
            redis.server.notifyOf("lock:1");
        redis.loop.advance(std::chrono::seconds(seconds));
        redis.server.breakConnection();
        redis.loop.advance(100ms);
        QVERIFY(!redis.isComplete());
        const auto looks = redis.sink.looks;
        redis.server.connectAgain();
        QVERIFY(!redis.isComplete());
        QCOMPARE(redis.sink.looks, looks); // nothing was read again yet
        redis.loop.advance(1s);
        QVERIFY(redis.showsToken(nextToken));
        redis.loop.advance(3s);
        QVERIFY(redis.sink.looks > looks);
    }

    // The answers arrive in the end: the server was put to no work meanwhile.
    void stallEarnsNoRest_data() { addRows<bool>("refusesTracking", {{"tracking", false}, {"polling", true}}); }
    void stallEarnsNoRest()
    {
        QFETCH(bool, refusesTracking);
        Following redis;
        redis.server.refusesTracking = refusesTracking;
        redis.start();
        redis.server.isMute = true;
        redis.loop.advance(4s);
        redis.server.speakAgain();
        redis.server.token = nextToken;
        if (!refusesTracking) {
            for (const auto &key : redis.server.keys)
                redis.server.notifyOf(key);
        }
        redis.loop.advance(1s);
        QVERIFY(redis.showsToken(nextToken));
    }

    void silenceIsReportedBeforeAReadFails()
    {
        Following redis;
        redis.start();
        QVERIFY(redis.isComplete());
        redis.server.isMute = true;
        redis.loop.advance(3100ms);
        QVERIFY(redis.sink.says(u"has not answered"_s));
        redis.server.speakAgain();
        redis.loop.advance(10ms);
        QVERIFY(redis.isComplete());
    }

    void locksOfBrokenSubscriberAreSearchedSoon()
    {
        Following redis;
        redis.start();
        redis.server.keys = {"lock:1", "lock:2", "lock:3", "lock:4"};
        redis.server.breakSubscriber();
        redis.loop.advance(10ms);
        QVERIFY(!redis.isComplete());
        redis.loop.advance(2s);
        QVERIFY(redis.sink.find("lock:4"));
        QVERIFY(redis.isComplete());
    }

    void swapIsNoticedWithinTwoSeconds()
    {
        Following redis;
        redis.server.swaps = 4;
        redis.start();
        QVERIFY(redis.sink.find("lock:1"));
        redis.server.keys = {"lock:8", "lock:9"};
        redis.server.swaps = 5;
        redis.loop.advance(2s);
        QVERIFY(!redis.sink.find("lock:1"));
        QVERIFY(redis.sink.find("lock:8") && redis.sink.find("lock:9"));
    }

    void otherDatabasesMakeCoverageIncomplete()
    {
        ObserverOptions once{.follow = false};
        Following redis;
        redis.server.otherDatabases = "db3:keys=1,expires=1,avg_ttl=5\r\n";
        redis.start(once);
        QVERIFY(!redis.isComplete());
        QVERIFY(redis.sink.says(u"database 3 has 1 key: not read"_s));
        QCOMPARE(redis.sink.locks.size(), 3u);
    }
    // What a view that lasts says must not change with each key there.
    void followedView_namesDatabasesWithoutCounts()
    {
        Following redis;
        redis.start();
        QVERIFY(redis.isComplete());
        redis.server.otherDatabases = "db3:keys=1,expires=1,avg_ttl=5\r\n";
        redis.loop.advance(10s);
        QVERIFY(redis.sink.says(u"database 3 has keys: not read"_s));
        redis.server.otherDatabases.clear();
        redis.loop.advance(10s);
        QVERIFY(redis.isComplete());
    }
    void refusedInfoLeavesOtherDatabasesUnchecked()
    {
        Following redis;
        redis.server.countsEnding = false;
        redis.start();
        QVERIFY(!redis.isComplete());
        QVERIFY(redis.sink.says(u"other databases not checked"_s));
    }
    void otherDatabasesAreReadFromInfo_data()
    {
        const Rows<QByteArray, int, QString> row("info", "own", "begin");
        const QByteArray two = "# Keyspace\r\ndb0:keys=9,expires=4,avg_ttl=7\r\ndb3:keys=12,expires=1\r\n";
        row("none", "# Keyspace\r\ndb0:keys=9,expires=4\r\n", 0, {});
        row("an empty server", "# Keyspace\r\n", 0, {});
        row("another one", two, 0, u"database 3 has 12 keys: not read"_s);
        row("the default one", two, 3, u"database 0 has 9 keys: not read"_s);
        row("two others", two, 7, u"database 0 has 9 keys, database 3 has 12 keys: not read"_s);
        row("a cluster",
            QByteArray("# Node a:1\r\n# Keyspace\r\ndb0:keys=9,expires=4\r\n# Node b:1\r\n# Keyspace\r\n"
                       "db0:keys=2,expires=0\r\n"),
            5, {});
        row("nothing", {}, 0, u"other databases not checked"_s);
        row("no numbers", "# Keyspace\r\ndbx:keys=9\r\ndb1:keys=many\r\ndb2\r\n", 0, {});
    }
    void otherDatabasesAreReadFromInfo()
    {
        QFETCH(const QByteArray, info);
        QFETCH(const int, own);
        QFETCH(const QString, begin);
        const auto message = otherDatabasesIn(infoOf(info), own, true);
        QVERIFY2(begin.isEmpty() ? message.isEmpty() : message.startsWith(begin), qPrintable(message));
    }
    void swapsAreReadFromInfo_data()
    {
        QTest::addColumn<QByteArray>("info");
        QTest::addColumn<qint64>("swaps"); // -1: not told
        const QByteArray ping = "# Commandstats\r\ncmdstat_ping:calls=3,usec=1\r\n";
        QTest::newRow("never") << ping << qint64(0);
        QTest::newRow("twice") << ping + "cmdstat_swapdb:calls=2,usec=9\r\n" << qint64(2);
        QTest::newRow("a cluster") << "# Node a:1\r\n" + ping << qint64(-1);
        QTest::newRow("nothing") << QByteArray() << qint64(-1);
    }
    void swapsAreReadFromInfo()
    {
        QFETCH(const QByteArray, info);
        QTEST(swapsIn(infoOf(info)).value_or(-1), "swaps");
    }

    // No progress is reported, by which whoever waits gives up, and the server is not pressed.
    void scanWithoutEndIsReported()
    {
        ObserverOptions once{.follow = false};
        Following redis;
        redis.server.isScanEndless = true;
        redis.start(once);
        redis.loop.advance(10s);
        QVERIFY(redis.sink.says(u"SCAN does not end"_s));
        const auto steps = redis.sink.steps.size();
        const auto commands = redis.server.commands;
        redis.loop.advance(60s);
        QVERIFY(!redis.observer->firstSnapshot().isComplete());
        QCOMPARE(redis.sink.steps.size(), steps);
        QVERIFY2(redis.server.commands > commands && redis.server.commands - commands < 60 * 100,
                 qPrintable(QString::number(redis.server.commands - commands)));
        QVERIFY(redis.sink.find("lock:2")); // what was found is shown
    }
};

LOCKSCOPE_TEST(TestRedisOutages)
#include "tst_redis_outages.moc"
