// SPDX-License-Identifier: Apache-2.0
// Clients whose locks are one key: python-redis-lock and Spring's registry, whose waiters sleep until a release wakes
// them, ShedLock, redis-semaphore, django-redis, bsm/redislock, sherlock, rslock, BullMQ. Each is seen as what it
// is, keeps ours out and is kept out, and whoever waits gets in when a lock is given back or taken away: within a
// second of that, or within a second more than the time at which it polls. All leases are longer than the tests wait.
#include "core/base/text.h"
#include "core/recipes/make.h"
#include "tests/interop/rediscross.h"
#include "tests/support/testmain.h"

using namespace lockscope::interop;

namespace {

using Started = std::unique_ptr<ForeignClient>;

Started python(const QString &kind, const QString &server)
{
    return std::make_unique<ForeignClient>(fetched("PYTHON_LOCKS"),
                                           QStringList{clientFile(u"redis_lock_client.py"_s), kind, server});
}
Started spring(const QString &kind, const QString &server)
{
    return std::make_unique<ForeignClient>(
        u"java"_s, QStringList{u"-XX:TieredStopAtLevel=1"_s, u"-cp"_s, fetched("SPRING") + u"/*"_s,
                               clientFile(u"SpringContenders.java"_s), kind, server});
}
Started node(const QString &kind, const QString &server)
{
    return std::make_unique<ForeignClient>(
        u"node"_s, QStringList{clientFile(u"node_mutex_client.js"_s), fetched("NODE_LOCKS"), kind, server});
}

Started rslock(const QString &, const QString &server)
{
    return std::make_unique<ForeignClient>(fetched("RSLOCK"), QStringList{server});
}
// "bsm/redislock", perhaps with the metadata that each puts behind its token.
Started bsm(const QString &kind, const QString &server)
{
    return std::make_unique<ForeignClient>(fetched("BSM"), QStringList{server, kind.section(u' ', 1)});
}

struct KeyClient {
    const char *kind;
    const char *key;    // %1: a number
    const char *seenAs; // null: by form and age only
    const char *fetchedAs;
    Started (*start)(const QString &kind, const QString &server);
    int pollsEvery = 0; // ms; 0: it sleeps until it is woken
    bool shares = true; // the lock alone is what it wants: ours can have it in between
};

constexpr KeyClient keyClients[] = {
    {"python-redis-lock", "lock:orders%1", "python-redis-lock", "PYTHON_LOCKS", python},
    {"django-redis", ":1:orders%1", "redis-py", "PYTHON_LOCKS", python, 50},
    {"spring-pubsub", "app:orders%1", nullptr, "SPRING", spring},
    {"spring-spin", "app:orders%1", nullptr, "SPRING", spring, 100},
    {"shedlock", "job-lock:default:orders%1", "ShedLock", "SPRING", spring, 50},
    {"redis-semaphore", "mutex:orders%1", nullptr, "NODE_LOCKS", node, 20},
    {"bsm/redislock", "jobs:orders%1", "bsm/redislock", "BSM", bsm, 20},
    {"bsm/redislock host=a", "jobs:orders%1", "bsm/redislock", "BSM", bsm, 20},
    {R"(bsm/redislock {"worker":1})", "jobs:orders%1", "bsm/redislock", "BSM", bsm, 20},
    {"bsm/redislock nightly job", "jobs:orders%1", "bsm/redislock", "BSM", bsm, 20},
    {"sherlock", "orders%1", nullptr, "PYTHON_LOCKS", python, 50},
    // It tries four times, at most 200 ms apart, before it is asked again.
    {"rslock", "orders%1", "rslock", "RSLOCK", rslock, 250},
    // A worker looks for jobs whose lock is gone; it may take two such checks until one is given to another worker.
    {"bullmq", "bull:orders%1:j1:lock", "BullMQ", "NODE_LOCKS", node, 2000, false},
};

} // namespace

class TestInteropRedisClients : public RedisCross {
    Q_OBJECT

    // Spring ends a lock in pub/sub mode that was not taken within it, so that it must be a whole number of seconds.
    static constexpr auto lease = "180000";
    // Spring's and sherlock's form alone is enough only for a lock that ends within a minute.
    static constexpr auto shortLease = "60000";

    KeyClient m_peer{};
    QByteArray m_lock;

