// SPDX-License-Identifier: Apache-2.0
// A Redis Cluster as one connection, over nodes that are played: where commands go, how redirects are followed,
// what a failover looks like from here. On virtual time.
#include "clusterfakes.h"
#include "core/redis/clusternodes.h"
#include "core/redis/client.h"
#include "tests/support/testmain.h"

using redis::ConnectionState;
using redis::Value;

namespace {

// Of the first and the third node below: slots 5061 and 12182.
const QByteArray keyOnA("bar"), keyOnC("foo");

HostPort hostOfNode(char name)
{
    return {u"10.0.0."_s + QString::number(name - 'a' + 1), 7000};
}

Value rangeOf(qint64 from, qint64 to, char node)
{
    const auto host = hostOfNode(node);
    return redisList({redisNumber(from), redisNumber(to),
                      redisList({redisBulk(host.host.toLatin1()), redisNumber(host.port), redisBulk("id")})});
}

} // namespace

class TestRedisCluster : public QObject {
    Q_OBJECT

    std::unique_ptr<VirtualLoop> m_loop;
    std::map<char, std::shared_ptr<FakeRedisServer>> m_servers;
    Value m_slots; // what every node says
    std::unique_ptr<redis::Connection> m_cluster;
    int m_told = 0; // times the state was told
    Subscription m_states;

    FakeRedisServer &server(char name) { return *m_servers.at(name); }
    void layOut(char first, char second, char third)
    {
        m_slots = redisList({rangeOf(0, 5460, first), rangeOf(5461, 10922, second), rangeOf(10923, 16383, third)});
    }
    void connect()
    {
        m_cluster = redis::openCluster(*m_loop, {hostOfNode('a'), hostOfNode('b')}, [this](const HostPort &host) {
            const auto name = static_cast<char>('a' + host.host.section(u'.', 3).toInt() - 1);
            return std::make_unique<FakeRedisConnection>(*m_loop, m_servers.at(name));
        });
        m_states = m_cluster->onState([this](ConnectionState) { ++m_told; });
        m_loop->advance(100ms);
    }
    [[nodiscard]] Deadline soon() const { return Deadline::after(*m_loop, 5s); }
    Result<Value> ask(const redis::Command &command, Duration within = 6s)
    {
        const auto reply = m_cluster->command(command, soon());
        m_loop->advance(within);
        return reply.isComplete() ? reply.value() : Error{ErrorCode::TimedOut, u"no answer"_s};
    }
    QByteArray textOfAnswer(const redis::Command &command)
    {
        const auto got = ask(command);
        return got ? got->text : got.error().message.toUtf8();
    }
    void notifyOf(char name, bool isDown)
    {
        server(name).isDown = isDown;
        server(name).states.tell(*m_loop, isDown ? ConnectionState::Connecting : ConnectionState::Connected);
        m_loop->runReady();
    }

private slots:
    void init()
    {
        m_loop = std::make_unique<VirtualLoop>();
        m_servers.clear();
        m_told = 0;
        layOut('a', 'b', 'c');
        for (const char name : {'a', 'b', 'c', 'd'}) {
            auto made = std::make_shared<FakeRedisServer>();
            made->subscriberId = 100 + name;
            made->answer = [this, name](const redis::Command &command) {
                return command.first() == "CLUSTER" ? m_slots : redisBulk(QByteArray(1, name));
            };
            m_servers.emplace(name, made);
        }
    }
    void cleanup()
    {
        m_states = {};
        m_cluster.reset();
        m_loop.reset();
    }

    void slotsAreThoseOfTheServers_data()
    {
        const Rows<QByteArray, int> row("key", "slot");
        // As CLUSTER KEYSLOT of Redis 7.0 says.
        row("the check value of CRC16", "123456789", 12739);
        row("foo", "foo", 12182);
        row("bar", "bar", 5061);
        row("empty", {}, 0);
        row("a hash tag", "{foo}:queue", 12182);
        row("in the middle", "lock:{foo}:x", 12182);
        row("the first of two", "{foo}{bar}", 12182);
        row("up to the first brace", "{foo}}", 12182);
    }
    void slotsAreThoseOfTheServers()
    {
        QFETCH(QByteArray, key);
        QTEST(redis::hashSlot(key), "slot");
    }
    void anEmptyTagIsNone()
    {
        QCOMPARE(redis::hashTag("foo{}{bar}"), QByteArrayView("foo{}{bar}"));
        QCOMPARE(redis::hashTag("foo{{bar}}zap"), QByteArrayView("{bar"));
        QCOMPARE(redis::hashTag("open{bar"), QByteArrayView("open{bar"));
    }

