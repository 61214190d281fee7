// SPDX-License-Identifier: Apache-2.0
// Locks that other people's clients hold and queue for, as the observers see them: kazoo, Curator,
// ZooKeeper's own recipe, redis-py.
#include "tests/interop/fetched.h"

#include "core/async/qtloop.h"
#include "core/inspect/findings.h"
#include "core/inspect/json.h"
#include "core/inspect/redis/observer.h"
#include "core/inspect/zookeeper/observer.h"
#include "core/redis/client.h"
#include "core/sandbox/server.h"
#include "core/zookeeper/client.h"
#include "tests/support/keepingsink.h"
#include "tests/support/testmain.h"

#include <QTcpSocket>

using namespace lockscope::inspect;
using namespace lockscope::interop;

namespace {

constexpr int seenPatienceMs = 20'000;

int placeOf(const LockSnapshot &lock, const QByteArray &id)
{
    const auto at = std::ranges::find(lock.contenders, id, &Contender::id);
    return at == lock.contenders.end() ? -1 : static_cast<int>(at - lock.contenders.begin());
}

// "0 holds read, 1 waits write ->0": contenders by their place, a proven watch as ->, an inferred as ~>.
QByteArray draw(const LockSnapshot &lock)
{
    QByteArrayList out;
    for (size_t i = 0; i < lock.contenders.size(); ++i) {
        const auto &one = lock.contenders[i];
        QByteArray text = QByteArray::number(static_cast<int>(i)) + (one.role == Role::Holder ? " holds" : " waits");
        for (const auto &edge : one.watches) {
            text += edge.evidence == Evidence::Server ? " ->" : " ~>";
            text += edge.children ? QByteArray("children") : QByteArray::number(placeOf(lock, edge.target));
        }
        out << text;
    }
    return lock.recipe + ": " + out.join(", ");
}

QByteArrayList identities(const LockSnapshot &lock)
{
    QByteArrayList out;
    for (const auto &contender : lock.contenders)
        out << contender.identity.value_or("-");
    return out;
}

bool hasEveryEndpoint(const LockSnapshot &lock)
{
    return std::ranges::all_of(lock.contenders, [](const Contender &one) {
        return one.session && one.session->startsWith(u"0x"_s) && one.endpoint
               && one.endpoint->startsWith(u"127.0.0.1:"_s);
    });
}

} // namespace

class TestInteropSeen : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    testing::KeepingSink m_sink;
    std::unique_ptr<sandbox::ZooKeeperServer> m_zooKeeper;
    std::unique_ptr<sandbox::Server> m_redis;
    std::unique_ptr<zk::Session> m_session;
    std::unique_ptr<zk::EvidenceSource> m_source;
    std::unique_ptr<Observer> m_zooKeeperObserver;
    std::unique_ptr<redis::Connection> m_connection;
    std::unique_ptr<Observer> m_redisObserver;
    std::unique_ptr<ForeignClient> m_kazoo, m_curator;

    QString ensemble() const { return u"%1:%2"_s.arg(m_zooKeeper->address().host).arg(m_zooKeeper->address().port); }
    static LockSnapshot lockOf(const Observer &observer, const QByteArray &name)
    {
        for (auto &snapshot : observer.snapshots()) {
            if (snapshot.lock.name == name)
                return snapshot;
        }
        return {};
    }
    LockSnapshot seen(const QByteArray &path) const { return lockOf(*m_zooKeeperObserver, path); }

    // How this test calls its contenders: their program serves several tests.
    static QByteArray nameOf(int i) { return QByteArray(QTest::currentTestFunction()) + QByteArray::number(i); }
    // Each queues after the one before is seen to, so the order is known.
    bool queueUp(ForeignClient &client, const QByteArrayList &kinds, const QByteArray &path,
                 const QByteArray &limit = "1")
    {
        for (int i = 0; i < kinds.size(); ++i) {
            client.tell("acquire " + nameOf(i) + ' ' + kinds[i] + ' ' + path + ' ' + limit);
            const bool queued = QTest::qWaitFor(
                [&] { return seen(path).contenders.size() == static_cast<size_t>(i + 1); }, seenPatienceMs);
            if (!queued)
                return false;
        }
        return client.says("held " + nameOf(0));
    }