    static void rows(bool sharing)
    {
        QTest::addColumn<int>("peer");
        for (int i = 0; i < int(std::size(keyClients)); ++i) {
            const auto &[kind, key, seenAs, fetchedAs, start, pollsEvery, shares] = keyClients[i];
            if (!shares && sharing)
                continue;
            if (pollsEvery > 0)
                QTest::addRow("%s, which polls every %d ms", kind, pollsEvery) << i;
            else
                QTest::addRow("%s, which is woken", kind) << i;
        }
    }
    // So long after a release has ended its waiter may take. Without a wake-up it would be the lease.
    [[nodiscard]] int soonMs() const { return wokenWithinMs + m_peer.pollsEvery; }
    // So many of theirs sleep; those who poll never do.
    bool theySleep(int count)
    {
        const auto sleeping = [this] {
            const auto clients = m_nodes.front().ask({"CLIENT", "LIST"}).text;
            return clients.count("cmd=blpop") + clients.count(" psub=1");
        };
        return m_peer.pollsEvery > 0 || QTest::qWaitFor([&] { return sleeping() == count; }, patienceMs);
    }
    QByteArray begin()
    {
        m_peer = keyClients[*static_cast<int *>(QTest::qData("peer", qMetaTypeId<int>()))];
        m_lock = QString::fromLatin1(m_peer.key).arg(++m_locks).toLatin1();
        if (fetched(m_peer.fetchedAs).isEmpty())
            return whyNotFetched(m_peer.fetchedAs);
        m_program = m_peer.start(QString::fromLatin1(m_peer.kind), servers(1).front());
        return {};
    }
    Ours &ours()
    {
        recipes::AcquireOptions options{.ttl = longLease};
        Random random(1000 + m_ours.size());
        return keep(
            recipes::makeLock("redis-set-nx", *m_client.front(), RedisKey(m_lock), options, std::move(random)));
    }
    QByteArray theirs(const char *milliseconds = lease) { return RedisCross::theirs(m_lock + ' ' + milliseconds); }
    bool isGone() { return m_nodes.front().ask({"EXISTS", m_lock}).integer == 0; }
    QByteArray value() { return m_nodes.front().ask({"GET", m_lock}).text; }
    QByteArray takeAway()
    {
        QByteArray said;
        const auto answer = lockscopectl({u"force-release"_s, u"redis:"_s + QString::fromLatin1(m_lock),
                                          u"--holder"_s, escaped(value()), u"--yes"_s, u"--not-exact"_s},
                                         1, &said);
        return answer["released"_L1].toBool() ? QByteArray() : said + "(no success)";
    }

private slots:
    void initTestCase() { OK(startServers(1)); }
    void cleanup()
    {
        m_ours.clear();
        notifyWhatTheySaid();
        m_program.reset();
    }
    void cleanupTestCase() { stopServers(); }

    void theirsIsInTheDefaultList_data() { rows(false); }
    void theirsIsInTheDefaultList()
    {
        SKIP_FOR(begin());
        const auto name = theirs(shortLease);
        QVERIFY2(theyHold(name), m_program->everythingSaid().constData());
        const auto lock = seen(m_lock, 1);
        QCOMPARE(lock["recipe"_L1].toString(), u"redis-set-nx"_s);
        QCOMPARE(lock["state"_L1].toString(), u"held"_s);
        QVERIFY(lock["confidence"_L1].toString() != u"low"_s);
        QVERIFY(lock["findings"_L1].toArray().isEmpty());
        if (m_peer.seenAs)
            QCOMPARE(lock["client"_L1].toString(), QString::fromLatin1(m_peer.seenAs));
        QVERIFY(theyRelease(name));
        QTRY_VERIFY_WITH_TIMEOUT(isGone(), patienceMs);
    }

    void eachKeepsTheOtherOut_data() { rows(true); }
    void eachKeepsTheOtherOut()
    {
        SKIP_FOR(begin());
        QVERIFY2(m_program->says("ready"), m_program->everythingSaid().constData());
        const auto before = theirs(); // a program that has done it once is quicker
        QVERIFY(theyHold(before) && theyRelease(before));
        auto &holder = ours();
        QVERIFY(holder.takes());
        const QByteArrayList names{theirs(), theirs()};
        QVERIFY(theySleep(2));
        QVERIFY(theyWaitStill(names[0]) && theyWaitStill(names[1]));
        QVERIFY(weRelease(holder));
        // One of those that slept is in; what it gives back lets the other in.
        const auto isIn = [&](int which) { return m_program->hasSaid("held " + names[which]); };
        QTRY_VERIFY_WITH_TIMEOUT(isIn(0) || isIn(1), soonMs());
        const int first = isIn(0) ? 0 : 1;
        auto &waiter = ours();
        QVERIFY(theyRelease(names[first]));
        QVERIFY(theyAreIn(names[1 - first], soonMs()));
        QVERIFY(waitsOutside(waiter));
        QVERIFY(theyRelease(names[1 - first]));
        QVERIFY(isHeldBy(waiter));
        QVERIFY(weRelease(waiter));
        QTRY_VERIFY_WITH_TIMEOUT(isGone(), patienceMs);
    }

    void aForceReleaseLetsTheNextInSoon_data() { rows(false); }
    void aForceReleaseLetsTheNextInSoon()
    {
        SKIP_FOR(begin());
        const auto victim = theirs();
        QVERIFY2(theyHold(victim), m_program->everythingSaid().constData());
        const auto next = theirs();
        QVERIFY(theySleep(1));
        QVERIFY(theyWaitStill(next));
        QCOMPARE(takeAway(), QByteArray());
        QVERIFY(theyAreIn(next, soonMs()));
        QVERIFY(theyRelease(next));
        QTRY_VERIFY_WITH_TIMEOUT(isGone(), patienceMs);
    }
};

LOCKSCOPE_TEST(TestInteropRedisClients)
#include "tst_interop_redis_clients.moc"
