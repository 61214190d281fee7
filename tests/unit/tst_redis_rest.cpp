// SPDX-License-Identifier: Apache-2.0
// What an observer costs a Redis where nothing happens, and what finding locks among many keys does, counted on
// virtual time; and that it looks again, and quickly, where something may have been missed.
#include "tests/support/sanitizershare.h"
#include "tests/support/testmain.h"
#include "tests/unit/quietredis.h"

using namespace lockscope::inspect;
using namespace std::chrono_literals;
using lockscope::testing::NoSink;
using lockscope::testing::QuietRedis;

namespace {

// A sanitizer takes twenty times as long for each of a million answers.
constexpr int share = testing::sanitizerShare == 1 ? 1 : 10;

} // namespace

class TestRedisRest : public QObject {
    Q_OBJECT

    struct Watched {
        VirtualLoop loop;
        QuietRedis server{loop};
        NoSink sink;
        RedisObserver observer{server, ConnectionName("redis"), ObserverOptions{}, sink};
        explicit Watched(int locks)
        {
            for (int i = 0; i < locks; ++i)
                server.keys.push_back("lock:" + QByteArray::number(i));
            std::ranges::sort(server.keys);
            server.swaps = 0;
            observer.start();
            loop.advance(1s);
        }
    };

    // So many keys, and 200 locks: half of them say so, the others are known by what they are.
    struct Swept {
        VirtualLoop loop;
        QuietRedis server{loop};
        NoSink sink;
        std::unique_ptr<RedisObserver> observer;
        explicit Swept(int plain)
        {
            for (int i = 0; i < plain; ++i)
                server.keys.push_back("stock:" + QByteArray::number(i));
            for (int i = 0; i < 100; ++i)
                server.keys.push_back("lock:" + QByteArray::number(i));
            for (int i = 0; i < 80; ++i)
                endsIn("account:" + QByteArray::number(i), 20'000);
            for (int i = 0; i < 20; ++i) {
                server.keys.push_back("checkout:" + QByteArray::number(i));
                server.hashes.insert(server.keys.back());
            }
        }
        void endsIn(const QByteArray &key, qint64 ms)
        {
            if (!std::ranges::count(server.keys, key))
                server.keys.push_back(key);
            server.ends[key] = ms;
        }
        qint64 commandsOfOneSweep()
        {
            ObserverOptions options{.follow = false};
            std::ranges::sort(server.keys);
            observer = std::make_unique<RedisObserver>(server, ConnectionName("redis"), options, sink);
            observer->start();
            loop.advance(10s);
            return observer->firstSnapshot().isComplete() ? server.commands : -1;
        }
        [[nodiscard]] bool sees(const QByteArray &name) const
        {
            return std::ranges::any_of(observer->snapshots(),
                                       [&name](const LockSnapshot &lock) { return lock.lock.name == name; });
        }
    };

private slots:
    // Its field was read before, its key after the release.
    void readerThatUnlocksIsNoLeftover()
    {
        const QByteArray stays("0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11:1"),
            goes("6c8d1f2e-0b7a-4e44-9d3a-2f5d1c4b3a21:1");
        for (const bool isReleased : {true, false}) {
            Swept swept(1000);
            auto &server = swept.server;
            server.keys.push_back("lock:book");
            server.hashes.insert("lock:book");
            swept.endsIn("{lock:book}:" + stays + ":rwlock_timeout:1", 20'000);
            server.fields = {"mode", "read", stays, "1", goes, "1"};
            server.beforeAnswer = [&](const redis::Command &asked) {
                if (isReleased && asked.back().startsWith("{lock:book}:" + goes))
                    server.fields.resize(4);
            };
            (void)swept.commandsOfOneSweep();
            const auto *lock = swept.observer->known().find("lock:book");
            QVERIFY(lock && lock->holderCount() == 1);
            QCOMPARE(lock->find(FindingCode::LeftoverKeys) == nullptr, isReleased);
        }
    }
    void atRestItSendsFewCommands_data()
    {
        const Rows<int> row("locks");
        row("few locks", 10);
        row("as many as one page", 1000 / share);
        row("many locks", 3000 / share);
    }
    void atRestItSendsFewCommands()
    {
        QFETCH(int, locks);
        Watched watched(locks);
        QCOMPARE(int(watched.observer.snapshots().size()), locks);
        // After ten minutes each is looked at once more, for it has been held for long then.
        watched.loop.advance(11min);
        constexpr qint64 mostPerMinute = 60 * 200;
        for (int minute = 0; minute < 10; ++minute) {
            const auto before = watched.server.commands;
            watched.loop.advance(60s);
            QVERIFY2(watched.server.commands - before <= mostPerMinute,
                     qPrintable(QString::number(watched.server.commands - before)));
        }
        QCOMPARE(int(watched.observer.snapshots().size()), locks);
    }

    // Between two questions a lock may be given back, and a hash of Redisson's be nobody's for a moment. Who takes it
    // next is seen at once, not when the next sweep comes by.
    void changedKeyIsReadAgain_data()
    {
        const Rows<bool, std::vector<QByteArray>> row("wasLock", "meanwhile");
        row("a new one, gone again", false, {});
        row("one that was held, gone", true, {});
        row("one that was held, nobody's", true, std::vector<QByteArray>{"mode", "write"});
    }
    void changedKeyIsReadAgain()
    {
        QFETCH(bool, wasLock);
        QFETCH(std::vector<QByteArray>, meanwhile);
        Watched watched(3);
        const QByteArray name = "checkout:1";
        const auto isSeen = [&] {
            watched.server.notifyOf(name);
            watched.loop.advance(1s);
            return std::ranges::any_of(watched.observer.snapshots(),
                                       [&](const LockSnapshot &lock) { return lock.lock.name == name; });
        };
        const auto taken = watched.server.fields;
        watched.server.keys.insert(watched.server.keys.begin(), name);
        watched.server.hashes.insert(name);
        if (wasLock)
            QVERIFY(isSeen());
        watched.server.fields = meanwhile;
        QVERIFY(!isSeen());
        watched.server.fields = taken;
        QVERIFY(isSeen());
    }

    void findingAFewAmongManyAsksFew()
    {
        Swept swept(19'800);
        const auto commands = swept.commandsOfOneSweep();
        QCOMPARE(swept.observer->snapshots().size(), 200u);
        QVERIFY(commands > 0);
        QVERIFY2(commands <= 20'000 / 5, qPrintable(QString::number(commands)));
        QVERIFY(swept.sees("account:79") && swept.sees("checkout:19") && swept.sees("lock:99"));
    }
    // Pages of them are read while the next are being sorted out.
    void thousandsOfLocksAreAllSeen()
    {
        Swept swept(0);
        constexpr int many = 5000 / share;
        for (int i = 0; i < many; ++i)
            swept.server.keys.push_back("mutex:" + QByteArray::number(i));
        QVERIFY(swept.commandsOfOneSweep() > 0);
        QCOMPARE(qint64(swept.observer->snapshots().size()), qint64(many) + 200);
    }
    // No name and no neighbour tells of it, only that the server counts one key more that ends.
    void lockIsFoundAmongThousandsOfSimilarNames()
    {
        Swept swept(3800);
        swept.endsIn("stock:777", 20'000);
        const auto commands = swept.commandsOfOneSweep();
        QVERIFY(swept.sees("stock:777"));
        QCOMPARE(swept.observer->snapshots().size(), 201u);
        QVERIFY2(commands < 4000 * 2, qPrintable(QString::number(commands)));
    }
    // One that was found and goes before the server counts makes its number fit, though one was passed over.
    void keyDeletedBeforeCountDoesNotHideOthers()
    {
        Swept swept(3800);
        swept.endsIn("stock:777", 20'000);
        int counts = 0;
        swept.server.beforeInfo = [&] {
            if (++counts != 2)
                return;
            swept.server.ends.erase("account:3");
            std::erase(swept.server.keys, "account:3");
        };
        QVERIFY(swept.commandsOfOneSweep() > 0);
        QVERIFY(counts > 1);
        QVERIFY(swept.sees("stock:777"));
    }
    void serverWithoutCounts_eachKeyIsAsked()
    {
        Swept swept(3800);
        swept.server.countsEnding = false;
        swept.endsIn("stock:777", 20'000);
        const auto commands = swept.commandsOfOneSweep();
        QVERIFY(swept.sees("stock:777"));
        QCOMPARE(swept.observer->snapshots().size(), 201u);
        QVERIFY2(commands < 4000 * 2, qPrintable(QString::number(commands)));
    }
    void mostKeysExpire_eachIsAskedOnce()
    {
        Swept swept(3800);
        for (int i = 0; i < 3800; ++i)
            swept.server.ends["stock:" + QByteArray::number(i)] = 86'400'000;
        const auto commands = swept.commandsOfOneSweep();
        QCOMPARE(swept.observer->snapshots().size(), 200u);
        QVERIFY2(commands < 4000 * 2, qPrintable(QString::number(commands)));
    }
    void anOldServerIsAskedForTheTypeOfEach()
    {
        Swept swept(3800);
        swept.server.knowsTypesInScan = false;
        QVERIFY(swept.commandsOfOneSweep() > 8000);
        QCOMPARE(swept.observer->snapshots().size(), 200u);
    }
    void noHashCounted_typesAreNotAsked()
    {
        Swept swept(3800);
        swept.server.countsTypes = true;
        std::erase_if(swept.server.keys, [&](const auto &key) { return swept.server.hashes.contains(key); });
        swept.server.hashes.clear();
        QVERIFY(swept.commandsOfOneSweep() > 0);
        QCOMPARE(swept.server.askedForHashes, 1); // before that is known
        QCOMPARE(swept.observer->snapshots().size(), 180u);
        QVERIFY(swept.sees("account:79") && swept.sees("lock:99"));
    }
    void oneCountedHashIsFoundAmongManyKeys()
    {
        Swept swept(3800);
        swept.server.countsTypes = true;
        swept.server.hashes = {"stock:777"};
        QVERIFY(swept.commandsOfOneSweep() > 0);
        QVERIFY(swept.server.askedForHashes > 0);
        QVERIFY(swept.sees("stock:777"));
    }
    // Looks that make sure ask for types, whatever the server counted.
    void aHashThatNobodyToldOfIsSeenInTheEnd()
    {
        VirtualLoop loop;
        QuietRedis server{loop};
        NoSink sink;
        server.countsTypes = true;
        server.keys = {"lock:1", "lock:2"};
        RedisObserver observer{server, ConnectionName("redis"), ObserverOptions{}, sink};
        observer.start();
        loop.advance(1s);
        QCOMPARE(observer.snapshots().size(), 2u);
        QCOMPARE(server.askedForHashes, 1); // before that is known
        server.keys.insert(server.keys.begin(), "checkout:1");
        server.hashes = {"checkout:1"};
        loop.advance(15min);
        QCOMPARE(observer.snapshots().size(), 3u);
    }
    void infoShowsThatNoHashExists_data()
    {
        const Rows<QByteArray, bool> row("info", "says");
        const QByteArray strings = "# Keysizes\r\ndb0_distrib_strings_sizes:8=5,16=1\r\n";
        row("none", strings, true);
        row("one", strings + "db0_distrib_hashes_items:1=1\r\n", false);
        row("in another database", strings + "db3_distrib_hashes_items:4=2\r\n", false);
        row("counted in another way", strings + "db0_distrib_hashes_sizes:4=2\r\n", false);
        row("before Redis 8", {}, false);
        row("an empty server", "# Keysizes\r\n", false);
        row("names that we do not know", "# Keysizes\r\ndb0_strings:5\r\n", false);
        row("refused", "NOPERM this user may not", false);
        row("all nodes", "# Node a:1\r\n" + strings + "# Node b:1\r\n# Keysizes\r\n", true);
        row("one node does not say", "# Node a:1\r\n" + strings + "# Node b:1\r\n", false);
    }
    void infoShowsThatNoHashExists()
    {
        QFETCH(QByteArray, info);
        QFETCH(bool, says);
        QCOMPARE(saysThatNoHashIs(info), says);
    }
    void howMuchTheServerWasSent_data()
    {
        QTest::addColumn<QByteArray>("info");
        QTest::addColumn<qint64>("commands"); // -1: not told
        const QByteArray stats = "# Stats\r\ntotal_connections_received:2\r\ntotal_commands_processed:4711\r\n";
        QTest::newRow("told") << stats << qint64(4711);
        QTest::newRow("another section") << QByteArray("# Keyspace\r\ndb0:keys=9\r\n") << qint64(-1);
        QTest::newRow("nonsense") << QByteArray("total_commands_processed:many\r\n") << qint64(-1);
        QTest::newRow("nodes of a cluster") << "# Node a:1\r\n" + stats + "# Node b:1\r\n" + stats << qint64(-1);
        QTest::newRow("nothing") << QByteArray() << qint64(-1);
    }
    void howMuchTheServerWasSent()
    {
        QFETCH(const QByteArray, info);
        QTEST(commandsServedIn(info).value_or(-1), "commands");
    }
    void infoCountsExpiringKeys_data()
    {
        addColumns<QByteArray, qint64>("info", "keys");
        QTest::addColumn<qint64>("ending"); // -1: not told
        QTest::newRow("nothing in it") << QByteArray("# Keyspace\r\n") << qint64(0) << qint64(0);
        QTest::newRow("one database") << QByteArray("# Keyspace\r\ndb0:keys=9,expires=4,avg_ttl=7\r\n") << qint64(9)
                                      << qint64(4);
        QTest::newRow("ours of two") << QByteArray(
            "# Keyspace\r\ndb0:keys=9,expires=4,avg_ttl=7\r\ndb3:keys=5,expires=1\r\n")
                                     << qint64(5) << qint64(1);
        QTest::newRow("which is ours?") << QByteArray(
            "# Keyspace\r\ndb0:keys=9,expires=4\r\ndb3:keys=9,expires=1\r\n")
                                        << qint64(9) << qint64(5);
        QTest::newRow("another form") << QByteArray("# Keyspace\r\ndb0:size=9\r\n") << qint64(9) << qint64(-1);
        QTest::newRow("nonsense") << QByteArray("# Keyspace\r\ndb0:keys=1,expires=9223372036854775807\r\n")
                                  << qint64(1) << qint64(-1);
        QTest::newRow("no answer") << QByteArray() << qint64(9) << qint64(-1);
    }
    void infoCountsExpiringKeys()
    {
        QFETCH(QByteArray, info);
        QFETCH(qint64, keys);
        QFETCH(qint64, ending);
        QCOMPARE(endingKeysIn(info, keys).value_or(-1), ending);
    }

    // A key of which nothing was told is seen in the end, however slowly it is made sure.
    void unannouncedKeyIsSeenInTheEnd()
    {
        Watched watched(2000 / share);
        watched.server.keys.push_back("lock:silent"); // the last in order
        watched.loop.advance(15min);
        QCOMPARE(watched.observer.snapshots().size(), 2000u / share + 1);
    }

    void lostSubscriber_missedKeyIsSeenSoon()
    {
        Watched watched(2000 / share);
        watched.loop.advance(5min);                   // a sweep that only makes sure is under way
        watched.server.keys.push_back("lock:missed"); // the last in order
        watched.server.breakSubscriber();
        watched.loop.advance(45s);
        QCOMPARE(watched.observer.snapshots().size(), 2000u / share + 1);
    }
};

LOCKSCOPE_TEST(TestRedisRest)
#include "tst_redis_rest.moc"
