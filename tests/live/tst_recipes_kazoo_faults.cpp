// SPDX-License-Identifier: Apache-2.0
// kazoo's recipes when something goes wrong: the trade of the guard for a permit, its pool, a
// connection that breaks. The rest: tests/contract.
#include "tests/live/kazoofixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::test;

class TestRecipesKazooFaults : public KazooFixture {
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

    void brokenConnectionKeepsThePlace_data() { exclusiveAsRows(); }
    void brokenConnectionKeepsThePlace()
    {
        QVERIFY(begin(rowsRecipe(), 1, 1));
        QVERIFY(hold(0));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address()));
        QVERIFY(waitInLine(1));
        const auto before = nodes();
        m_cable->cut();
        QTRY_COMPARE(m_clients[1]->real->state(), zk::SessionState::Connecting);
        QVERIFY(letGo(0)); // while nobody can tell the waiter
        m_cable->mend();
        QTRY_VERIFY_WITH_TIMEOUT(contender(1).holds(), 20'000);
        QCOMPARE(nodes(), QByteArrayList{nameOf(1)});
        if (!isSemaphore())
            QCOMPARE(nameOf(1), before.last());
    }

    // What the trade of the guard for a lease can come to.
    void tradeReplyLost_data()
    {
        QTest::addColumn<int>("request");
        QTest::addColumn<int>("fate");
        QTest::addColumn<int>("trades");
        const int multi = int(Request::Multi), look = int(Request::Exists);
        QTest::newRow("reply lost") << multi << int(RequestFault::LoseReply) << 1;
        QTest::newRow("request lost") << multi << int(RequestFault::LoseRequest) << 2;
        QTest::newRow("the look at it lost") << look << int(RequestFault::LoseReply) << 1;
    }
    void tradeReplyLost()
    {
        QFETCH(int, request);
        QFETCH(int, fate);
        QFETCH(int, trades);
        QVERIFY(begin("kazoo-semaphore", 2, 3));
        QVERIFY(hold(0));
        faulty(1).plan(Request(request), 1, RequestFault(fate));
        QVERIFY(hold(1));
        QCOMPARE(counting(1).count(Request::Multi), trades);
        QVERIFY(allQuiet());
        QCOMPARE(nodes().size(), 2); // two leases, no guard
        QVERIFY(nodes().contains(nameOf(1)));
        const auto stat = await(m_admin->exists((*contender(1).granted)->node, std::nullopt, soon()));
        QVERIFY(stat);
        QCOMPARE(stat->czxid, *(*contender(1).granted)->fencingToken);
        QVERIFY(waitInLine(2));
        QVERIFY(letGo(0));
        QVERIFY(getsIn(2));
    }

    void cancelWhileTheTradeIsOut_data()
    {
        QTest::addColumn<int>("fate");
        QTest::newRow("reply still under way") << int(RequestFault::HoldReply);
        QTest::newRow("request still under way") << int(RequestFault::HoldRequest);
        QTest::newRow("reply lost") << int(RequestFault::LoseReply);
    }
    void cancelWhileTheTradeIsOut()
    {
        QFETCH(int, fate);
        QVERIFY(begin("kazoo-semaphore", 1, 2));
        faulty(0).plan(Request::Multi, 1, RequestFault(fate));
        contender(0).acquire();
        QTRY_COMPARE(counting(0).count(Request::Multi), 1);
        contender(0).lock.reset();
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::Cancelled);
        faulty(0).letThrough();
        QTRY_COMPARE(nodes().size(), 0);
        QVERIFY(hold(1));
        QTRY_COMPARE(nodes(), QByteArrayList{nameOf(1)});
    }

    // Two that both believe to be at the head would let one too many in: the transaction refuses it.
    void guardTakenFromTheHead()
    {
        QVERIFY(begin("kazoo-semaphore", 1, 3));
        QVERIFY(lineUp(3));
        QVERIFY(remove(guards().child(NodeName(childrenOf(guards()).first()))));
        // The next one has moved up; both watch the pool now.
        QTRY_COMPARE(counting(2).count(Request::Children), 3);
        QVERIFY(allQuiet());
        QVERIFY(letGo(0));
        QVERIFY(getsIn(2));
        QTRY_COMPARE(counting(1).count(Request::Create), 2); // in line again
        QVERIFY(!contender(1).granted);
        QCOMPARE(childrenOf(m_path), QByteArrayList{nameOf(2)});
        QVERIFY(letGo(2));
        QVERIFY(getsIn(1));
    }

    void poolTakenAwayWhileWaiting()
    {
        QVERIFY(begin("kazoo-semaphore", 1, 2));
        QVERIFY(lineUp(2));
        QVERIFY(remove((*contender(0).granted)->node));
        QVERIFY(getsIn(1));
        QVERIFY(letGo(1));
        QVERIFY(remove(m_path));
        QVERIFY(hold(1)); // made again
        QCOMPARE(nodes(), QByteArrayList{nameOf(1)});
    }
};

LOCKSCOPE_TEST(TestRecipesKazooFaults)
#include "tst_recipes_kazoo_faults.moc"