    void keysOfCommands_data()
    {
        const Rows<QByteArrayList, QByteArrayList> row("command", "keys");
        using List = QByteArrayList;
        row("the first word", List{"SET", "k", "v", "NX"}, List{"k"});
        row("in small letters", List{"get", "k"}, List{"k"});
        row("none", List{"TIME"}, List{});
        row("behind a sub-command", List{"OBJECT", "IDLETIME", "k"}, List{"k"});
        row("memory", List{"MEMORY", "USAGE", "k", "SAMPLES", "1"}, List{"k"});
        row("a script", List{"EVALSHA", "sha", "2", "a", "b", "arg"}, List{"a", "b"});
        row("a script without", List{"EVAL", "return 1", "0", "arg"}, List{});
        row("a script that counts wrong", List{"EVAL", "return 1", "x", "arg"}, List{});
        row("all", List{"DEL", "a", "b"}, List{"a", "b"});
        row("every other", List{"MSET", "a", "1", "b", "2"}, List{"a", "b"});
        row("not the last", List{"BLPOP", "a", "b", "0"}, List{"a", "b"});
        row("streams", List{"XREAD", "COUNT", "1", "STREAMS", "a", "b", "0", "0"}, List{"a", "b"});
        row("of a command of tomorrow", List{"NEWGET", "k", "x"}, List{"k"});
        row("a channel is no key", List{"PUBLISH", "c", "x"}, List{});
    }
    void keysOfCommands()
    {
        QFETCH(QByteArrayList, command);
        QTEST(redis::keysOf(command), "keys");
    }

    void layoutsAndRedirectsAreReadWithCare()
    {
        const HostPort asked{u"10.0.0.9"_s, 7009};
        auto own = redisList({redisNumber(0), redisNumber(16383), redisList({redisBulk({}), redisNumber(7001)})});
        auto layout = redis::ClusterLayout::read(redisList({own}), asked);
        QVERIFY(layout);
        QCOMPARE(layout->primaries(), (std::vector{HostPort{u"10.0.0.9"_s, 7001}}));
        QCOMPARE(layout->unserved(), 0);
        for (const auto &hostile : {rangeOf(-1, 5, 'a'), rangeOf(5, 16384, 'a'), rangeOf(9, 5, 'a'), redisNumber(1)})
            QVERIFY(!redis::ClusterLayout::read(redisList({hostile}), asked));
        QVERIFY(!redis::ClusterLayout::read(redisError("ERR This instance has cluster support disabled"), asked));

        const auto moved = redis::redirectOf(redisError("MOVED 3999 ::1:6381"), asked);
        QVERIFY(moved && moved->kind == redis::Redirect::Kind::Moved);
        QCOMPARE(moved->slot, 3999);
        QCOMPARE(displayHost(moved->to), u"[::1]:6381"_s);
        QCOMPARE(redis::redirectOf(redisError("ASK 1 :6381"), asked)->to, (HostPort{u"10.0.0.9"_s, 6381}));
        for (const auto *other : {"MOVED", "MOVED x h:1", "MOVED 99999 h:1", "MOVED 1 h", "MOVED 1 h:0", "ERR MOVED"})
            QVERIFY2(!redis::redirectOf(redisError(other), asked), other);
    }

