// SPDX-License-Identifier: Apache-2.0
// Redisson itself on a real cluster of six nodes, waiting on plain channels and on sharded ones: seen with who waits,
// waited for by ours, and woken by our release and by force.
#include "core/recipes/make.h"
#include "core/redis/client.h"
#include "core/sandbox/server.h"
#include "tests/interop/console.h"
#include "tests/interop/rediscross.h"
#include "tests/support/redisfixture.h"
#include "tests/support/testmain.h"

using namespace lockscope::interop;

#define SEEN(holder, waiting) QTRY_COMPARE_WITH_TIMEOUT(told(console), seenAs(holder, waiting), patienceMs)

class TestInteropRedissonCluster : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::vector<std::unique_ptr<sandbox::Server>> m_nodes;
    std::unique_ptr<redis::Connection> m_cluster;
    std::map<QByteArray, std::unique_ptr<ForeignClient>> m_theirs; // by how they subscribe
    ForeignClient *m_program = nullptr;
    QByteArray m_kind, m_recipe, m_lock;
    int m_names = 0;

    void rows()
    {
        addColumns<QByteArray, QByteArray, QByteArray>("channels", "kind", "recipe");
        for (const QByteArray channels : {"plain", "sharded"}) {
            const auto row = [&channels](const char *kind, const char *recipe) {
                QTest::addRow("%s, %s", kind, channels.constData())
                    << channels << QByteArray(kind) << QByteArray(recipe);
            };
            row("lock", "redisson-lock");
            row("fair", "redisson-fair-lock");
            row("fenced", "redisson-fenced-lock");
            row("write", "redisson-rwlock");
        }
    }
    // Of the row: a lock of its own, on whichever node it falls.
    void begin()
    {
        QFETCH(QByteArray, channels);
        QFETCH(QByteArray, kind);
        QFETCH(QByteArray, recipe);
        m_program = m_theirs.at(channels).get();
        m_kind = kind;
        m_recipe = recipe;
        m_lock = kind + "-lock-" + QByteArray::number(++m_names);
    }
    QByteArray theirs()
    {
        const QByteArray name = 't' + QByteArray::number(++m_names);
        m_program->tell("acquire " + name + ' ' + m_kind + ' ' + m_lock);
        return name;
    }
    bool theyAreIn(const QByteArray &name, int withinMs)
    {
        return QTest::qWaitFor([&] { return m_program->hasSaid("held " + name); }, withinMs);
    }
    bool theyHold(const QByteArray &name) { return m_program->says("held " + name); }
    bool theyRelease(const QByteArray &name)
    {
        m_program->tell("release " + name);
        return m_program->says("released " + name);
    }
    QByteArray theirId(const QByteArray &name) { return m_program->heldWord(name, 3); }
    testing::Contender ours(redis::Connection &connection)
    {
        const recipes::AcquireOptions options{.ttl = longLease};
        auto made =
            recipes::makeLock(m_recipe, connection, RedisKey(m_lock), options, Random(quint64(1000 + ++m_names)));
        if (!made)
            qFatal("%s", qPrintable(made.error().message));
        return testing::Contender(m_loop, std::move(*made));
    }
    // What is told of the lock, in short.
    QByteArray told(const Console &console)
    {
        const auto *seen = console.sink.find(m_lock);
        return seen ? console.holderOf(m_lock) + ' ' + seen->recipe + ' ' + seen->client.value_or(QString()).toUtf8()
                          + ' ' + QByteArray::number(seen->waiterCount())
                    : QByteArray("nothing");
    }
    // Held by that one, and so many wait. A fair lock nobody waits for looks like any.
    QByteArray seenAs(const QByteArray &holder, int waiting) const
    {
        const auto recipe = waiting == 0 && m_kind == "fair" ? QByteArray("redisson-lock") : m_recipe;
        return holder + ' ' + recipe + " Redisson " + QByteArray::number(waiting);
    }

private slots:
    void initTestCase()
    {
        SKIP_FOR(whyNotFetched("REDISSON"));
        auto made = sandbox::makeRedisCluster({.nodeTimeout = std::chrono::milliseconds(5000)});
        if (!made)
            QSKIP(qPrintable(made.error().message));
        m_nodes = std::move(*made);
        const auto started = sandbox::startAll(m_nodes, std::chrono::seconds(60));
        QVERIFY2(started, started ? "" : qPrintable(started.error().message));
        const auto first = m_nodes.front()->address();
        for (const QByteArray channels : {"plain", "sharded"})
            m_theirs[channels] = redissonContenders(
                {first.host, QString::number(first.port), u"cluster"_s, QString::fromLatin1(channels)});
        for (const auto &[channels, program] : m_theirs)
            QVERIFY2(program->says("ready"), program->everythingSaid());
        m_cluster = redis::openCluster(m_loop, addressesOf(m_nodes), redis::ConnectionOptions());
        QVERIFY(becomes(*m_cluster, redis::ConnectionState::Connected));
    }
    void cleanup()
    {
        if (QTest::currentTestFailed() && m_program)
            qInfo("%s", m_program->everythingSaid().constData());
    }
    void cleanupTestCase()
    {
        m_theirs.clear();
        m_cluster.reset();
        m_nodes.clear();
    }

    void oursIsWokenByTheirRelease_data() { rows(); }
    void oursIsWokenByTheirRelease()
    {
        begin();
        Console console(*m_cluster);
        const auto holder = theirs();
        QVERIFY(theyHold(holder));
        SEEN(theirId(holder), 0);
        auto waiter = ours(*console.gated);
        waiter.acquire();
        SEEN(theirId(holder), 1);
        QVERIFY(!waiter.granted);
        QVERIFY(theyRelease(holder));
        QVERIFY(eventually([&waiter] { return waiter.granted.has_value(); }));
        QVERIFY2(waiter.holds(), qPrintable(waiter.error()));
        SEEN(waiter.id(), 0);
        QVERIFY(waiter.givesBack());
    }

    void theirsIsWokenByOurRelease_data() { rows(); }
    void theirsIsWokenByOurRelease()
    {
        begin();
        Console console(*m_cluster);
        auto holder = ours(*console.gated);
        QVERIFY(holder.takes());
        const auto waiter = theirs();
        SEEN(holder.id(), 1);
        QVERIFY(!m_program->hasSaid("held " + waiter));
        QVERIFY(holder.givesBack());
        QVERIFY(theyAreIn(waiter, wokenWithinMs));
        QVERIFY(theyRelease(waiter));
    }

    void theirsIsWokenByForce_data() { rows(); }
    void theirsIsWokenByForce()
    {
        begin();
        Console console(*m_cluster);
        const auto holder = theirs();
        QVERIFY(theyHold(holder));
        const auto waiter = theirs();
        SEEN(theirId(holder), 1);
        OK(console.takeAway(m_loop, m_lock, theirId(holder)));
        QVERIFY(theyAreIn(waiter, wokenWithinMs));
        SEEN(theirId(waiter), 0);
        QVERIFY(theyRelease(waiter));
    }
};

LOCKSCOPE_TEST(TestInteropRedissonCluster)
#include "tst_interop_redisson_cluster.moc"
