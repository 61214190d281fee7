// SPDX-License-Identifier: Apache-2.0
// Whatever holds a lock, of every layout that is recognised (docs/layouts.md): no recipe of ours gets it beside that.
// It waits, where it takes what stands there into account, and is refused or fails where it does not.
#include "besidefixture.h"
#include "tests/support/redisfixture.h"
#include "tests/support/zookeeperfixture.h"

#include <QDateTime>

namespace {

const QByteArray uuid = "_c_0d5a1c2e-5c55-4a2b-9a3e-1f2d3c4b5a69-";
const QByteArray hex32 = "0d5a1c2e5c554a2b9a3e1f2d3c4b5a69";

} // namespace

class TestAcquireBeside : public BesideFixture {
    Q_OBJECT

    std::unique_ptr<sandbox::ZooKeeperServer> m_zooKeeper;
    std::unique_ptr<sandbox::Server> m_redis;
    std::unique_ptr<zk::Session> m_other; // whose hold it is
    std::unique_ptr<redis::Connection> m_keys;

    bool make(const ZPath &path, const QByteArray &data, zk::CreateMode mode)
    {
        if (!path.parent().isRoot())
            make(path.parent(), {}, zk::CreateMode::Persistent);
        const auto made = await(m_other->create(path, data, mode, zk::openAcl(), soon()));
        return made || made.error().code == ErrorCode::NodeExists;
    }

private slots:
    void initTestCase()
    {
        START_OR_SKIP(m_zooKeeper, sandbox::makeZooKeeper());
        START_OR_SKIP(m_redis, sandbox::makeRedis());
        m_other = zk::openSession(m_loop, {.hosts = {m_zooKeeper->address()}});
        QVERIFY(waitForState(*m_other, zk::SessionState::Connected));
        m_keys = redis::openConnection(m_loop, optionsFor(m_redis->address()));
        QVERIFY(becomes(*m_keys, redis::ConnectionState::Connected));
        ConnectionSpec zk;
        zk.name = ConnectionName("zk");
        zk.hosts = {m_zooKeeper->address()};
        zk.adminPort = m_zooKeeper->adminPort();
        ConnectionSpec keys{.name = ConnectionName("redis"), .scheme = Scheme::Redis, .hosts = {m_redis->address()}};
        connectTo({zk, keys});
    }
    void cleanupTestCase()
    {
        m_workspace.reset();
        m_keys.reset();
        m_other.reset();
        zk::waitForClosingSessions(10s);
    }