    void aCommandGoesToTheNodeOfItsKey()
    {
        connect();
        QCOMPARE(m_cluster->state(), ConnectionState::Connected);
        QCOMPARE(textOfAnswer({"GET", keyOnA}), "a");
        QCOMPARE(textOfAnswer({"GET", keyOnC}), "c");
        QCOMPARE(textOfAnswer({"OBJECT", "IDLETIME", "lock:{" + keyOnC + "}"}), "c");
        QCOMPARE(textOfAnswer({"EVALSHA", "sha", "1", keyOnA, keyOnC}), "a"); // an argument is no key
    }
    void aPipelineIsSplitAndKeepsItsOrder()
    {
        connect();
        const auto reply = m_cluster->pipeline(
            {{"GET", keyOnC}, {"TIME"}, {"GET", keyOnA}, {"GET", keyOnC}, {"GET", keyOnA}}, soon());
        m_loop->advance(1s);
        QVERIFY(reply.isComplete() && reply.value());
        QByteArrayList answers;
        for (const auto &one : *reply.value())
            answers << one.text;
        QCOMPARE(answers.join(), QByteArray("caaca"));
        QCOMPARE(server('c').asked.size(), 2);
    }
    void keysInSeveralSlotsAreRefused()
    {
        connect();
        const auto got = ask({"EVAL", "return 1", "2", keyOnA, keyOnC});
        QVERIFY(!got);
        QCOMPARE(got.error().code, ErrorCode::BadInput);
        QVERIFY2(got.error().message.contains(u"different slots"_s), qPrintable(got.error().message));
        const auto script = m_cluster->script({"name", "text", "sha"}, {keyOnA, keyOnC}, {}, soon());
        m_loop->advance(1s);
        QCOMPARE(script.value().error().code, ErrorCode::BadInput);
        QCOMPARE(server('a').asked, QByteArrayList());
    }

    void movedIsFollowedAndRemembered()
    {
        connect();
        layOut('d', 'b', 'c');
        server('a').answer = [this](const redis::Command &command) {
            return command.first() == "CLUSTER" ? m_slots : redisError("MOVED 5061 10.0.0.4:7000");
        };
        QCOMPARE(textOfAnswer({"GET", keyOnA}), "d");
        server('a').asked.clear();
        QCOMPARE(textOfAnswer({"GET", keyOnA}), "d");
        QCOMPARE(server('a').asked, QByteArrayList());
        QCOMPARE(m_cluster->state(), ConnectionState::Connected);
    }
    void askIsFollowedOnceWithAWordBefore()
    {
        connect();
        server('a').answer = [this](const redis::Command &command) {
            return command.first() == "CLUSTER" ? m_slots : redisError("ASK 5061 10.0.0.3:7000");
        };
        QCOMPARE(textOfAnswer({"GET", keyOnA}), "c");
        QCOMPARE(server('c').asked, (QByteArrayList{"ASKING", "GET bar"}));
        QCOMPARE(textOfAnswer({"GET", keyOnA}), "c");
        QCOMPARE(server('a').asked.size(), 2); // asked first each time: the slot is still there
    }
    void aClusterThatIsDownForAMomentIsWaitedFor()
    {
        connect();
        int refusals = 3;
        server('c').answer = [this, &refusals](const redis::Command &command) {
            if (command.first() == "CLUSTER")
                return m_slots;
            return refusals-- > 0 ? redisError("CLUSTERDOWN The cluster is down") : redisBulk("at last");
        };
        QCOMPARE(textOfAnswer({"GET", keyOnC}), "at last");
        refusals = 1'000'000;
        const auto got = ask({"GET", keyOnC});
        QVERIFY(!got);
        QVERIFY2(got.error().message.contains(u"CLUSTERDOWN"_s) && got.error().retryable,
                 qPrintable(got.error().message));
    }