private slots:
    void initTestCase()
    {
        for (const auto &why : {whyNoPythonClients(), whyNoCurator()}) {
            if (!why.isEmpty())
                QSKIP(why.constData());
        }
        OK(startInto(m_zooKeeper, sandbox::makeZooKeeper()));
        OK(startInto(m_redis, sandbox::makeRedis()));

        zk::SessionOptions options{.hosts = {m_zooKeeper->address()}};
        m_session = zk::openSession(m_loop, options);
        QTRY_COMPARE_WITH_TIMEOUT(m_session->state(), zk::SessionState::Connected, seenPatienceMs);
        m_source = std::make_unique<zk::EvidenceSource>(m_loop, options.hosts, m_zooKeeper->adminPort());
        m_zooKeeperObserver = std::make_unique<ZooKeeperObserver>(*m_session, *m_source, ConnectionName("zk"),
                                                                  QByteArray(), ObserverOptions(), m_sink);
        m_zooKeeperObserver->start();

        m_connection = redis::openConnection(m_loop, {.host = m_redis->address()});
        m_redisObserver =
            std::make_unique<RedisObserver>(*m_connection, ConnectionName("redis"), ObserverOptions(), m_sink);
        m_redisObserver->start();

        m_kazoo = pythonClient(u"kazoo_client.py"_s, {ensemble()});
        m_curator = javaClient(u"CuratorClient.java"_s, {ensemble()});
        for (const auto &client : {m_kazoo.get(), m_curator.get()})
            QVERIFY2(client->says("ready"), client->everythingSaid().constData());
    }
    void cleanupTestCase()
    {
        m_kazoo.reset();
        m_curator.reset();
        m_redisObserver.reset();
        m_zooKeeperObserver.reset();
        m_session.reset();
        zk::waitForClosingSessions(5s);
    }

    void theServerIsTheFetchedOne()
    {
        SKIP_FOR(whyNotFetched("ZOOKEEPER"));
        QTcpSocket socket;
        socket.connectToHost(m_zooKeeper->address().host, m_zooKeeper->address().port);
        QVERIFY(socket.waitForConnected(seenPatienceMs));
        socket.write("srvr");
        QByteArray said;
        while (socket.waitForReadyRead(seenPatienceMs))
            said += socket.readAll();
        QVERIFY2(said.contains("version: " + fetched("ZOOKEEPER").toLatin1() + '-'), said.constData());
    }

    void kazooLock()
    {
        QVERIFY2(queueUp(*m_kazoo, {"lock", "lock", "lock", "lock"}, "/locks/kazoo"),
                 m_kazoo->everythingSaid().constData());
        QTRY_COMPARE_WITH_TIMEOUT(draw(seen("/locks/kazoo")),
                                  QByteArray("kazoo-lock: 0 holds, 1 waits ->0, 2 waits ->1, 3 waits ->2"),
                                  seenPatienceMs);
        const auto lock = seen("/locks/kazoo");
        QCOMPARE(identities(lock), (QByteArrayList{nameOf(0), nameOf(1), nameOf(2), nameOf(3)}));
        QVERIFY(hasEveryEndpoint(lock));
        QCOMPARE(lock.state, LockState::Contended);
        QCOMPARE(lock.client, u"kazoo"_s);
        QVERIFY2(lock.findings.empty(), lock.findings.empty() ? "" : qPrintable(word(lock.findings[0].code)));

        m_kazoo->tell("release " + nameOf(0));
        QVERIFY(m_kazoo->says("held " + nameOf(1)));
        QTRY_COMPARE_WITH_TIMEOUT(identities(seen("/locks/kazoo")), (QByteArrayList{nameOf(1), nameOf(2), nameOf(3)}),
                                  seenPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(draw(seen("/locks/kazoo")),
                                  QByteArray("kazoo-lock: 0 holds, 1 waits ->0, 2 waits ->1"), seenPatienceMs);
        const auto holder = seen("/locks/kazoo").contenders[0];
        QVERIFY2(holder.heldSince && !holder.heldAtMost, "we saw it become the head");
    }

    void kazooReadWriteLock()
    {
        QVERIFY2(queueUp(*m_kazoo, {"read", "read", "write", "read"}, "/locks/kazoo-rw"),
                 m_kazoo->everythingSaid().constData());
        QTRY_COMPARE_WITH_TIMEOUT(draw(seen("/locks/kazoo-rw")),
                                  QByteArray("kazoo-rwlock: 0 holds, 1 holds, 2 waits ->1, 3 waits ->2"),
                                  seenPatienceMs);
        QCOMPARE(seen("/locks/kazoo-rw").contenders[2].mode, Mode::Write);
    }

    void kazooSemaphore()
    {
        QVERIFY2(queueUp(*m_kazoo, {"semaphore", "semaphore", "semaphore"}, "/locks/pool", "2"),
                 m_kazoo->everythingSaid().constData());
        QTRY_COMPARE_WITH_TIMEOUT(draw(seen("/locks/pool")),
                                  QByteArray("kazoo-semaphore: 0 holds, 1 holds, 2 waits ~>children"),
                                  seenPatienceMs);
        QCOMPARE(identities(seen("/locks/pool")), (QByteArrayList{nameOf(0), nameOf(1), nameOf(2)}));
    }

    void curatorMutex()
    {
        QVERIFY2(queueUp(*m_curator, {"mutex", "mutex", "mutex"}, "/locks/curator"),
                 m_curator->everythingSaid().constData());
        QTRY_COMPARE_WITH_TIMEOUT(draw(seen("/locks/curator")),
                                  QByteArray("curator-mutex: 0 holds, 1 waits ->0, 2 waits ->1"), seenPatienceMs);
        const auto lock = seen("/locks/curator");
        QVERIFY(hasEveryEndpoint(lock));
        QCOMPARE(lock.confidence, Confidence::Medium);
        m_curator->tell("release " + nameOf(0));
        QVERIFY(m_curator->says("held " + nameOf(1)));
        QTRY_COMPARE_WITH_TIMEOUT(draw(seen("/locks/curator")), QByteArray("curator-mutex: 0 holds, 1 waits ->0"),
                                  seenPatienceMs);
    }

    void curatorReadWriteLock()
    {
        QVERIFY2(queueUp(*m_curator, {"write", "write", "read"}, "/locks/curator-rw"),
                 m_curator->everythingSaid().constData());
        // Its readers wait for the lowest writer.
        QTRY_COMPARE_WITH_TIMEOUT(draw(seen("/locks/curator-rw")),
                                  QByteArray("curator-rwlock: 0 holds, 1 waits ->0, 2 waits ->0"), seenPatienceMs);
    }

    void curatorSemaphore()
    {
        QVERIFY2(queueUp(*m_curator, {"semaphore", "semaphore", "semaphore", "semaphore"}, "/app/sem", "2"),
                 m_curator->everythingSaid().constData());
        QTRY_COMPARE_WITH_TIMEOUT(draw(seen("/app/sem")),
                                  QByteArray("curator-semaphore: 0 holds, 1 holds, 2 waits ~>children, 3 waits ->2"),
                                  seenPatienceMs);
        QVERIFY2(seen("/app/sem").contenders[2].id.contains("-lease-"), "the third has asked for its lease");
        m_curator->tell("release " + nameOf(1));
        QVERIFY(m_curator->says("held " + nameOf(2)));
        QTRY_COMPARE_WITH_TIMEOUT(draw(seen("/app/sem")),
                                  QByteArray("curator-semaphore: 0 holds, 1 holds, 2 waits ~>children"),
                                  seenPatienceMs);
    }

    void curatorLatch()
    {
        QVERIFY2(queueUp(*m_curator, {"latch", "latch"}, "/app/latch"), m_curator->everythingSaid().constData());
        QTRY_COMPARE_WITH_TIMEOUT(draw(seen("/app/latch")), QByteArray("curator-leader: 0 holds, 1 waits ->0"),
                                  seenPatienceMs);
        QCOMPARE(identities(seen("/app/latch")), (QByteArrayList{nameOf(0), nameOf(1)}));
    }

    void zooKeepersOwnRecipe()
    {
        const auto client = javaClient(u"RecipeClient.java"_s, {ensemble()});
        QVERIFY2(queueUp(*client, {"lock", "lock"}, "/recipe"), client->everythingSaid().constData());
        QTRY_COMPARE_WITH_TIMEOUT(draw(seen("/recipe")), QByteArray("zookeeper-recipe-lock: 0 holds, 1 waits ->0"),
                                  seenPatienceMs);
        QCOMPARE(seen("/recipe").confidence, Confidence::High);
    }

    void redisPy()
    {
        const auto &address = m_redis->address();
        const auto client = pythonClient(u"redis_client.py"_s, {address.host, QString::number(address.port)});
        QVERIFY2(client->says("ready"), client->everythingSaid().constData());
        client->tell("acquire a orders-lock 60");
        QVERIFY2(client->says("held a"), client->everythingSaid().constData());
        QTRY_COMPARE_WITH_TIMEOUT(lockOf(*m_redisObserver, "orders-lock").contenders.size(), size_t(1),
                                  seenPatienceMs);
        const auto lock = lockOf(*m_redisObserver, "orders-lock");
        QCOMPARE(lock.recipe, QByteArray("redis-set-nx"));
        QCOMPARE(lock.client, u"redis-py"_s);
        QCOMPARE(lock.confidence, Confidence::High);
        QVERIFY2(client->hasSaid("held a " + lock.contenders[0].id), "the id is the token");
        QVERIFY(lock.contenders[0].expiresAt.has_value());
        QVERIFY(!lock.waitersKnown);
        QVERIFY(lock.findings.empty());

        client->tell("release a");
        QTRY_VERIFY_WITH_TIMEOUT(lockOf(*m_redisObserver, "orders-lock").contenders.empty(), seenPatienceMs);
        client->tell("acquire b orders-lock 0");
        QTRY_COMPARE_WITH_TIMEOUT(lockOf(*m_redisObserver, "orders-lock").worst(), Severity::Critical,
                                  seenPatienceMs);
        QCOMPARE(lockOf(*m_redisObserver, "orders-lock").findings[0].code, FindingCode::NoTtl);
    }
};

LOCKSCOPE_TEST(TestInteropSeen)
#include "tst_interop_seen.moc"
