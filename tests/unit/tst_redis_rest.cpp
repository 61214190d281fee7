// SPDX-License-Identifier: Apache-2.0
// What an observer costs a Redis where nothing happens, and what finding locks among many keys does, counted on
// virtual time; and that it looks again, and quickly, where something may have been missed.
#include "core/async/virtualloop.h"
#include "core/inspect/redis/observer.h"
#include "tests/support/sanitizershare.h"
#include "tests/support/testmain.h"

#include <QTest>

#include <map>
#include <set>

using namespace lockscope;
using namespace lockscope::inspect;
using namespace std::chrono_literals;
using redis::Value;

namespace {

Value integerOf(qint64 number)
{
    Value value;
    value.kind = Value::Kind::Integer;
    value.integer = number;
    return value;
}

Value textOf(const QByteArray &text)
{
    Value value;
    value.kind = Value::Kind::Bulk;
    value.text = text;
    return value;
}

Value listOf(std::vector<Value> items)
{
    Value value;
    value.kind = Value::Kind::Array;
    value.items = std::move(items);
    return value;
}

// Strings that never expire, if nothing else is said, and a server that tells of what changes; answers at once.
class QuietRedis : public redis::Connection {
public:
    explicit QuietRedis(Loop &onLoop) : m_loop(onLoop) {}

    std::vector<QByteArray> keys;      // in order
    std::map<QByteArray, qint64> ends; // in so many ms
    std::set<QByteArray> hashes;       // Redisson's locks
    bool countsEnding = true;          // INFO is allowed
    bool knowsTypesInScan = true;      // Redis 6
    bool countsTypes = false;          // Redis 8
    qint64 askedForHashes = 0;         // pages
    std::function<void()> beforeInfo;  // what happens just then
    // What stands in a hash.
    std::vector<QByteArray> fields{"0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11:1", "1"};
    qint64 commands = 0;
    // The connection that changes are told on broke, and is back.
    void breakSubscriber() { m_listener(redis::ConnectionState::Connected); }
    void tellOf(const QByteArray &key) { m_subscriber({"__redis__:invalidate", {}, key}); }

    [[nodiscard]] Loop &loop() const override { return m_loop; }
    [[nodiscard]] redis::ConnectionState state() const override { return redis::ConnectionState::Connected; }
    [[nodiscard]] QString lastError() const override { return {}; }
    Subscription onState(std::function<void(redis::ConnectionState)> listener) override
    {
        m_listener = std::move(listener);
        return {};
    }
    Reply<Value> command(redis::Command, Deadline) override { return Reply<Value>(m_loop); }
    Reply<std::vector<Value>> pipeline(std::vector<redis::Command> asked, Deadline) override
    {
        std::vector<Value> answers;
        for (const auto &one : asked)
            answers.push_back(answerTo(one));
        Reply<std::vector<Value>> reply(m_loop);
        reply.complete(std::move(answers));
        return reply;
    }
    Reply<Value> script(redis::Script, QByteArrayList, QByteArrayList, Deadline) override
    {
        return Reply<Value>(m_loop);
    }
    Subscription subscribe(QByteArray, std::function<void(const redis::Message &)> heard) override
    {
        m_subscriber = std::move(heard);
        return {};
    }
    Subscription subscribePattern(QByteArray, std::function<void(const redis::Message &)>) override { return {}; }
    Reply<qint64> subscriberId(Deadline) override
    {
        Reply<qint64> reply(m_loop);
        reply.complete(qint64(8));
        return reply;
    }

private:
    Value answerTo(const redis::Command &command)
    {
        ++commands;
        const auto &word = command.front();
        const auto sinceEpoch = std::chrono::duration_cast<std::chrono::seconds>(m_loop.wallNow().time_since_epoch());
        if (word == "TIME")
            return listOf({textOf(QByteArray::number(qint64(sinceEpoch.count()))), textOf("0")});
        if (word == "SCAN" && command.size() > 4 && !knowsTypesInScan)
            return refusalOf("ERR syntax error");
        askedForHashes += word == "SCAN" && command.size() > 4 ? 1 : 0;
        if (word == "SCAN")
            return page(command[1].toULongLong(), command[3].toULongLong(), command.size() > 4);
        if (word == "INFO" && command.back() == "keysizes")
            return textOf(countsTypes ? sizes() : QByteArray());
        if (word == "INFO" && beforeInfo)
            beforeInfo();
        if (word == "INFO")
            return countsEnding ? textOf("# Keyspace\r\ndb0:keys=" + QByteArray::number(qint64(keys.size()))
                                         + ",expires=" + QByteArray::number(qint64(ends.size())) + ",avg_ttl=0\r\n")
                                : refusalOf("NOPERM this user may not");
        if (word == "TYPE")
            return textOf(!std::ranges::binary_search(keys, command[1]) ? "none"
                          : hashes.contains(command[1])                 ? "hash"
                                                                        : "string");
        if (word == "PTTL")
            return integerOf(ends.contains(command[1]) ? ends.at(command[1]) : -1);
        if (word == "PEXPIRETIME")
            return integerOf(ends.contains(command[1]) ? sinceEpoch.count() * 1000 + ends.at(command[1]) : -1);
        if (word == "MEMORY")
            return integerOf(command[2].size() + 100);
        if (word == "OBJECT") // written a moment ago
            return integerOf(0);
        if (word == "HLEN")
            return integerOf(1);
        if (word == "HGETALL") {
            std::vector<Value> items;
            std::ranges::transform(fields, std::back_inserter(items), textOf);
            return listOf(std::move(items));
        }
        if (word == "GETRANGE")
            return textOf("0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11");
        if (word == "PUBSUB")
            return listOf({});
        return word == "PING" ? textOf("PONG") : integerOf(qint64(keys.size()));
    }
    [[nodiscard]] QByteArray sizes() const
    {
        const QByteArray text = "# Keysizes\r\ndb0_distrib_strings_sizes:8=5\r\n";
        return hashes.empty() ? text : text + "db0_distrib_hashes_items:1=1\r\n";
    }
    static Value refusalOf(const QByteArray &text)
    {
        auto value = textOf(text);
        value.kind = Value::Kind::Error;
        return value;
    }
    [[nodiscard]] Value page(std::size_t from, std::size_t count, bool onlyHashes) const
    {
        const auto end = std::min(from + count, keys.size());
        std::vector<Value> names;
        for (auto at = from; at < end; ++at)
            if (!onlyHashes || hashes.contains(keys[at]))
                names.push_back(textOf(keys[at]));
        return listOf(
            {textOf(end == keys.size() ? "0" : QByteArray::number(qulonglong(end))), listOf(std::move(names))});
    }