    void onZooKeeper_data()
    {
        QTest::addColumn<QByteArray>("lock");
        QTest::addColumn<QByteArrayList>("nodes"); // below `lock`'s folder; "=" and data behind: a persistent one
        QTest::addColumn<QByteArrayList>("waiting");
        const auto row = [](const char *name, const QByteArray &lock, const QByteArrayList &nodes,
                            const char *waiting) { QTest::newRow(name) << lock << nodes << listed(waiting); };
        const auto mutexes = "zk-mutex zk-eager-mutex curator-mutex kazoo-lock";
        const QByteArray date = R"({"version":1,"holder":"me","end":"2999-01-01T00:00:00.000000"})";
        row("1 Curator, a writer", "/1w/l", {"l/" + uuid + "__WRIT__0000000000"}, "curator-rwlock");
        row("1 Curator, a reader", "/1r/l", {"l/" + uuid + "__READ__0000000000"}, "curator-rwlock");
        row("2 Curator semaphore", "/2/l", {"l/locks=", "l/leases/" + uuid + "lease-0000000000"},
            "curator-semaphore curator-semaphore-mutex");
        row("4 Curator latch", "/4/l", {"l/" + uuid + "latch-0000000000"}, "");
        row("5 Curator mutex", "/5/l", {"l/" + uuid + "lock-0000000000"}, mutexes);
        row("6 go-zookeeper", "/6/l", {"l/_c_" + hex32 + "-lock-0000000000"}, mutexes);
        row("7 kazoo, a reader", "/7/l", {"l/" + hex32 + "__rlock__0000000000"}, "kazoo-rwlock");
        row("8, 11 kazoo semaphore", "/8/l", {"l=1", "l/" + hex32, "l-__lock__="}, "kazoo-semaphore");
        row("10 kazoo lock", "/10/l", {"l/" + hex32 + "__lock__0000000000"},
            "zk-mutex zk-eager-mutex curator-mutex kazoo-lock kazoo-rwlock");
        row("12 kazoo lease", "/12/l", {"l/lease_holder=" + date}, "");
        row("13 Java WriteLock", "/13/l", {"l/x-SESSION-0000000000"}, "");
        row("15 Solr", "/15/l", {"l/SESSION-core_node1-n_0000000000"}, "");
        row("16 ClickHouse", "/16/l", {"l/leader_election-0000000000"}, "");
        row("17 HDFS", "/17/ActiveStandbyElectorLock", {"ActiveStandbyElectorLock"}, "zk-ephemeral");
        row("19 .NET", "/19/l", {"l/write-0000000000"}, "");
        row("19 .NET semaphore", "/19s/l", {"l/semaphore-0000000000"}, "");
        row("20 zk-ruby", "/_zklocking/20l", {"20l/ex0000000000"}, "");
        row("20b Hive", "/20b/l", {"l/LOCK-EXCLUSIVE-0000000000=explicit"}, "");
        row("21 textbook", "/21/l", {"l/10.0.0.1-W-0000000000"}, "zk-shared zk-shared-herd");
        row("21a herd", "/21a/l", {"l/herd-0000000000"}, "zk-herd-mutex");
        row("22 flat", "/22/stock", {"stock_lock_0000000000"}, "zk-flat-mutex");
        row("23 another's", "/23/l", {"l/lock_0000000000"}, "");
        row("23 another's with Curator's base", "/23c/l", {"l/lock-0000000000"}, mutexes);
        row("25 any queue", "/25/a-lock", {"a-lock/turn-0000000000"}, "");
        row("25a persistent, in a folder that says lock", "/25a/a-lock", {"a-lock/item-0000000000=x"}, "");
        row("25a persistent, flat", "/25f/stock", {"stock_lock_0000000000=x"}, "zk-flat-mutex");
        row("25a persistent, textbook", "/25t/l", {"l/10.0.0.1-W-0000000000=x"}, "zk-shared zk-shared-herd");
        row("25a persistent, with Curator's base", "/25d/l", {"l/lock-0000000000=x"}, mutexes);
        row("26 a UUID", "/26/locks/" + uuid.mid(3).chopped(1), {uuid.mid(3).chopped(1)}, "zk-ephemeral");
        row("26 a plain node", "/26/leader-lock", {"leader-lock"}, "zk-ephemeral");
        row("27 ShedLock", "/shedlock/job", {"job=2999-01-01T00:00:00.000Z"}, "");
    }
    void onZooKeeper()
    {
        QFETCH(QByteArray, lock);
        QFETCH(QByteArrayList, nodes);
        QFETCH(QByteArrayList, waiting);
        const auto folder = ZPath(lock).parent().bytes() + '/';
        for (auto node : nodes) {
            node.replace("SESSION", QByteArray::number(qint64(m_other->id().value)));
            const auto end = node.indexOf('=');
            const bool isLasting = end >= 0;
            QVERIFY2(make(ZPath(folder + node.left(isLasting ? end : node.size())),
                          isLasting ? node.mid(end + 1) : QByteArray("10.0.0.1"),
                          isLasting ? zk::CreateMode::Persistent : zk::CreateMode::Ephemeral),
                     node);
        }
        nobodyGetsWhatIsSeen({ConnectionName("zk"), lock}, waiting);
    }

    // No client of the queue holds it, and what keeps its first out may.
    void aQueueBehindAnotherNodeIsNotFree()
    {
        QVERIFY(make(ZPath("/5b/l/" + hex32 + "-lock-0000000000"), {}, zk::CreateMode::Ephemeral));
        QVERIFY(make(ZPath("/5b/l/" + uuid + "lock-0000000001"), {}, zk::CreateMode::Ephemeral));
        const auto got = attempt({ConnectionName("zk"), "/5b/l"}, "zk-shared");
        QVERIFY(!got);
        QCOMPARE(got.error().code, ErrorCode::Refused);
        QVERIFY2(got.error().message.contains(u"is waited for by"), qPrintable(got.error().message));
    }

