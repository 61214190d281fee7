// SPDX-License-Identifier: Apache-2.0
// Curator's recipes when something goes wrong: timeouts, cancels, lost replies, nodes that somebody takes
// away. Wherever it happens, nothing is left in the lock's directories.
#include "tests/live/curatorfixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

// Where a contender is when it happens.
enum FaultStage {
    InLine,  // in the queue (of "locks"), behind another
    AtFront, // of a semaphore: its lease is made, and there is no permit
};

} // namespace

class TestRecipesCuratorFaults : public CuratorFixture {
    Q_OBJECT

    // Of all directories of the lock.
    int nodeCount()
    {
        if (!isSemaphore(m_kind))
            return int(namesIn(m_path).size());
        return int(namesIn(locks()).size() + namesIn(leases()).size());
    }
    static void stagesAsRows()
    {
        QTest::addColumn<QByteArray>("kind");
        QTest::addColumn<int>("stage");
        for (const auto *kind : {"mutex", "read", "write", "semaphore-mutex", "1"})
            QTest::addRow("%s in line", kind) << QByteArray(kind) << int(InLine);
        for (const auto *kind : {"semaphore-mutex", "1"})
            QTest::addRow("%s at the front", kind) << QByteArray(kind) << int(AtFront);
    }
    // 0 holds, so that others wait; the last one is the row's and has not begun.
    bool prepareStage()
    {
        m_kind = *static_cast<QByteArray *>(QTest::qData("kind", qMetaTypeId<QByteArray>()));
        m_stage = *static_cast<int *>(QTest::qData("stage", qMetaTypeId<int>()));
        QByteArrayList kinds{m_kind == "read" ? "write" : m_kind, m_kind};
        const bool behindAnother = isSemaphore(m_kind) && m_stage == InLine;
        if (behindAnother)
            kinds << m_kind;
        if (!prepare(kinds))
            return false;
        contender(0).acquire();
        if (!getsInPeace(0))
            return false;
        if (behindAnother) {
            contender(1).acquire();
            return waits(1, 4);
        }
        return true;
    }
    // The row's contender.
    [[nodiscard]] int last() const { return int(m_contenders.size()) - 1; }
    Contender &me() { return contender(last()); }
    // Its requests until it waits.
    [[nodiscard]] int joining() const { return m_stage == AtFront ? 4 : 3; }

    QByteArray m_kind;
    int m_stage = InLine;

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