    Loop &m_loop;
    std::function<void(redis::ConnectionState)> m_listener;
    std::function<void(const redis::Message &)> m_subscriber;
};

struct Unheard : ObserverSink {
    void locksChanged(std::vector<SnapshotChange>) override {}
    void sessionsChanged(const ConnectionName &, std::vector<SessionSnapshot>) override {}
    void coverageChanged(const ConnectionName &, std::vector<Coverage>) override {}
    void progressed(Progress) override {}
    void costChanged(const ConnectionName &, Cost) override {}
};

// A sanitizer takes twenty times as long for each of a million answers.
constexpr int share = testing::sanitizerShare == 1 ? 1 : 10;

} // namespace

class TestRedisRest : public QObject {
    Q_OBJECT

    struct Watched {
        VirtualLoop loop;
        QuietRedis server{loop};
        Unheard sink;
        RedisObserver observer{server, ConnectionName("redis"), ObserverOptions{}, sink};
        explicit Watched(int locks)
        {
            for (int i = 0; i < locks; ++i)
                server.keys.push_back("lock:" + QByteArray::number(i));
            std::ranges::sort(server.keys);
            observer.start();
            loop.advance(1s);
        }
    };

    // So many keys, and 200 locks: half of them say so, the others are known by what they are.
    struct Swept {
        VirtualLoop loop;
        QuietRedis server{loop};
        Unheard sink;
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
            ObserverOptions options;
            options.follow = false;
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
    void atRestItSendsFewCommands_data()
    {
        QTest::addColumn<int>("locks");
        QTest::newRow("few locks") << 10;
        QTest::newRow("as many as one page") << 1000 / share;
        QTest::newRow("many locks") << 3000 / share;
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
    void whatWasNoLockWhenItWasReadIsReadAgainWhenItChanges_data()
    {
        QTest::addColumn<bool>("wasLock");
        QTest::addColumn<std::vector<QByteArray>>("meanwhile");
        QTest::newRow("a new one, gone again") << false << std::vector<QByteArray>();
        QTest::newRow("one that was held, gone") << true << std::vector<QByteArray>();
        QTest::newRow("one that was held, nobody's") << true << std::vector<QByteArray>{"mode", "write"};
    }
    void whatWasNoLockWhenItWasReadIsReadAgainWhenItChanges()
    {
        QFETCH(bool, wasLock);
        QFETCH(std::vector<QByteArray>, meanwhile);
        Watched watched(3);
        const QByteArray name = "checkout:1";
        const auto isSeen = [&] {
            watched.server.tellOf(name);
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
    void ofThousandsOfLocksNoneIsLeftOut()
    {
        Swept swept(0);
        constexpr int many = 5000 / share;
        for (int i = 0; i < many; ++i)
            swept.server.keys.push_back("mutex:" + QByteArray::number(i));
        QVERIFY(swept.commandsOfOneSweep() > 0);
        QCOMPARE(qint64(swept.observer->snapshots().size()), qint64(many) + 200);
    }
    // No name and no neighbour tells of it, only that the server counts one key more that ends.
    void oneThatIsNamedAsThousandsThatAreNoLocksIsFound()
    {
        Swept swept(3800);
        swept.endsIn("stock:777", 20'000);
        const auto commands = swept.commandsOfOneSweep();
        QVERIFY(swept.sees("stock:777"));
        QCOMPARE(swept.observer->snapshots().size(), 201u);
        QVERIFY2(commands < 4000 * 2, qPrintable(QString::number(commands)));
    }
    // One that was found and goes before the server counts makes its number fit, though one was passed over.
    void whatGoesJustBeforeTheCountHidesNothing()
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
    void whereTheServerDoesNotCountEachIsAsked()
    {
        Swept swept(3800);
        swept.server.countsEnding = false;
        swept.endsIn("stock:777", 20'000);
        const auto commands = swept.commandsOfOneSweep();
        QVERIFY(swept.sees("stock:777"));
        QCOMPARE(swept.observer->snapshots().size(), 201u);
        QVERIFY2(commands < 4000 * 2, qPrintable(QString::number(commands)));
    }
    void whereMostKeysEndEachIsAskedOnce()
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
    void whereTheServerCountsNoHashItIsNotAskedForTypes()
    {
        Swept swept(3800);
        swept.server.countsTypes = true;
        std::erase_if(swept.server.keys, [&](const auto &key) { return swept.server.hashes.contains(key); });
        swept.server.hashes.clear();
        QVERIFY(swept.commandsOfOneSweep() > 0);
        QCOMPARE(swept.server.askedForHashes, 0);
        QCOMPARE(swept.observer->snapshots().size(), 180u);
        QVERIFY(swept.sees("account:79") && swept.sees("lock:99"));
    }
    void ofManyKeysTheOneHashIsFoundThatTheServerCounts()
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
        Unheard sink;
        server.countsTypes = true;
        server.keys = {"lock:1", "lock:2"};
        RedisObserver observer{server, ConnectionName("redis"), ObserverOptions{}, sink};
        observer.start();
        loop.advance(1s);
        QCOMPARE(observer.snapshots().size(), 2u);
        QCOMPARE(server.askedForHashes, 0);
        server.keys.insert(server.keys.begin(), "checkout:1");
        server.hashes = {"checkout:1"};
        loop.advance(15min);
        QCOMPARE(observer.snapshots().size(), 3u);
    }
    void whetherTheServerSaysThatNoHashIs_data()
    {
        QTest::addColumn<QByteArray>("info");
        QTest::addColumn<bool>("says");
        const QByteArray strings = "# Keysizes\r\ndb0_distrib_strings_sizes:8=5,16=1\r\n";
        QTest::newRow("none") << strings << true;
        QTest::newRow("one") << strings + "db0_distrib_hashes_items:1=1\r\n" << false;
        QTest::newRow("in another database") << strings + "db3_distrib_hashes_items:4=2\r\n" << false;
        QTest::newRow("counted in another way") << strings + "db0_distrib_hashes_sizes:4=2\r\n" << false;
        QTest::newRow("before Redis 8") << QByteArray() << false;
        QTest::newRow("an empty server") << QByteArray("# Keysizes\r\n") << false;
        QTest::newRow("names that we do not know") << QByteArray("# Keysizes\r\ndb0_strings:5\r\n") << false;
        QTest::newRow("refused") << QByteArray("NOPERM this user may not") << false;
        QTest::newRow("all nodes") << "# Node a:1\r\n" + strings + "# Node b:1\r\n# Keysizes\r\n" << true;
        QTest::newRow("one node does not say") << "# Node a:1\r\n" + strings + "# Node b:1\r\n" << false;
    }
    void whetherTheServerSaysThatNoHashIs()
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
    void whatTheServerCounts_data()
    {
        QTest::addColumn<QByteArray>("info");
        QTest::addColumn<qint64>("keys");
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
    void whatTheServerCounts()
    {
        QFETCH(QByteArray, info);
        QFETCH(qint64, keys);
        QFETCH(qint64, ending);
        QCOMPARE(endingKeysIn(info, keys).value_or(-1), ending);
    }

    // A key of which nothing was told is seen in the end, however slowly it is made sure.
    void whatNobodyToldOfIsSeenInTheEnd()
    {
        Watched watched(2000 / share);
        watched.server.keys.push_back("lock:silent"); // the last in order
        watched.loop.advance(15min);
        QCOMPARE(watched.observer.snapshots().size(), 2000u / share + 1);
    }

    void whatMayHaveBeenMissedIsLookedForAtOnce()
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
