// SPDX-License-Identifier: Apache-2.0
// The ZooKeeper recipes when connections break and sessions expire.
#include "tests/live/recipefixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::test;

class TestRecipesZooKeeperConnections : public RecipeFixture {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        const auto problem = startServer();
        if (!m_server)
            QSKIP(qPrintable(problem)); // not installed
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
    }
    void cleanup() { forgetContenders(); }
    void cleanupTestCase() { closeSessions(); }

    void brokenConnectionKeepsThePlace_data() { recipesAsRows(); }
    void brokenConnectionKeepsThePlace()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address()));
        QVERIFY(queueUp(2));
        const auto before = nodes();
        m_cable->cut();
        QTRY_COMPARE(m_clients[1]->real->state(), zk::SessionState::Connecting);
        m_cable->mend();
        QVERIFY(waitForState(*m_clients[1]->real, zk::SessionState::Connected));
        QCOMPARE(nodes(), before);
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
        // And a holder keeps what it has.
        m_cable->cut();
        QTRY_COMPARE(m_clients[1]->real->state(), zk::SessionState::Connecting);
        m_cable->mend();
        QVERIFY(waitForState(*m_clients[1]->real, zk::SessionState::Connected));
        contender(1).askWhether();
        QTRY_VERIFY(contender(1).mine);
        QVERIFY(**contender(1).mine);
    }

    // The next one is granted while the waiter is cut off: it finds out when it is back.
    void releasedWhileCutOff_data() { recipesAsRows(); }
    void releasedWhileCutOff()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address()));
        QVERIFY(queueUp(2));
        m_cable->cut();
        QTRY_COMPARE(m_clients[1]->real->state(), zk::SessionState::Connecting);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QVERIFY(!contender(1).granted);
        m_cable->mend();
        QTRY_VERIFY_WITH_TIMEOUT(contender(1).holds(), 20'000);
    }

    // A timeout that cannot clean up says so, and cleans up when it can.
    void timeoutWhileCutOff_data() { queuesAsRows(); }
    void timeoutWhileCutOff()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address()));
        QVERIFY(queueUp(1));
        contender(1).acquire(Deadline::after(m_loop, 500ms));
        QTRY_COMPARE(nodes().size(), 2);
        m_cable->cut();
        QTRY_VERIFY_WITH_TIMEOUT(contender(1).granted, 20'000);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::UnknownOutcome);
        QCOMPARE(nodes().size(), 2);
        m_cable->mend();
        QTRY_COMPARE_WITH_TIMEOUT(nodes().size(), 1, 20'000);
    }

    void timeoutBeforeConnected_data() { recipesAsRows(); }
    void timeoutBeforeConnected()
    {
        QVERIFY(prepare(rowsRecipe(), 0));
        m_cable = std::make_unique<Cable>(m_server->address());
        m_cable->cut();
        m_clients.push_back(std::make_unique<Client>(m_loop, m_cable->address()));
        m_contenders.push_back(std::make_unique<Contender>(*m_clients.back(), m_recipe, m_path, 1));
        contender(0).acquire(Deadline::after(m_loop, 100ms));
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::TimedOut);
        contender(0).acquire();
        m_cable->mend();
        QTRY_VERIFY_WITH_TIMEOUT(contender(0).holds(), 20'000);
    }

    void expiredSessionLosesTheLock_data() { recipesAsRows(); }
    void expiredSessionLosesTheLock()
    {
        QVERIFY(prepare(rowsRecipe(), 0));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address(), 1s));
        QVERIFY(add(m_server->address()));
        QVERIFY(queueUp(2));
        contender(0).heed();
        const auto first = *(*contender(0).granted)->fencingToken;
        m_cable->cut();
        QTRY_VERIFY_WITH_TIMEOUT(contender(1).holds(), 20'000);
        QVERIFY(*(*contender(1).granted)->fencingToken > first || m_recipe != "zk-ephemeral");
        // It does not have to hear of it for that.
        QTRY_VERIFY_WITH_TIMEOUT(contender(0).loss, 20'000);
        QCOMPARE(*contender(0).loss, recipes::Loss::CutOff);
        m_cable->mend();
        QVERIFY(waitForState(*m_clients[0]->real, zk::SessionState::Expired));
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::NotHeld);
        // Nothing more can be had with this session, and it says so.
        contender(0).acquire();
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::SessionExpired);
        QCOMPARE(nodes(), QByteArrayList{(*contender(1).granted)->node.name().bytes()});
    }

    void expiredSessionEndsTheWait_data() { recipesAsRows(); }
    void expiredSessionEndsTheWait()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address(), 1s));
        QVERIFY(queueUp(2));
        m_cable->cut();
        QTRY_VERIFY_WITH_TIMEOUT(m_recipe == "zk-ephemeral" || nodes().size() == 1, 20'000);
        if (m_recipe == "zk-ephemeral")
            QTest::qWait(3000); // nothing tells from outside that a session without nodes is over
        m_cable->mend();
        QTRY_VERIFY_WITH_TIMEOUT(contender(1).granted, 20'000);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::SessionExpired);
    }
};

LOCKSCOPE_TEST(TestRecipesZooKeeperConnections)
#include "tst_recipes_zookeeper_connections.moc"
