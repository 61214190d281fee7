// SPDX-License-Identifier: Apache-2.0
// Which connection of a Redis a lock's contender is: told where nothing else can be meant, and else not.
#include "core/inspect/redis/observerreader.h"
#include "core/inspect/waits/waitgraph.h"
#include "core/rules/turn.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;

namespace {

const QByteArray uuidOfToken("3f1c6a52-8d0e-4b5f-9f0a-0d6e5c4b3a21");
const QByteArray ordersChannel("redisson_lock__channel:{orders}");

const QByteArray threeClients("id=4 addr=10.0.0.1:4001 name=billing-7 sub=1 ssub=0 cmd=subscribe\n"
                              "id=5 addr=10.0.0.2:4002 name=orders-3 sub=0 cmd=get\n"
                              "id=6 addr=10.0.0.3:4003 name= sub=0 cmd=ping\n");

LockSnapshot redisLock(const QByteArray &recipe, const QByteArray &value, int listening)
{
    LockSnapshot lock{.lock = {ConnectionName("redis"), "orders"},
                      .backend = BackendKind::Redis,
                      .state = listening > 0 ? LockState::Contended : LockState::Held,
                      .recipe = recipe};
    Contender holder;
    holder.id = holder.guard.edit<inspect::RedisIdentity>().value = value;
    holder.role = Role::Holder;
    lock.contenders.push_back(holder);
    for (int n = 1; n <= listening; ++n) {
        Contender waiter{.id = "subscriber " + QByteArray::number(n)};
        lock.contenders.push_back(waiter);
    }
    return lock;
}

LockSnapshot toldOf(const LockSnapshot &lock, const QByteArray &list, const ChannelCounts &counts)
{
    return ConnectedClients(readClientList(list, {}), counts).told(lock, counts).value_or(lock);
}

} // namespace

class TestRedisClients : public QObject {
    Q_OBJECT

private slots:
    void theOnlyListenerIsTheWaiter()
    {
        const auto lock =
            toldOf(redisLock("redisson-lock", uuidOfToken + ":1", 1), threeClients, {{ordersChannel, 1}});
        const auto &waiter = lock.contenders[1];
        QCOMPARE(waiter.session, u"4"_s);
        QCOMPARE(waiter.endpoint, u"10.0.0.1:4001"_s);
        QCOMPARE(waiter.program, "billing-7");
        QVERIFY(!lock.contenders[0].session); // a token says nothing about a connection
    }

    // Who of two listens here, and who elsewhere, CLIENT LIST does not say.
    void moreListenersThanWaiters_noneIsAttributed()
    {
        const auto list = threeClients + "id=7 addr=10.0.0.4:4004 name=other sub=2\n";
        const auto before = redisLock("redisson-lock", uuidOfToken + ":1", 1);
        QCOMPARE(toldOf(before, list, {{ordersChannel, 1}}), before);
        const auto both = toldOf(redisLock("redisson-lock", uuidOfToken + ":1", 2), list, {{ordersChannel, 2}});
        QCOMPARE(both.contenders[1].session, u"4"_s);
        QCOMPARE(both.contenders[2].session, u"7"_s);
        QVERIFY(!both.contenders[2].program); // it listens elsewhere, too: several threads
    }

    void attributionIsRemovedWithTheClients()
    {
        const auto before = redisLock("redisson-lock", uuidOfToken + ":1", 1);
        const auto told = toldOf(before, threeClients, {{ordersChannel, 1}});
        QVERIFY(told != before);
        QCOMPARE(toldOf(told, {}, {{ordersChannel, 1}}), before);
        // Another listens by now than when the clients were listed.
        const ConnectedClients then(readClientList(threeClients, {}), {{ordersChannel, 1}});
        QVERIFY(then.isUpToDate({{ordersChannel, 1}}));
        QVERIFY(!then.isUpToDate({{ordersChannel, 2}}));
    }

