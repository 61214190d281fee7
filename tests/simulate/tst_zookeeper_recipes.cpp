// SPDX-License-Identifier: Apache-2.0
// The recipes, as they are, on the simulated ZooKeeper: contenders get the lock one at a time and in their order,
// and leave nothing behind.
#include "core/async/scope.h"
#include "core/async/sleep.h"
#include "core/recipes/make.h"
#include "tests/simulate/zookeeperworld.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

// Somebody who takes the lock a few times, with a session of his own.
struct Visitor {
    Visitor(ZooKeeperWorld::Client own, const QByteArray &recipe, const ZPath &path, quint64 seed)
        : client(std::move(own)), scope(*client.process)
    {
        auto made = recipes::makeLock(recipe, *client.session, path, {}, Random(seed));
        if (!made)
            qFatal("%s", qPrintable(made.error().message));
        lock = std::move(*made);
    }

    ZooKeeperWorld::Client client;
    std::unique_ptr<recipes::Lock> lock;
    int grants = 0;
    Scope scope; // last: its coroutines use the lock
};

} // namespace

class TestSimulatedZooKeeperRecipes : public QObject {
    Q_OBJECT

    int m_inside = 0, m_mostInside = 0;
    std::vector<qint64> m_tokens; // as they were granted

    Task<void> visit(Visitor *visitor, int rounds)
    {
        auto &loop = *visitor->client.process;
        for (int round = 0; round < rounds; ++round) {
            const auto got = co_await visitor->lock->acquire(Deadline::never());
            if (!got) {
                qWarning("%s", qPrintable(got.error().message));
                co_return;
            }
            ++visitor->grants;
            m_mostInside = std::max(m_mostInside, ++m_inside);
            if (got->fencingToken)
                m_tokens.push_back(*got->fencingToken);
            const auto held = sleepFor(loop, 5ms);
            co_await held;
            --m_inside;
            const auto given = co_await visitor->lock->release(Deadline::never());
            if (!given)
                qWarning("%s", qPrintable(given.error().message));
        }
    }

private slots:
    void init()
    {
        m_inside = m_mostInside = 0;
        m_tokens.clear();
    }

    void everybodyGetsItAloneAndInOrder_data()
    {
        QTest::addColumn<bool>("isFair");
        for (const auto &recipe : recipes::catalogue()) {
            const bool plays = recipe.backend == BackendKind::ZooKeeper && recipe.acquirable;
            if (plays)
                QTest::newRow(recipe.id) << recipe.fair;
        }
    }
    void everybodyGetsItAloneAndInOrder()
    {
        QFETCH(bool, isFair);
        constexpr int contenders = 20;
        constexpr int rounds = 3;
        ZooKeeperWorld world(7);
        const auto admin = world.open();
        QVERIFY(world.make(admin, "/locks"));
        std::vector<std::unique_ptr<Visitor>> visitors;
        for (quint64 i = 0; i < contenders; ++i)
            visitors.push_back(
                std::make_unique<Visitor>(world.open(), QTest::currentDataTag(), ZPath("/locks/it"), i));
        for (const auto &visitor : visitors)
            visitor->scope.launch(visit(visitor.get(), rounds));
        QVERIFY(world.waitFor([&] {
            return std::all_of(visitors.begin(), visitors.end(), [](const auto &v) { return v->scope.isIdle(); });
        }));
        for (const auto &visitor : visitors)
            QCOMPARE(visitor->grants, rounds);
        QCOMPARE(m_mostInside, 1);
        if (isFair)
            QVERIFY(std::is_sorted(m_tokens.begin(), m_tokens.end()));
        // Ended sessions leave what does not belong to them: directories, at most.
        visitors.clear();
        world.loop.advance(1s);
        QCOMPARE(world.ensemble.sessions().size(), std::size_t(1));
        for (const auto &path : world.ensemble.below(ZPath("/locks")))
            QVERIFY2(world.ensemble.node(path)->stat.ephemeralOwner.isNone(), path.bytes().constData());
    }
};

LOCKSCOPE_TEST(TestSimulatedZooKeeperRecipes)
#include "tst_zookeeper_recipes.moc"
