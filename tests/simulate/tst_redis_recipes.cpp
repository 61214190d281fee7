// SPDX-License-Identifier: Apache-2.0
// Every Redis recipe in the simulated world, as it is: contenders on processes of their own, to the end, one at
// a time; and the same run for the same seed.
#include "redisworld.h"

#include "core/async/sleep.h"
#include "core/recipes/make.h"
#include "tests/support/testmain.h"

#include <QCryptographicHash>

using namespace lockscope;
using namespace lockscope::testing;

namespace {

struct Guarded {
    int inside = 0, most = 0, number = 0, failed = 0;
};

Task<void> addUnderLock(recipes::Lock *lock, Loop *loop, int rounds, Guarded *guarded)
{
    const auto never = Deadline::never();
    for (int i = 0; i < rounds; ++i) {
        const auto grant = co_await lock->acquire(never);
        if (!grant) {
            ++guarded->failed;
            co_return;
        }
        guarded->most = std::max(guarded->most, ++guarded->inside);
        const int seen = guarded->number;
        auto pause = sleepFor(*loop, 20ms);
        co_await pause;
        guarded->number = seen + 1;
        --guarded->inside;
        const auto released = co_await lock->release(never);
        if (!released)
            ++guarded->failed;
    }
}

struct Outcome {
    Guarded guarded;
    bool hasEnded = false;
    std::vector<QByteArray> left;
    QByteArray requests; // their hash
};

constexpr int contenders = 10;
constexpr int rounds = 3;

Outcome play(const QByteArray &recipe, int servers, const recipes::AcquireOptions &options, quint64 seed)
{
    RedisWorld world(servers, seed);
    QCryptographicHash requests(QCryptographicHash::Sha1);
    for (auto &server : world.servers)
        server->onCommand([&](int process, const redis::Command &command) {
            requests.addData(QByteArray::number(qint64(world.world.now().time_since_epoch().count())));
            requests.addData(QByteArray::number(process) + command.join(' '));
        });
    Outcome outcome;
    std::vector<std::unique_ptr<recipes::Lock>> locks;
    Scope scope(world.world);
    for (int i = 0; i < contenders; ++i) {
        auto &process = world.addProcess();
        std::vector<redis::Connection *> nodes;
        for (int node = 0; node < servers; ++node)
            nodes.push_back(&world.connect(process, node));
        world.world.advance(10ms);
        const Random random(seed * 1000 + static_cast<quint64>(i));
        auto made = servers > 1 ? recipes::makeLock(recipe, nodes, RedisKey("orders"), options, random)
                                : recipes::makeLock(recipe, *nodes.front(), RedisKey("orders"), options, random);
        if (!made)
            qFatal("%s", qPrintable(made.error().message));
        locks.push_back(std::move(*made));
        scope.launch(addUnderLock(locks.back().get(), &process, rounds, &outcome.guarded));
    }
    for (int second = 0; second < 120 && !scope.isIdle(); ++second)
        world.world.advance(1s);
    outcome.hasEnded = scope.isIdle();
    // What is left of a finished lock goes with its time to live.
    world.world.advance(60s);
    outcome.left = world.server().keys();
    outcome.requests = requests.result().toHex();
    scope.cancelAll();
    locks.clear();
    return outcome;
}

} // namespace

class TestRedisRecipesInTheSimulatedWorld : public QObject {
    Q_OBJECT

private slots:
    void oneAtATime_data()
    {
        QTest::addColumn<int>("servers");
        QTest::addColumn<int>("most");
        for (const auto *recipe : {"redis-set-nx", "redis-setnx-expire", "redis-getset", "redisson-lock",
                                   "redisson-fair-lock", "redisson-fenced-lock", "redisson-rwlock"})
            QTest::newRow(recipe) << 1 << 1;
        QTest::newRow("redisson-semaphore") << 1 << 3;
        QTest::newRow("redlock") << 5 << 1;
    }
    void oneAtATime()
    {
        QFETCH(int, servers);
        QFETCH(int, most);
        const QByteArray recipe(QTest::currentDataTag());
        recipes::AcquireOptions options;
        options.limit = most;
        const auto first = play(recipe, servers, options, 7);
        QVERIFY(first.hasEnded);
        QCOMPARE(first.guarded.failed, 0);
        QCOMPARE(first.guarded.most, most);
        QCOMPARE(first.guarded.inside, 0);
        if (most == 1)
            QCOMPARE(first.guarded.number, contenders * rounds);
        // A counter of tokens and the permits of a semaphore are meant to stay.
        const bool stays = recipe == "redisson-fenced-lock" || recipe == "redisson-semaphore";
        QCOMPARE(first.left.size(), stays ? 1u : 0u);
        QCOMPARE(play(recipe, servers, options, 7).requests, first.requests);
        QVERIFY(play(recipe, servers, options, 8).requests != first.requests);
    }

    void readersTogether()
    {
        recipes::AcquireOptions options;
        options.readMode = true;
        const auto outcome = play("redisson-rwlock", 1, options, 3);
        QVERIFY(outcome.hasEnded);
        QCOMPARE(outcome.guarded.failed, 0);
        QVERIFY(outcome.guarded.most > 1);
        QCOMPARE(outcome.left.size(), 0u);
    }
};

LOCKSCOPE_TEST(TestRedisRecipesInTheSimulatedWorld)
#include "tst_redis_recipes.moc"