    // Redisson's fair lock: each waiter has a channel of its own.
    void aFairLocksWaiterIsToldByItsChannel()
    {
        auto lock = redisLock("redisson-fair-lock", uuidOfToken + ":1", 0);
        Contender waiter;
        waiter.id = waiter.guard.edit<inspect::RedisIdentity>().value = "9b2f4c1d-1111-4222-8333-444455556666:7";
        lock.contenders.push_back(waiter);
        const auto channels = waiterChannels(lock);
        QCOMPARE(channels, std::vector<QByteArray>(1, ordersChannel + ':' + waiter.id));
        const ConnectedClients clients(readClientList(threeClients, {}), {{channels.front(), 1}});
        const auto told = clients.told(lock, {{ordersChannel, 0}});
        QVERIFY(told);
        QCOMPARE(told->contenders[1].program, "billing-7");
    }

    void writtenValueNamesAConnection_data()
    {
        addColumns<QByteArray, QByteArray>("value", "list");
        QTest::addColumn<QByteArray>("endpoint"); // empty: not told
        const QByteArray named("10.0.0.2:4002");
        QTest::newRow("its name") << QByteArray("orders-3") << threeClients << named;
        QTest::newRow("its name and a UUID") << "orders-3:" + uuidOfToken << threeClients << named;
        QTest::newRow("its address") << named << threeClients << named;
        QTest::newRow("a longer name") << QByteArray("orders-31") << threeClients << QByteArray();
        QTest::newRow("what is more than a UUID behind it")
            << "orders-3-1:" + uuidOfToken << threeClients << QByteArray();
        QTest::newRow("a UUID alone") << uuidOfToken << threeClients << QByteArray();
        QTest::newRow("a name that two have")
            << QByteArray("orders-3") << threeClients + "id=7 addr=10.0.0.2:4009 name=orders-3 sub=0\n"
            << QByteArray();
        QTest::newRow("its machine's name, by its library")
            << QByteArray("web01") << QByteArray("id=7 addr=10.0.0.2:4009 name=web01 sub=0 lib-name=SE.Redis\n")
            << QByteArray();
        QTest::newRow("a mark that says nothing")
            << QByteArray("1") << QByteArray("id=7 addr=10.0.0.2:4009 name=1 sub=0\n") << QByteArray();
    }
    void writtenValueNamesAConnection()
    {
        QFETCH(QByteArray, value);
        QFETCH(QByteArray, list);
        const auto lock = toldOf(redisLock("redis-set-nx", value, 0), list, {});
        QTEST(lock.contenders[0].endpoint.value_or(QString()).toUtf8(), "endpoint");
    }

    // CLIENT SETNAME on one server, kazoo's identifier on the other.
    void sameConnectionNameIsOneClientOnBothServers()
    {
        auto rows = redisLock("redis-set-nx", "orders-3", 1);
        rows.contenders[0].identity = "orders-3";
        const auto redis = toldOf(rows, threeClients, {{ordersChannel, 1}});
        LockSnapshot kazoo{.lock = {ConnectionName("zk"), "/locks/stock"}};
        kazoo.recipe = "kazoo-lock";
        kazoo.state = LockState::Contended;
        for (const auto *name : {"billing-7", "orders-3"}) {
            Contender one;
            one.id = one.identity.emplace(name);
            one.role = kazoo.contenders.empty() ? Role::Holder : Role::Waiter;
            one.session = u"0x"_s + QString::fromLatin1(name);
            one.endpoint = one.role == Role::Holder ? u"10.0.0.1:9"_s : u"10.0.0.2:9"_s;
            kazoo.contenders.push_back(one);
        }
        const auto graph = waitGraphOf({kazoo, redis}, {}, {});
        QCOMPARE(graph.clients.size(), size_t(2));
        for (const auto &client : graph.clients)
            QCOMPARE(word(client.join), u"client-name"_s);
        QCOMPARE(graph.cycles.size(), size_t(1));
        // The same name from another host is another client.
        kazoo.contenders[0].endpoint = u"10.9.9.9:9"_s;
        QVERIFY(waitGraphOf({kazoo, redis}, {}, {}).cycles.empty());
    }
};

LOCKSCOPE_TEST(TestRedisClients)
#include "tst_redis_clients.moc"