    // Whether they are one queue only their watches tell, and those were not listed since they came.
    void aFolderWithATextForEachClientIsNotFree()
    {
        QVERIFY(make(ZPath("/25e/lock/hostA-0000000000"), {}, zk::CreateMode::Ephemeral));
        QVERIFY(make(ZPath("/25e/lock/hostB-0000000001"), {}, zk::CreateMode::Ephemeral));
        const auto got = attempt({ConnectionName("zk"), "/25e/lock"}, "zk-mutex");
        QVERIFY(!got);
        QCOMPARE(got.error().code, ErrorCode::Refused);
    }

    // Its clients look at the date, and at nobody's queue.
    void aLeaseThatIsFreeIsNotTakenFromItsClients()
    {
        const ZPath lease("/free/l/lease_holder");
        QVERIFY(make(lease, R"({"version":1,"holder":"me","end":"2001-01-01T00:00:00.000000"})",
                     zk::CreateMode::Persistent));
        const auto got = attempt({ConnectionName("zk"), "/free/l"}, "zk-mutex");
        QVERIFY(!got);
        QCOMPARE(got.error().code, ErrorCode::Refused);
        QVERIFY2(got.error().message.contains(u"is free by its node's date"), qPrintable(got.error().message));
    }

    // Its leases lie in folders below the name that its clients give it.
    void aLeaseOfSeveralIsNotTakenFromItsClients_data()
    {
        const Rows<QByteArray, QString> row("end", "says");
        row("held", "2999-01-01T00:00:00", u"both would hold the lock"_s);
        row("free", "2001-01-01T00:00:00", u"is free by its node's date"_s);
    }
    void aLeaseOfSeveralIsNotTakenFromItsClients()
    {
        QFETCH(QByteArray, end);
        QFETCH(QString, says);
        const QByteArray lock = "/several-" + QByteArray(QTest::currentDataTag());
        QVERIFY(make(ZPath(lock + "/0/lease_holder"), R"({"version":1,"holder":"me","end":")" + end + R"("})",
                     zk::CreateMode::Persistent));
        for (const auto &recipe : acquirableOn(BackendKind::ZooKeeper)) {
            const auto got = attempt({ConnectionName("zk"), lock}, recipe);
            QVERIFY2(!got && got.error().code == ErrorCode::Refused, recipe);
            QVERIFY2(got.error().message.contains(says), qPrintable(got.error().message));
            QVERIFY2(got.error().message.contains(QString::fromUtf8(lock + "/0 ")), qPrintable(got.error().message));
        }
    }
    // A queue of that name is another lock.
    void aQueueInAFolderOfThatNameIsAnotherLock()
    {
        QVERIFY(make(ZPath("/apart/0/" + uuid + "lock-0000000000"), "x", zk::CreateMode::Ephemeral));
        QVERIFY(attempt({ConnectionName("zk"), "/apart"}, "curator-rwlock"));
    }

