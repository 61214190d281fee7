// SPDX-License-Identifier: Apache-2.0
// The Redis recipes against bare commands on the same servers in the same run: beside each other, where a round
// trip costs as little as running a script, and with a millisecond added to each. Prints ratios; asserts only that
// the work was done.
#include "core/async/qtloop.h"
#include "core/async/scope.h"
#include "core/recipes/make.h"
#include "core/redis/client.h"
#include "core/sandbox/server.h"
#include "tests/bench/blocking.h"
#include "tests/bench/report.h"
#include "tests/support/delayproxy.h"

#include <QElapsedTimer>
#include <QTest>

using namespace lockscope;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;

namespace {

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
    using Nodes = std::vector<std::unique_ptr<redis::Connection>>;
    Nodes m_near;
    std::vector<std::unique_ptr<testing::DelayProxy>> m_proxies;
    Nodes m_far; // the same servers, 1 ms further away

    std::unique_ptr<redis::Connection> open(const HostPort &server)
    {
        auto connection = redis::openConnection(m_loop, {.host = server});
        bench::waitUntil([&] { return connection->state() == redis::ConnectionState::Connected; });
        return connection;
    }
    // -1 if it failed.
    static qint64 timeOf(redis::Connection &node, const redis::Command &command)
    {
        QElapsedTimer timer;
        timer.start();
        const auto reply = node.command(command, Deadline::never());
        const bool answered = bench::waitUntil([&] { return reply.isComplete(); });
        const auto took = timer.nsecsElapsed();
        return answered && reply.value() ? took : -1;
    }
    static qint64 timeOfScript(redis::Connection &node)
    {
        QElapsedTimer timer;
        timer.start();
        const auto reply = node.script(redis::loadScript("compare-and-delete"), {"bench-bare"},
                                       {"0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11"}, Deadline::never());
        const bool answered = bench::waitUntil([&] { return reply.isComplete(); });
        const auto took = timer.nsecsElapsed();
        return answered && reply.value() ? took : -1;
    }
    struct Times {
        bench::Medians acquire;
        bench::Medians cycle;
        bench::Medians ping;
        bench::Medians set;
        bench::Medians bare; // the two commands of a token's cycle
    };
    // A recipe's cycles, and bare commands between them.
    void measure(recipes::Lock &lock, redis::Connection &node, int rounds, Times &times)
    {
        Scope scope(m_loop);
        for (int round = -warmUps; round < rounds; ++round) {
            Cycle cycle;
            scope.launch(runCycle(&lock, &cycle));
            QVERIFY(bench::waitUntil([&] { return cycle.released >= 0; }));
            const auto ping = timeOf(node, {"PING"});
            const auto set =
                timeOf(node, {"SET", "bench-bare", "0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11", "NX", "PX", "30000"});
            const auto removed = timeOfScript(node);
            QVERIFY(ping > 0 && set > 0 && removed > 0);
            if (round < 0)
                continue;
            times.acquire.add(cycle.acquired);
            times.cycle.add(cycle.released);
            times.ping.add(ping);
            times.set.add(set);
            times.bare.add(set + removed);
        }
    }
    // Processors that have fallen asleep take longer to wake than what is to be measured.
    static void stayAwake(std::chrono::milliseconds span)
    {
        QElapsedTimer timer;
        timer.start();
        while (timer.elapsed() < span.count())
            QCoreApplication::processEvents();
    }
    // From one contender's release to the other's grant.
    void handOffs(const QByteArray &recipe, int count, bench::Medians &times)
    {
        auto other = open(m_servers.front()->address());
        auto first = recipes::makeLock(recipe, *m_near.front(), key, {}, Random(1));
        auto second = recipes::makeLock(recipe, *other, key, {}, Random(2));
        QVERIFY(first && second);
        recipes::Lock *holder = first->get();
        recipes::Lock *waiter = second->get();
        Scope scope(m_loop);
        bool isHeld = false;
        scope.launch(takeIt(holder, &isHeld));
        QVERIFY(bench::waitUntil([&] { return isHeld; }));
        for (int i = 0; i < count; ++i) {
            bool hasIt = false;
            scope.launch(takeIt(waiter, &hasIt));
            stayAwake(60ms); // it waits now
            QVERIFY(!hasIt);
            QElapsedTimer timer;
            timer.start();
            scope.launch(giveBack(holder));
            QVERIFY(bench::waitUntil([&] { return hasIt; }));
            times.add(timer.nsecsElapsed());
            std::swap(holder, waiter);
        }
        scope.launch(giveBack(holder));
        QVERIFY(bench::waitUntil([&] { return scope.isIdle(); }));
    }

    static void places()
    {
        QTest::addColumn<bool>("isFar");
        QTest::addColumn<int>("rounds");
        QTest::newRow("beside each other") << false << 2000;
        QTest::newRow("1 ms added") << true << 200;
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
            m_near.push_back(open(m_servers.back()->address()));
            m_proxies.push_back(std::make_unique<testing::DelayProxy>(m_servers.back()->address(), 1000us));
            m_far.push_back(open(m_proxies.back()->address()));
            QCOMPARE(m_near.back()->state(), redis::ConnectionState::Connected);
            QCOMPARE(m_far.back()->state(), redis::ConnectionState::Connected);
        }
    }

    void oneNode_data() { places(); }
    void oneNode()
    {
        QFETCH(const bool, isFar);
        QFETCH(const int, rounds);
        const auto where = isFar ? u", 1 ms added"_s : QString();
        auto &node = *(isFar ? m_far : m_near).front();
        Times token;
        auto setNx = recipes::makeLock("redis-set-nx", node, key, {}, Random(1));
        QVERIFY(setNx);
        measure(**setNx, node, rounds, token);
        bench::report(u"redis-set-nx%1, acquire and release (goal ≤ 2.2) ÷ PING"_s.arg(where), token.cycle,
                      token.ping);
        bench::report(
            u"its two commands alone%1, SET NX PX and the script that compares and deletes ÷ PING"_s.arg(where),
            token.bare, token.ping);
        Times redisson;
        auto hash = recipes::makeLock("redisson-lock", node, key, {}, Random(1));
        QVERIFY(hash);
        measure(**hash, node, rounds, redisson);
        bench::report(u"redisson-lock%1, free acquire (goal ≤ 1.15) ÷ SET NX PX"_s.arg(where), redisson.acquire,
                      redisson.set);
    }

    void fiveNodes_data() { places(); }
    void fiveNodes()
    {
        QFETCH(const bool, isFar);
        QFETCH(const int, rounds);
        std::vector<redis::Connection *> nodes;
        for (const auto &node : isFar ? m_far : m_near)
            nodes.push_back(node.get());
        auto redlock = recipes::makeLock("redlock", nodes, key, {}, Random(1));
        QVERIFY(redlock);
        Times times;
        measure(**redlock, *nodes.front(), rounds, times);
        bench::report(u"redlock over 5 nodes%1, free acquire (goal ≤ 1.6) ÷ one SET NX PX"_s.arg(
                          isFar ? u", 1 ms added"_s : QString()),
                      times.acquire, times.set);
    }

    void handedOver()
    {
        bench::Medians published;
        bench::Medians polled;
        handOffs("redisson-lock", 60, published);
        handOffs("redis-set-nx", 60, polled);
        bench::report(u"hand-off (goal ≥ 50): redis-set-nx, polled every 25 to 75 ms ÷ redisson-lock, published"_s,
                      polled, published);
    }
};

QTEST_GUILESS_MAIN(BenchRedisRecipes)
#include "bench_redis_recipes.moc"