    void aReplicaThatTakesOverIsFound()
    {
        connect();
        m_told = 0;
        notifyOf('a', true);
        QCOMPARE(m_cluster->state(), ConnectionState::Connecting);
        QVERIFY(m_cluster->lastError().contains(u"refused"_s));
        QCOMPARE(textOfAnswer({"GET", keyOnC}), "c"); // the others answer
        const auto waits = m_cluster->command({"SET", keyOnA, "1"}, soon());
        m_loop->advance(1s);
        QVERIFY(!waits.isComplete());
        layOut('d', 'b', 'c');
        m_loop->advance(1s);
        QVERIFY(waits.isComplete() && waits.value());
        QCOMPARE(waits.value()->text, "d");
        QCOMPARE(server('d').asked, QByteArrayList{"SET bar 1"});
        QCOMPARE(m_cluster->state(), ConnectionState::Connected);
        QVERIFY(m_told >= 2); // that it was gone, and that it is back
    }
    void aNodeThatStaysAwayIsToldByTheDeadline()
    {
        connect();
        notifyOf('a', true);
        const auto got = ask({"SET", keyOnA, "1"});
        QVERIFY(!got);
        QCOMPARE(got.error().code, ErrorCode::NotConnected); // nothing was sent
        QVERIFY(got.error().retryable);
        // What is out when the connection breaks is not sent again.
        QCOMPARE(server('a').asked, QByteArrayList());
    }
    // No replica takes over: what the other nodes serve is not held back for it.
    void nodesThatAreLeftServeTheirSlots()
    {
        connect();
        notifyOf('a', true);
        m_loop->advance(4s);
        QCOMPARE(m_cluster->state(), ConnectionState::Connecting); // a replica may take over
        QVERIFY(m_cluster->isServed(keyOnA) && m_cluster->missing().isEmpty());
        m_loop->advance(2s);
        QCOMPARE(m_cluster->state(), ConnectionState::Connected);
        QVERIFY2(m_cluster->missing().contains(u"0-5460 (connection refused)"_s), qPrintable(m_cluster->missing()));
        QVERIFY(!m_cluster->isServed(keyOnA) && m_cluster->isServed(keyOnC));
        QVERIFY(m_cluster->lastError().isEmpty());
        server('b').asked.clear();
        QCOMPARE(textOfAnswer({"PING"}), "b");
        (void)ask({"SCAN", "0"});
        QVERIFY(server('b').asked.contains("SCAN 0"));
        const auto toldBefore = m_told;
        notifyOf('a', false);
        m_loop->advance(1s);
        QVERIFY(m_cluster->missing().isEmpty() && m_cluster->isServed(keyOnA));
        QVERIFY(m_told > toldBefore); // that it was missed
    }
    // Who asks once is not kept waiting for a replica that may take over.
    void nodeThatIsAwayFromTheStartIsNotWaitedFor()
    {
        server('c').isDown = true;
        connect();
        QCOMPARE(m_cluster->state(), ConnectionState::Connected);
        QVERIFY2(m_cluster->missing().contains(u"10923-16383"_s), qPrintable(m_cluster->missing()));
        notifyOf('c', true); // another attempt failed
        QCOMPARE(m_cluster->state(), ConnectionState::Connected);
        QVERIFY(m_cluster->isServed(keyOnA) && !m_cluster->isServed(keyOnC));
    }
    void clusterWithoutFullCoverageIsNotConnected()
    {
        for (const auto &[name, fake] : m_servers) {
            fake->answer = [this](const redis::Command &command) {
                return command[0] == "CLUSTER" && command[1] == "INFO" ? redisBulk("cluster_state:fail\r\n")
                                                                       : m_slots;
            };
        }
        connect();
        notifyOf('a', true);
        m_loop->advance(20s);
        QCOMPARE(m_cluster->state(), ConnectionState::Connecting);
        QVERIFY2(m_cluster->lastError().contains(u"cluster-require-full-coverage"_s),
                 qPrintable(m_cluster->lastError()));
    }
    void beforeTheLayoutIsKnownNothingIsSent()
    {
        for (const char name : {'a', 'b'})
            server(name).isDown = true;
        connect();
        QCOMPARE(m_cluster->state(), ConnectionState::Connecting);
        QVERIFY(m_cluster->lastError().contains(u"refused"_s));
        QCOMPARE(ask({"GET", keyOnA}).error().code, ErrorCode::NotConnected);
        notifyOf('b', false);
        m_loop->advance(1s);
        QVERIFY(ask({"GET", keyOnC}));
    }
    void slotsThatNobodyServesAreSaid()
    {
        m_slots = redisList({rangeOf(0, 99, 'a')});
        server('a').answer = server('b').answer = [this](const redis::Command &command) {
            return command.value(1) == "INFO" ? redisBulk("cluster_state:fail\r\n") : m_slots;
        };
        connect();
        QCOMPARE(m_cluster->state(), ConnectionState::Connecting);
        QVERIFY2(m_cluster->lastError().contains(u"no node serves 16284 of its 16384 slots"_s),
                 qPrintable(m_cluster->lastError()));
    }
    void theEndAnswersWhatIsOut()
    {
        connect();
        notifyOf('a', true);
        const auto waits = m_cluster->command({"SET", keyOnA, "1"}, soon());
        m_loop->advance(100ms);
        m_cluster.reset();
        m_loop->runReady();
        QVERIFY(waits.isComplete() && !waits.value());
    }

