// SPDX-License-Identifier: Apache-2.0
// The primary that sentinels name, and what a server says of itself, over servers that are played. On virtual time.
#include "clusterfakes.h"
#include "core/redis/client.h"
#include "tests/support/testmain.h"

using redis::ConnectionState;
using redis::Value;

namespace {

Value roleOf(const QByteArray &role)
{
    return role == "slave" ? redisList(
               {redisBulk("slave"), redisBulk("10.0.0.1"), redisNumber(6379), redisBulk("connected"), redisNumber(1)})
                           : redisList({redisBulk(role), redisNumber(1), redisList({})});
}

} // namespace

class TestRedisSentinel : public QObject {
    Q_OBJECT

    std::unique_ptr<VirtualLoop> m_loop;
    std::map<QString, std::shared_ptr<FakeRedisServer>> m_servers; // by host
    QByteArray m_named;                                            // what the sentinels say
    std::unique_ptr<redis::Connection> m_connection;

    FakeRedisServer &server(const QString &host)
    {
        auto &one = m_servers[host];
        if (!one)
            one = std::make_shared<FakeRedisServer>();
        return *one;
    }
    void addServer(const QString &host, const QByteArray &role)
    {
        server(host).answer = [host, role](const redis::Command &command) {
            if (command.first() == "ROLE")
                return roleOf(role);
            return role == "slave" && command.first() == "SET"
                       ? redisError("READONLY You can't write against a read only replica.")
                       : redisBulk(host.toLatin1());
        };
    }
    void connect(const QByteArray &service = "orders")
    {
        redis::SentinelOpeners openers;
        openers.server = [this](const HostPort &host) {
            (void)server(host.host);
            return std::make_unique<FakeRedisConnection>(*m_loop, m_servers.at(host.host));
        };
        openers.sentinel = [open = openers.server](const HostPort &host, bool) { return open(host); };
        m_connection = redis::openBySentinels(*m_loop, {{u"s1"_s, 26379}, {u"s2"_s, 26379}}, service, openers);
        m_loop->advance(1s);
    }
    Result<Value> ask(const redis::Command &command)
    {
        const auto reply = m_connection->command(command, Deadline::after(*m_loop, 5s));
        m_loop->advance(10ms);
        return reply.isComplete() ? reply.value() : Error{ErrorCode::TimedOut, u"no answer"_s};
    }
    void notifyOf(const QString &host, bool isDown)
    {
        server(host).isDown = isDown;
        server(host).states.tell(*m_loop, isDown ? ConnectionState::Connecting : ConnectionState::Connected);
        m_loop->runReady();
    }

private slots:
    void init()
    {
        m_loop = std::make_unique<VirtualLoop>();
        m_servers.clear();
        m_named = "p1";
        for (const auto &host : {u"s1"_s, u"s2"_s}) {
            server(host).answer = [this](const redis::Command &command) {
                return command.value(2) == "orders" ? redisList({redisBulk(m_named), redisBulk("6379")}) : Value();
            };
        }
        addServer(u"p1"_s, "master");
        addServer(u"p2"_s, "master");
    }
    void cleanup()
    {
        m_connection.reset();
        m_loop.reset();
    }