    void onRedis_data()
    {
        addColumns<QByteArray, QList<QByteArrayList>, QByteArrayList>("key", "commands", "waiting");
        const auto row = [](const char *name, const QByteArray &key, const QList<QByteArrayList> &commands,
                            const QByteArray &waiting) {
            QTest::newRow(name) << key << commands << listed("redis-set-nx redis-setnx-expire " + waiting);
        };
        const QByteArray holder = "3f1c6a52-8d0e-4b5f-9f0a-0d6e5c4b3a21:1";
        const QByteArray hashes = "redisson-lock redisson-fair-lock redisson-rwlock redisson-fenced-lock";
        const QByteArray now = QByteArray::number(QDateTime::currentMSecsSinceEpoch());
        const QByteArray later = QByteArray::number(QDateTime::currentMSecsSinceEpoch() + 600'000);
        row("1 Redisson, a writer", "w-lock", {{"HSET", "w-lock", "mode", "write", holder + ":write", "1"}}, hashes);
        row("1 Redisson, a reader", "r-lock", {{"HSET", "r-lock", "mode", "read", holder, "1"}}, hashes);
        row("2a Redisson, fenced", "f-lock",
            {{"HSET", "f-lock", holder, "1"}, {"SET", "redisson_lock_token:{f-lock}", "7"}}, hashes);
        row("2c Redisson", "h-lock", {{"HSET", "h-lock", holder, "1"}}, hashes);
        row("3a PyPI's semaphore", "py:GRABBED",
            {{"SET", "py:EXISTS", "1"}, {"HSET", "py:GRABBED", "0", now.left(10)}}, hashes);
        row("4 Redisson, a permit", "permits",
            {{"SET", "permits", "0"}, {"ZADD", "{permits}:timeout", later, "0123456789abcdef"}},
            "redisson-semaphore");
        row("11 a token", "t-lock", {{"SET", "t-lock", hex32}}, "redis-getset");
        row("18 a moment", "m-lock", {{"SET", "m-lock", later}}, "redis-getset");
        row("18 a moment in seconds", "s-lock", {{"SET", "s-lock", later.left(10)}}, "");
        row("19 a mark that stays", "lockkey", {{"SET", "lockkey", "1"}}, "");
        row("19 nothing written", "cache~lock", {{"SET", "cache~lock", ""}}, "redis-getset");
        const QByteArray reader = "web1_4711_" + hex32;
        const auto apart = [](const char *name, const QByteArray &key, const QList<QByteArrayList> &commands) {
            QTest::newRow(name) << key << commands << QByteArrayList();
        };
        apart("22 .NET, readers and a waiting writer", "catalogue",
              {{"SADD", "catalogue.readers", reader}, {"SET", "catalogue.writer", reader + "_WRITERWAITING"}});
        apart("22 .NET, a writer", "books", {{"SET", "books.writer", reader}});
        apart("23 Nextcloud", "nc/lockfiles/" + hex32, {{"SET", "nc/lockfiles/" + hex32, "2"}});
        row("19 a mark", "one-lock", {{"SET", "one-lock", "1", "EX", "600"}}, "");
        row("20 npm's semaphore", "semaphore:n",
            {{"ZADD", "semaphore:n", now, "0d5a1c2e-5c55-4a2b-9a3e-1f2d3c4b5a69"}, {"EXPIRE", "semaphore:n", "600"}},
            "");
    }
    void onRedis()
    {
        QFETCH(QByteArray, key);
        QFETCH(QList<QByteArrayList>, commands);
        QFETCH(QByteArrayList, waiting);
        for (const auto &command : commands)
            QVERIFY(valueOf(m_keys->command(command, soon())).kind != redis::Value::Kind::Error);
        nobodyGetsWhatIsSeen({ConnectionName("redis"), key}, waiting);
    }

    // What the server keeps apart needs no look; a number that a recipe could take for its own does.
    void userWithoutReadsAcquiresSeparateKindsOnly()
    {
        const QByteArrayList narrow{"ACL",  "SETUSER",       "narrow", "on",   ">pw",
                                    "~own", "resetchannels", "+@all",  "-type"};
        QVERIFY(valueOf(m_keys->command(narrow, soon())).kind != redis::Value::Kind::Error);
        ConnectionSpec spec{.name = ConnectionName("narrow"),
                            .scheme = Scheme::Redis,
                            .hosts = {m_redis->address()},
                            .user = u"narrow"_s,
                            .password = u"pw"_s};
        QVERIFY(m_workspace->add(spec));
        QVERIFY(finish(m_loop, m_workspace->whenConnected(spec.name, soon())));
        const auto got = attempt({spec.name, "own"}, "redis-set-nx");
        QVERIFY2(got, got ? "" : qPrintable(got.error().message));
        const auto refused = attempt({spec.name, "own"}, "redis-getset");
        QVERIFY(!refused);
        QVERIFY2(refused.error().message.contains(u"could not check"), qPrintable(refused.error().message));
    }
};

LOCKSCOPE_TEST(TestAcquireBeside)
#include "tst_acquire_beside.moc"