    void scanSweepsEveryPrimary()
    {
        for (const char name : {'a', 'b', 'c'}) {
            server(name).answer = [this, name](const redis::Command &command) {
                if (command.first() == "CLUSTER")
                    return m_slots;
                const bool isFirst = command[1] == "0";
                return redisList(
                    {redisBulk(isFirst ? "17" : "0"), redisList({redisBulk(QByteArray(1, name) + command[1])})});
            };
        }
        connect();
        QByteArrayList keys;
        QByteArray cursor = "0";
        do {
            const auto page = ask({"SCAN", cursor, "COUNT", "10"}, 10ms);
            QVERIFY(page && page->items.size() == 2);
            cursor = page->items[0].text;
            keys << page->items[1].items.front().text;
        } while (cursor != "0" && keys.size() < 20);
        QCOMPARE(keys.join(' '), QByteArray("a0 a17 b0 b17 c0 c17"));
    }
    void scanBeginsAnewWithOtherPrimaries()
    {
        server('a').answer = server('d').answer = [this](const redis::Command &command) {
            return command.first() == "CLUSTER" ? m_slots
                                                : redisList({redisBulk("9"), redisList({redisBulk(command[1])})});
        };
        connect();
        const auto before = ask({"SCAN", "0"}, 10ms);
        layOut('d', 'b', 'c');
        m_loop->advance(30s);
        const auto after = ask({"SCAN", before->items[0].text}, 10ms);
        QVERIFY(after);
        QCOMPARE(after->items[1].items.front().text, "0");
        QCOMPARE(server('d').asked, QByteArrayList{"SCAN 0"});
    }

    void repliesOfAllNodesAreMerged()
    {
        for (const char name : {'a', 'b', 'c'}) {
            server(name).answer = [this, name](const redis::Command &command) {
                const auto words = command.join(' ');
                if (command.first() == "CLUSTER")
                    return m_slots;
                if (words == "CLIENT ID")
                    return redisNumber(7);
                if (words == "CLIENT LIST")
                    return redisBulk("id=7 addr=us:1\nid=8 addr=" + QByteArray(1, name)
                                     + ":2\nid=" + QByteArray::number(100 + name) + " addr=us:3\n");
                if (words == "DBSIZE")
                    return redisNumber(name - 'a' + 1);
                if (words == "PUBSUB NUMSUB x y")
                    return redisList({redisBulk("x"), redisNumber(1), redisBulk("y"), redisNumber(1)});
                if (words == "PUBSUB SHARDNUMSUB x y")
                    return name == 'a' ? redisList({redisBulk("x"), redisNumber(4), redisBulk("y"), redisNumber(2)})
                                       : redisError("ERR unknown");
                if (words == "CONFIG GET same")
                    return redisList({redisBulk("same"), redisBulk("1")});
                return words.startsWith("CONFIG") ? redisList({redisBulk("other"), redisBulk(QByteArray(1, name))})
                                                  : redisBulk("OK");
            };
        }
        connect();
        QCOMPARE(ask({"DBSIZE"})->integer, 6);
        // Of plain and sharded channels those that more listen to: who listens to both is one.
        const auto listening = ask({"PUBSUB", "NUMSUB", "x", "y"});
        QCOMPARE(listening->items[1].integer, 4);
        QCOMPARE(listening->items[3].integer, 3);
        QCOMPARE(ask({"CONFIG", "GET", "same"})->items[1].text, "1");
        QVERIFY(!ask({"CONFIG", "GET", "other"}));
        // Each node tells its own subscriber.
        QVERIFY(ask({"CLIENT", "TRACKING", "ON", "REDIRECT", "5", "BCAST"}));
        QVERIFY(server('b').asked.contains("CLIENT TRACKING ON REDIRECT 198 BCAST"));
        QVERIFY(server('c').asked.contains("CLIENT TRACKING ON REDIRECT 199 BCAST"));
        // Ids are each node's own; ours are left out.
        QCOMPARE(ask({"CLIENT", "LIST"})->text, "id=8@10.0.0.1:7000 addr=a:2\nid=8@10.0.0.2:7000 addr=b:2\n"
                                                "id=8@10.0.0.3:7000 addr=c:2\n");
        notifyOf('b', true);
        QVERIFY(!ask({"DBSIZE"})); // of a part it would be a wrong number
    }