    void thePrimaryIsAskedFor()
    {
        connect();
        QCOMPARE(m_connection->state(), ConnectionState::Connected);
        QCOMPARE(ask({"GET", "x"})->text, "p1");
    }
    void oneSentinelIsEnough()
    {
        server(u"s1"_s).isDown = true;
        connect();
        QCOMPARE(ask({"GET", "x"})->text, "p1");
    }
    void withoutSentinelsThereIsNone()
    {
        server(u"s1"_s).isDown = server(u"s2"_s).isDown = true;
        connect();
        QCOMPARE(m_connection->state(), ConnectionState::Connecting);
        QVERIFY2(m_connection->lastError().contains(u"refused"_s), qPrintable(m_connection->lastError()));
        QCOMPARE(ask({"GET", "x"}).error().code, ErrorCode::NotConnected);
    }
    void aNameTheyDoNotKnowIsSaid()
    {
        connect("shop");
        QVERIFY2(m_connection->lastError().contains(u"knows no shop"_s), qPrintable(m_connection->lastError()));
    }
    void aReplicaIsNotTakenForIt()
    {
        addServer(u"p1"_s, "slave");
        connect();
        QCOMPARE(m_connection->state(), ConnectionState::Connecting);
        QVERIFY2(m_connection->lastError().contains(u"reports that it is a replica"_s),
                 qPrintable(m_connection->lastError()));
        addServer(u"p1"_s, "master"); // it is promoted by and by
        m_loop->advance(1s);
        QCOMPARE(m_connection->state(), ConnectionState::Connected);
    }
    void aSwitchThatASentinelTellsIsFollowed()
    {
        connect();
        int heard = 0;
        const auto listening = m_connection->subscribe("channel", [&heard](const redis::Message &) { ++heard; });
        QCOMPARE(server(u"p1"_s).topics, QByteArrayList{"channel"});
        m_named = "p2";
        for (const auto &listener : server(u"s2"_s).listeners) {
            if (const auto alive = listener.lock())
                (*alive)(redis::Message{"+switch-master", {}, "orders p1 6379 p2 6379"});
        }
        m_loop->advance(1s);
        QCOMPARE(ask({"GET", "x"})->text, "p2");
        QCOMPARE(server(u"p2"_s).topics, QByteArrayList{"channel"});
    }
    // Before the switch is told, and before the others know of it.
    void aPromotionThatTheLeaderTellsIsFollowed_data()
    {
        const Rows<QByteArray, QByteArray> row("told", "answers");
        row("ours", "master orders p1 6379", "p2");
        row("another's", "master orders2 p1 6379", "p1");
    }
    void aPromotionThatTheLeaderTellsIsFollowed()
    {
        QFETCH(const QByteArray, told);
        connect();
        server(u"s2"_s).answer = [](const redis::Command &) {
            return redisList({redisBulk("p2"), redisBulk("6379")});
        };
        const auto listeners = server(u"s2"_s).listeners;
        for (const auto &listener : listeners) {
            if (const auto alive = listener.lock())
                (*alive)(redis::Message{"+failover-state-reconf-slaves", {}, told});
        }
        m_loop->advance(1s);
        QTEST(ask({"GET", "x"})->text, "answers");
        m_loop->advance(30s); // it is asked first from then on
        QTEST(ask({"GET", "x"})->text, "answers");
    }
    void aPrimaryThatIsGoneIsAskedForAgain()
    {
        connect();
        notifyOf(u"p1"_s, true);
        QCOMPARE(m_connection->state(), ConnectionState::Connecting);
        QCOMPARE(ask({"GET", "x"}).error().code, ErrorCode::NotConnected);
        m_named = "p2";
        m_loop->advance(1s);
        QCOMPARE(m_connection->state(), ConnectionState::Connected);
        QCOMPARE(ask({"GET", "x"})->text, "p2");
    }
    void aWriteThatAReplicaRefusesHasThemAskedAgain()
    {
        connect();
        addServer(u"p1"_s, "slave"); // it was made one, and its connections stayed
        m_named = "p2";
        QVERIFY(!ask({"SET", "x", "1"}));
        m_loop->advance(1s);
        QCOMPARE(ask({"SET", "x", "1"})->text, "p2");
    }

    // --- a plain address ---

    void aNodeOfAClusterIsLeftForTheCluster()
    {
        server(u"node"_s).answer = [](const redis::Command &command) {
            return command.first() == "INFO" ? redisBulk("# Cluster\r\ncluster_enabled:1\r\n") : roleOf("master");
        };
        addServer(u"cluster"_s, "master");
        redis::ServerPlace told;
        redis::FindingOpeners openers;
        openers.server = [this] { return std::make_unique<FakeRedisConnection>(*m_loop, m_servers.at(u"node"_s)); };
        openers.cluster = [this] {
            return std::make_unique<FakeRedisConnection>(*m_loop, m_servers.at(u"cluster"_s));
        };
        m_connection = redis::openFinding(*m_loop, openers, [&told](const auto &place) { told = place; });
        QCOMPARE(m_connection->state(), ConnectionState::Connecting);
        QCOMPARE(ask({"GET", "x"}).error().code, ErrorCode::NotConnected); // not before it is known
        const auto early = m_connection->subscribe("channel", [](const redis::Message &) {});
        notifyOf(u"node"_s, false);
        QVERIFY(told.isInCluster);
        QCOMPARE(m_connection->state(), ConnectionState::Connected);
        QCOMPARE(ask({"GET", "x"})->text, "cluster");
        QCOMPARE(server(u"cluster"_s).topics, QByteArrayList{"channel"});
    }
    void aReplicaIsToldOfAndWhatIsNotToldIsNoMatter()
    {
        QCOMPARE(redis::placeOf(redisBulk("cluster_enabled:0"), roleOf("slave")).replicaOf, u"10.0.0.1:6379"_s);
        QCOMPARE(redis::placeOf(redisBulk({}), roleOf("master")).replicaOf, QString());
        const auto refused = redis::placeOf(redisError("NOPERM cluster_enabled:1"), redisError("NOPERM slave"));
        QVERIFY(!refused.isInCluster && refused.replicaOf.isEmpty());
    }
};

LOCKSCOPE_TEST(TestRedisSentinel)
#include "tst_redis_sentinel.moc"
