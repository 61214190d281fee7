// The Redis recipes against bare commands on the same servers in the same run. Prints ratios; asserts only
// that the work was done.
#include "core/async/qtloop.h"
#include "core/async/scope.h"
#include "core/recipes/catalogue.h"
#include "core/redis/client.h"
#include "core/sandbox/server.h"
#include "tests/bench/report.h"

#include <QElapsedTimer>
#include <QTest>

using namespace lockscope;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

constexpr int rounds = 2000;
constexpr int warmUps = 200;
const RedisKey key("bench-lock");

// Times one acquire and its release.
struct Cycle {
    QElapsedTimer timer;
    qint64 acquired = -1; // nanoseconds; -1: not yet
    qint64 released = -1;
};
Task<void> runCycle(recipes::Lock *lock, Cycle *cycle)
{
    const auto never = Deadline::never();
    cycle->timer.start();
    const auto grant = co_await lock->acquire(never);
    if (!grant)
        qFatal("acquire: %s", qPrintable(grant.error().message));
    cycle->acquired = cycle->timer.nsecsElapsed();
    const auto released = co_await lock->release(never);
    if (!released)
        qFatal("release: %s", qPrintable(released.error().message));
    cycle->released = cycle->timer.nsecsElapsed();
}

Task<void> takeIt(recipes::Lock *lock, bool *isHeld)
{
    const auto never = Deadline::never();
    const auto grant = co_await lock->acquire(never);
    *isHeld = bool(grant);
}

Task<void> giveBack(recipes::Lock *lock)
{
    const auto never = Deadline::never();
    const auto released = co_await lock->release(never);
    if (!released)
        qFatal("release: %s", qPrintable(released.error().message));
}

} // namespace

class BenchRedisRecipes : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::vector<std::unique_ptr<sandbox::Server>> m_servers;
    std::vector<std::unique_ptr<redis::Connection>> m_nodes;

    template <class F>
    static bool runUntil(F isSo)
    {
        QElapsedTimer timer;
        timer.start();
        while (!isSo() && timer.elapsed() < 20'000)
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 20);
        return isSo();
    }
    std::unique_ptr<redis::Connection> open(const sandbox::Server &server)
    {
        redis::ConnectionOptions options;
        options.host = server.address();
        auto connection = redis::openConnection(m_loop, options);
        runUntil([&] { return connection->state() == redis::ConnectionState::Connected; });
        return connection;
    }
    // -1 if it failed.
    qint64 timeOf(const redis::Command &command)
    {
        QElapsedTimer timer;
        timer.start();
        const auto reply = m_nodes.front()->command(command, Deadline::never());
        const bool answered = runUntil([&] { return reply.isComplete(); });
        const auto took = timer.nsecsElapsed();
        return answered && reply.value() ? took : -1;
    }
    struct Times {
        bench::Medians acquire;
        bench::Medians cycle;
        bench::Medians ping;
        bench::Medians set;
    };
    // A recipe's cycles, and bare commands between them.
    void measure(recipes::Lock &lock, Times &times)
    {
        Scope scope(m_loop);
        for (int round = 0; round < rounds; ++round) {
            Cycle cycle;
            scope.launch(runCycle(&lock, &cycle));
            QVERIFY(runUntil([&] { return cycle.released >= 0; }));
            const auto ping = timeOf({"PING"});
            const auto set = timeOf({"SET", "bench-bare", "0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11", "NX", "PX", "30000"});
            QVERIFY(ping > 0 && set > 0 && timeOf({"DEL", "bench-bare"}) > 0);
            if (round < warmUps)
                continue;
            times.acquire.add(cycle.acquired);
            times.cycle.add(cycle.released);
            times.ping.add(ping);
            times.set.add(set);
        }
    }
    // From one contender's release to the other's grant.
    void handOffs(const QByteArray &recipe, int count, bench::Medians &times)
    {
        auto other = open(*m_servers.front());
        auto first = recipes::makeLock(recipe, *m_nodes.front(), key, {}, Random(1));
        auto second = recipes::makeLock(recipe, *other, key, {}, Random(2));
        QVERIFY(first && second);
        recipes::Lock *holder = first->get();
        recipes::Lock *waiter = second->get();
        Scope scope(m_loop);
        bool isHeld = false;
        scope.launch(takeIt(holder, &isHeld));
        QVERIFY(runUntil([&] { return isHeld; }));
        for (int i = 0; i < count; ++i) {
            bool hasIt = false;
            scope.launch(takeIt(waiter, &hasIt));
            QTest::qWait(60); // it waits now
            QVERIFY(!hasIt);
            QElapsedTimer timer;
            timer.start();
            scope.launch(giveBack(holder));
            QVERIFY(runUntil([&] { return hasIt; }));
            times.add(timer.nsecsElapsed());
            std::swap(holder, waiter);
        }
        scope.launch(giveBack(holder));
        QVERIFY(runUntil([&] { return scope.isIdle(); }));
    }

private slots:
    void initTestCase()
    {
        for (int i = 0; i < 5; ++i) {
            auto made = sandbox::makeRedis();
            if (!made)
                QSKIP(qPrintable(made.error().message));
            m_servers.push_back(std::move(*made));
            QVERIFY(m_servers.back()->start(30s));
            m_nodes.push_back(open(*m_servers.back()));
            QCOMPARE(m_nodes.back()->state(), redis::ConnectionState::Connected);
        }
    }

    void oneNode()
    {
        Times token;
        auto setNx = recipes::makeLock("redis-set-nx", *m_nodes.front(), key, {}, Random(1));
        QVERIFY(setNx);
        measure(**setNx, token);
        bench::report(u"redis-set-nx, acquire and release (goal ≤ 2.2) ÷ PING"_s, token.cycle, token.ping);
        Times redisson;
        auto hash = recipes::makeLock("redisson-lock", *m_nodes.front(), key, {}, Random(1));
        QVERIFY(hash);
        measure(**hash, redisson);
        bench::report(u"redisson-lock, free acquire (goal ≤ 1.15) ÷ SET NX PX"_s, redisson.acquire, redisson.set);
    }

    void fiveNodes()
    {
        std::vector<redis::Connection *> nodes;
        for (const auto &node : m_nodes)
            nodes.push_back(node.get());
        auto redlock = recipes::makeLock("redlock", nodes, key, {}, Random(1));
        QVERIFY(redlock);
        Times times;
        measure(**redlock, times);
        bench::report(u"redlock over 5 nodes, free acquire (goal ≤ 1.6) ÷ one SET NX PX"_s, times.acquire, times.set);
    }

    void handedOver()
    {
        bench::Medians published;
        bench::Medians polled;
        handOffs("redisson-lock", 60, published);
        handOffs("redis-set-nx", 60, polled);
        bench::report(u"hand-off (goal ≥ 50): redis-set-nx, polled every 25 to 75 ms ÷ redisson-lock, published"_s, polled,
                      published);
    }
};

QTEST_GUILESS_MAIN(BenchRedisRecipes)
#include "bench_redis_recipes.moc"