    void plainChannelsHaveOneNodeAndKeyEventsAll()
    {
        connect();
        int heard = 0;
        const auto listener = [&heard](const redis::Message &) { ++heard; };
        const auto plain = m_cluster->subscribe("redisson_lock__channel:{x}", listener);
        const auto events = m_cluster->subscribePattern("__keyevent@*__:*", listener);
        const auto tracking = m_cluster->subscribe("__redis__:invalidate", listener);
        QCOMPARE(server('a').topics.size(), 3);
        QCOMPARE(server('b').topics, (QByteArrayList{"__keyevent@*__:*", "__redis__:invalidate"}));
        QCOMPARE(server('c').topics.size(), 2);
        // The node of the plain channel goes: another one has it, and that something may be missing is told.
        m_told = 0;
        notifyOf('a', true);
        m_loop->runReady();
        QVERIFY(server('b').topics.contains("redisson_lock__channel:{x}"));
        QVERIFY(m_told > 0);
        layOut('d', 'b', 'c');
        m_loop->advance(1s);
        QCOMPARE(server('d').topics.size(), 2);
        const auto id = m_cluster->subscriberId(soon());
        m_loop->advance(1s);
        QVERIFY(id.isComplete() && id.value());
    }

    // Redisson publishes there from Redis 7 on.
    void aChannelIsListenedToOnItsShardToo()
    {
        connect();
        const auto on = m_cluster->subscribe("c:{foo}", [](const redis::Message &) {});
        const auto each = m_cluster->subscribe("__redis__:invalidate", [](const redis::Message &) {});
        const auto pattern = m_cluster->subscribePattern("c:*", [](const redis::Message &) {});
        QCOMPARE(server('c').shards, QByteArrayList{"c:{foo}"});
        QVERIFY(server('a').shards.isEmpty() && server('b').shards.isEmpty());
        // Its slot moves to another of the same nodes: what was said in between may have been missed.
        m_slots = redisList({rangeOf(0, 5460, 'a'), rangeOf(5461, 13000, 'b'), rangeOf(13001, 16383, 'c')});
        m_told = 0;
        m_loop->advance(11s);
        QCOMPARE(server('b').shards, QByteArrayList{"c:{foo}"});
        QVERIFY(m_told > 0);
        QCOMPARE(server('c').shards, QByteArrayList{"c:{foo}"});
    }

    void aScriptPublishesOnTheShardToo()
    {
        connect();
        const redis::Script silent{"silent", "return redis.call('GET', KEYS[1])", "5113"};
        const redis::Script loud{"loud", "return redis.call('PUBLISH', KEYS[1], '0')", "100d"};
        server('c').answer = [this](const redis::Command &command) {
            const bool isUnknown = command.first() == "EVALSHA";
            return command.first() == "CLUSTER" ? m_slots : isUnknown ? redisError("NOSCRIPT no") : redisBulk("c");
        };
        for (const auto &script : {silent, loud}) {
            server('c').asked.clear();
            const auto reply = m_cluster->script(script, {keyOnC}, {}, soon());
            m_loop->advance(1s);
            QVERIFY(reply.isComplete() && reply.value());
            QCOMPARE(server('c').asked.size(), 2);
            const bool isLoud = script.name == "loud";
            QCOMPARE(server('c').asked[0].startsWith("EVALSHA " + script.sha), !isLoud);
            QCOMPARE(server('c').asked[1].contains("'SPUBLISH'"), isLoud);
            QVERIFY(server('c').asked[1].contains(script.text));
        }
    }
};

LOCKSCOPE_TEST(TestRedisCluster)
#include "tst_redis_cluster.moc"