    void timeoutLeavesNoNode_data() { stagesAsRows(); }
    void timeoutLeavesNoNode()
    {
        QVERIFY(prepareStage());
        const int before = nodeCount();
        me().acquire(Deadline::after(m_loop, 200ms));
        QVERIFY(waits(last(), joining()));
        QTRY_VERIFY(me().granted);
        QCOMPARE(me().granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(nodeCount(), before); // at once: gone before the timeout was reported
        // The same object can try again.
        me().acquire();
        for (int i = 0; i < last(); ++i) {
            QVERIFY(gets(i));
            QVERIFY(givesBack(i));
        }
        QVERIFY(gets(last()));
    }

    void triesOnceWithoutWaiting_data() { stagesAsRows(); }
    void triesOnceWithoutWaiting()
    {
        QVERIFY(prepareStage());
        const int before = nodeCount();
        me().acquire(Deadline::at(m_loop.now()));
        QTRY_VERIFY(me().granted);
        QCOMPARE(me().granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(nodeCount(), before);
    }

    void freeAtTheOnlyTry_data() { kindsAsRows({"mutex", "read", "write", "semaphore-mutex", "2"}); }
    void freeAtTheOnlyTry()
    {
        QVERIFY(prepare({rowsKind()}));
        contender(0).acquire(Deadline::at(m_loop.now()));
        QVERIFY(gets(0));
    }

    void destroyedWhileItWaits_data() { stagesAsRows(); }
    void destroyedWhileItWaits()
    {
        QVERIFY(prepareStage());
        const int before = nodeCount();
        me().acquire();
        QVERIFY(waits(last(), joining()));
        me().lock.reset();
        QTRY_VERIFY(me().granted);
        QCOMPARE(me().granted->error().code, ErrorCode::Cancelled);
        QTRY_COMPARE(nodeCount(), before);
    }

    void cancelledWhileItWaits_data() { stagesAsRows(); }
    void cancelledWhileItWaits()
    {
        QVERIFY(prepareStage());
        const int before = nodeCount();
        me().acquire();
        QVERIFY(waits(last(), joining()));
        me().cancelWaits();
        QTRY_COMPARE(nodeCount(), before);
        me().acquire();
        for (int i = 0; i < last(); ++i) {
            QVERIFY(gets(i));
            QVERIFY(givesBack(i));
        }
        QVERIFY(gets(last()));
    }

    void cancelledWhileTheLeaseIsMade_data()
    {
        QTest::addColumn<int>("fate");
        QTest::newRow("reply still under way") << int(Fate::HoldReply);
        QTest::newRow("request still under way") << int(Fate::HoldRequest);
        QTest::newRow("reply lost") << int(Fate::LoseReply);
    }
    void cancelledWhileTheLeaseIsMade()
    {
        QFETCH(int, fate);
        m_kind = "2";
        QVERIFY(prepare({m_kind}));
        faulty(0).plan(Request::Create, 2, Fate(fate));
        contender(0).acquire();
        QTRY_COMPARE(counting(0).count(Request::Create), 2);
        contender(0).lock.reset();
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::Cancelled);
        if (fate == int(Fate::HoldReply))
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
                QTest::addRow("%s, create %d, reply lost", kind, nth) << QByteArray(kind) << nth << int(Fate::LoseReply);
                QTest::addRow("%s, create %d, request lost", kind, nth)
                    << QByteArray(kind) << nth << int(Fate::LoseRequest);
            }
        }
    }
    void createReplyLost()
    {
        QFETCH(int, nth);
        QFETCH(int, fate);
        m_kind = rowsKind();
        QVERIFY(prepare({m_kind}));
        faulty(0).plan(Request::Create, nth, Fate(fate));
        contender(0).acquire();
        QVERIFY(gets(0));
        QTRY_COMPARE(nodeCount(), 1);
        const auto grant = **contender(0).granted;
        const auto stat = await(m_admin->exists(grant.node, std::nullopt, soon()));
        QVERIFY(stat);
        QCOMPARE(stat->czxid, *grant.fencingToken);
        const int creates = isSemaphore(m_kind) ? 2 : 1;
        QCOMPARE(counting(0).count(Request::Create), fate == int(Fate::LoseRequest) ? creates + 1 : creates);
        QVERIFY(givesBack(0));
        QCOMPARE(nodeCount(), 0);
    }

    void listReplyLost_data() { kindsAsRows({"mutex", "read", "write", "semaphore-mutex", "2"}); }
    void listReplyLost()
    {
        m_kind = rowsKind();
        QVERIFY(prepare({m_kind}));
        faulty(0).plan(Request::Children, 1, Fate::LoseReply);
        if (isSemaphore(m_kind))
            faulty(0).plan(Request::Children, 3, Fate::LoseReply);
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        QTRY_COMPARE(nodeCount(), 1);
        QCOMPARE(counting(0).count(Request::Create), isSemaphore(m_kind) ? 2 : 1);
    }

    void releaseIsFollowedUp_data()
    {
        QTest::addColumn<QByteArray>("kind");
        QTest::addColumn<int>("fate");
        for (const auto *kind : {"mutex", "write", "semaphore-mutex"}) {
            QTest::addRow("%s, reply lost", kind) << QByteArray(kind) << int(Fate::LoseReply);
            QTest::addRow("%s, request lost", kind) << QByteArray(kind) << int(Fate::LoseRequest);
        }
    }
    void releaseIsFollowedUp()
    {
        QFETCH(int, fate);
        m_kind = rowsKind();
        QVERIFY(prepare({m_kind, m_kind}));
        contender(0).acquire();
        QVERIFY(gets(0));
        contender(1).acquire();
        QVERIFY(waits(1, isSemaphore(m_kind) ? 4 : 3));
        faulty(0).plan(Request::Remove, 1, Fate(fate));
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::UnknownOutcome);
        QVERIFY(gets(1));
        QTRY_COMPARE(nodeCount(), 1);
    }

    // The leave from "locks" is lost: it is sent again, and the next one moves up.
    void leavingTheLineIsFollowedUp()
    {
        m_kind = "2";
        QVERIFY(prepare({m_kind, m_kind}));
        faulty(0).plan(Request::Remove, 1, Fate::LoseRequest);
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        contender(1).acquire();
        QVERIFY(gets(1));
        QTRY_COMPARE(namesIn(locks()).size(), 0);
        QCOMPARE(namesIn(leases()).size(), 2);
    }

    void takenAwayFromTheHolder_data() { kindsAsRows({"mutex", "write", "read", "semaphore-mutex", "1"}); }
    void takenAwayFromTheHolder()
    {
        m_kind = rowsKind();
        const QByteArray other = m_kind == "read" ? "write" : m_kind;
        QVERIFY(prepare({m_kind, other}));
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        contender(1).acquire();
        QVERIFY(waits(1, isSemaphore(m_kind) ? 4 : 3));
        QVERIFY(removeNode((*contender(0).granted)->node));
        QVERIFY(gets(1));
        contender(0).askWhether();
        QTRY_VERIFY(contender(0).mine);
        QVERIFY(*contender(0).mine && !**contender(0).mine);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::NotHeld);
        QCOMPARE(nodeCount(), 1);
    }

    // A waiter whose node was taken away joins again, at the end, and leaves no orphan.
    void takenAwayFromAWaiter_data() { stagesAsRows(); }
    void takenAwayFromAWaiter()
    {
        QVERIFY(prepareStage());
        me().acquire();
        QVERIFY(waits(last(), joining()));
        const auto directory = !isSemaphore(m_kind) ? m_path : m_stage == AtFront ? leases() : locks();
        const auto mine = namesIn(directory).last();
        const int before = nodeCount();
        QVERIFY(removeNode(directory.child(NodeName(mine))));
        if (m_stage == AtFront) // it watches the leases, so it hears of it now
            QTRY_COMPARE(counting(last()).count(Request::Create), 4);
        QVERIFY(!me().granted);
        for (int i = 0; i < last(); ++i) {
            QVERIFY(gets(i));
            QVERIFY(givesBack(i));
        }
        QVERIFY(gets(last()));
        QVERIFY((*me().granted)->id != mine);
        QTRY_COMPARE(nodeCount(), 1);
        QVERIFY(before > 1);
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

    void missingDirectoriesAreMade_data() { kindsAsRows({"mutex", "write", "semaphore-mutex", "1"}); }
    void missingDirectoriesAreMade()
    {
        m_kind = rowsKind();
        m_path = ZPath("/curator-nowhere-" + QByteArray::number(++m_runs) + "/below");
        for (int i = 0; i < 2; ++i)
            QVERIFY(join(m_kind));
        // Both at once: neither minds the other.
        contender(0).acquire();
        contender(1).acquire();
        QTRY_VERIFY(contender(0).holds() || contender(1).holds());
        const int first = contender(0).holds() ? 0 : 1;
        QVERIFY(givesBack(first));
        QVERIFY(gets(1 - first));
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
