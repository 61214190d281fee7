// SPDX-License-Identifier: Apache-2.0
// Curator's recipes when something goes wrong: requests that are lost or held back at the one step that a
// permit takes more than a lock, two heads of a queue, a connection that breaks. The rest: tests/contract.
#include "tests/support/curatorfixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::test;

class TestRecipesCuratorFaults : public CuratorFixture {
    Q_OBJECT

    // Of all directories of the lock.
    int nodeCount()
    {
        if (!isSemaphore(m_kind))
            return int(namesIn(m_path).size());
        return int(namesIn(locks()).size() + namesIn(leases()).size());
    }

    QByteArray m_kind;

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

    void cancelledWhileTheLeaseIsMade_data()
    {
        QTest::addColumn<int>("fate");
        QTest::newRow("reply still under way") << int(RequestFault::HoldReply);
        QTest::newRow("request still under way") << int(RequestFault::HoldRequest);
        QTest::newRow("reply lost") << int(RequestFault::LoseReply);
    }
    void cancelledWhileTheLeaseIsMade()
    {
        QFETCH(int, fate);
        m_kind = "2";
        QVERIFY(prepare({m_kind}));
        faulty(0).plan(Request::Create, 2, RequestFault(fate));
        contender(0).acquire();
        QTRY_COMPARE(counting(0).count(Request::Create), 2);
        contender(0).lock.reset();
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::Cancelled);
        if (fate == int(RequestFault::HoldReply))
            QTRY_COMPARE(namesIn(leases()).size(), 1);
        faulty(0).letThrough();
        QTRY_COMPARE(counting(0).count(Request::Remove), 2); // the lease and the place in line
        QTRY_COMPARE(nodeCount(), 0);
    }

    // Exactly one node of each sort, whatever became of the reply.
    void createReplyLost_data()
    {
        QTest::addColumn<QByteArray>("kind");
        QTest::addColumn<int>("nth");
        QTest::addColumn<int>("fate");
        for (const auto *kind : {"mutex", "read", "write", "semaphore-mutex", "2"}) {
            const bool semaphore = isSemaphore(kind);
            for (int nth = 1; nth <= (semaphore ? 2 : 1); ++nth) {
                QTest::addRow("%s, create %d, reply lost", kind, nth)
                    << QByteArray(kind) << nth << int(RequestFault::LoseReply);
                QTest::addRow("%s, create %d, request lost", kind, nth)
                    << QByteArray(kind) << nth << int(RequestFault::LoseRequest);
            }
        }
    }
    void createReplyLost()
    {
        QFETCH(int, nth);
        QFETCH(int, fate);
        m_kind = rowsKind();
        QVERIFY(prepare({m_kind}));
        faulty(0).plan(Request::Create, nth, RequestFault(fate));
        contender(0).acquire();
        QVERIFY(gets(0));
        QTRY_COMPARE(nodeCount(), 1);
        const auto grant = **contender(0).granted;
        const auto stat = await(m_admin->exists(grant.node, std::nullopt, soon()));
        QVERIFY(stat);
        QCOMPARE(stat->czxid, *grant.fencingToken);
        const int creates = isSemaphore(m_kind) ? 2 : 1;
        QCOMPARE(counting(0).count(Request::Create), fate == int(RequestFault::LoseRequest) ? creates + 1 : creates);
        QVERIFY(givesBack(0));
        QCOMPARE(nodeCount(), 0);
    }

    // The leave from "locks" is lost: it is sent again, and the next one moves up.
    void leavingTheLineIsFollowedUp()
    {
        m_kind = "2";
        QVERIFY(prepare({m_kind, m_kind}));
        faulty(0).plan(Request::Remove, 1, RequestFault::LoseRequest);
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        contender(1).acquire();
        QVERIFY(gets(1));
        QTRY_COMPARE(namesIn(locks()).size(), 0);
        QCOMPARE(namesIn(leases()).size(), 2);
    }

    // Somebody removes the head's node in "locks": now two wait for their lease. Both get in, in turn.
    void twoHeadsDoNotWaitForEachOther()
    {
        m_kind = "1";
        QVERIFY(prepare({m_kind, m_kind, m_kind}));
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        contender(1).acquire();
        QVERIFY(waits(1, 4));
        contender(2).acquire();
        QVERIFY(waits(2, 3));
        QVERIFY(removeNode(locks().child(NodeName(namesIn(locks()).first()))));
        QVERIFY(waits(2, 6)); // it thinks it is the head, and made its lease
        QCOMPARE(namesIn(leases()).size(), 3);
        QVERIFY(givesBack(0));
        QVERIFY(gets(1));
        QVERIFY(!contender(2).granted);
        QVERIFY(givesBack(1));
        QVERIFY(gets(2));
        QTRY_COMPARE(nodeCount(), 1);
    }

    void reconnectingKeepsThePlace_data() { kindsAsRows({"write", "read", "semaphore-mutex"}); }
    void reconnectingKeepsThePlace()
    {
        m_kind = rowsKind();
        QVERIFY(prepare({m_kind == "read" ? "write" : m_kind}));
        m_cable = std::make_unique<Cable>(m_server->address());
        m_clients.push_back(std::make_unique<Client>(m_loop, m_cable->address()));
        auto lock = makeCuratorLock(m_kind, counting(1), m_path, 99);
        m_contenders.push_back(std::make_unique<Contender>(m_loop, std::move(lock)));
        QVERIFY(waitForState(*m_clients[1]->real, zk::SessionState::Connected));
        contender(0).acquire();
        QVERIFY(gets(0));
        contender(1).acquire();
        QVERIFY(waits(1, isSemaphore(m_kind) ? 4 : 3));
        const int before = nodeCount();
        m_cable->cut();
        QTRY_COMPARE(m_clients[1]->real->state(), zk::SessionState::Connecting);
        QVERIFY(givesBack(0)); // while it cannot hear
        QCOMPARE(nodeCount(), before - 1);
        m_cable->mend();
        QTRY_VERIFY_WITH_TIMEOUT(contender(1).holds(), 20'000);
        QCOMPARE(counting(1).count(Request::Create), isSemaphore(m_kind) ? 2 : 1);
    }
};

LOCKSCOPE_TEST(TestRecipesCuratorFaults)
#include "tst_recipes_curator_faults.moc"
