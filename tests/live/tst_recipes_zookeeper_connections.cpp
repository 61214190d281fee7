// SPDX-License-Identifier: Apache-2.0
// The ZooKeeper recipes when connections break and sessions expire.
#include "tests/support/recipefixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;

class TestRecipesZooKeeperConnections : public RecipeFixture {
    Q_OBJECT

private slots:
    // A timeout that cannot clean up says so, and cleans up when it can. All at once.
    void timeoutWhileCutOff()
    {
        m_cable = std::make_unique<Cable>(m_server->address());
        std::vector<ZPath> paths;
        for (const auto &recipe : queueRecipes) {
            QVERIFY(prepare(recipe, 1) && add(m_cable->address()));
            paths.push_back(m_path);
            auto &holder = contender(int(m_contenders.size()) - 2);
            QVERIFY(holder.takes());
        }
        const auto nodesOf = [&](int i) {
            m_recipe = queueRecipes[i];
            m_path = paths[size_t(i)];
            return nodes().size();
        };
        const int all = int(queueRecipes.size());
        for (int i = 0; i < all; ++i)
            contender(2 * i + 1).acquireFor(3s);
        for (int i = 0; i < all; ++i)
            QTRY_COMPARE(nodesOf(i), 2);
        m_cable->cut();
        for (int i = 0; i < all; ++i) {
            QTRY_VERIFY(contender(2 * i + 1).granted);
            QCOMPARE(contender(2 * i + 1).granted->error().code, ErrorCode::UnknownOutcome);
            QCOMPARE(nodesOf(i), 2);
        }
        m_cable->mend();
        for (int i = 0; i < all; ++i)
            QTRY_COMPARE(nodesOf(i), 1);
    }

    void timeoutBeforeConnected_data() { asRows(allRecipes); }
    void timeoutBeforeConnected()
    {
        QVERIFY(prepare(rowsRecipe(), 0));
        m_cable = std::make_unique<Cable>(m_server->address());
        m_cable->cut();
        m_clients.push_back(std::make_unique<Client>(m_loop, m_cable->address()));
        m_contenders.push_back(contenderWith(*m_clients.back(), m_recipe, m_path, 1));
        QCOMPARE(contender(0).codeOfAcquire(Deadline::after(m_loop, 100ms)), int(ErrorCode::TimedOut));
        contender(0).acquire();
        m_cable->mend();
        QTRY_VERIFY_WITH_TIMEOUT(contender(0).holds(), 20'000);
    }

    // All at once: one session ends for each recipe.
    void expiredSessionEndsTheWait()
    {
        m_cable = std::make_unique<Cable>(m_server->address());
        std::vector<ZPath> marks;
        for (const auto &recipe : allRecipes) {
            QVERIFY(prepare(recipe, 1));
            QVERIFY(add(m_cable->address(), 1s));
            const int waiter = int(m_contenders.size()) - 1;
            QVERIFY(contender(waiter - 1).takes());
            contender(waiter).acquire();
            QTRY_VERIFY(counting(waiter).isIdle() && counting(waiter).requests() >= joinCost(1));
            QVERIFY(!contender(waiter).granted);
            // Its own node: so it can be seen from outside when the session is over, also where a waiter has none.
            marks.push_back(m_path.parent().child(NodeName("mark")));
            QVERIFY(await(
                m_clients.back()->real->create(marks.back(), {}, zk::CreateMode::Ephemeral, zk::openAcl(), soon())));
        }
        m_cable->cut();
        for (const auto &mark : marks)
            QTRY_VERIFY_WITH_TIMEOUT(!await(m_admin->exists(mark, std::nullopt, soon())), 20'000);
        m_cable->mend();
        for (int waiter = 1; waiter < int(m_contenders.size()); waiter += 2) {
            QTRY_VERIFY_WITH_TIMEOUT(contender(waiter).granted, 20'000);
            QCOMPARE(contender(waiter).granted->error().code, ErrorCode::SessionExpired);
            contender(waiter).acquire(); // nothing more can be had with this session, and it says so
            QTRY_VERIFY(contender(waiter).granted);
            QCOMPARE(contender(waiter).granted->error().code, ErrorCode::SessionExpired);
        }
    }
};

LOCKSCOPE_TEST(TestRecipesZooKeeperConnections)
#include "tst_recipes_zookeeper_connections.moc"
