// SPDX-License-Identifier: Apache-2.0
// kazoo's recipes when something goes wrong: timeouts, cancels, lost replies, nodes that somebody takes
// away, connections that break.
#include "tests/live/kazoofixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

void withFates(const std::vector<std::pair<const char *, Fate>> &fates)
{
    QTest::addColumn<QByteArray>("recipe");
    QTest::addColumn<int>("fate");
    for (const auto *recipe : {"kazoo-lock", "kazoo-rwlock", "kazoo-semaphore"}) {
        for (const auto &[what, fate] : fates)
            QTest::addRow("%s, %s", recipe, what) << QByteArray(recipe) << int(fate);
    }
}

} // namespace

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

    void timeoutLeavesNoNode_data() { exclusiveAsRows(); }
    void timeoutLeavesNoNode()
    {
        QVERIFY(begin(rowsRecipe(), 1, 2));
        QVERIFY(hold(0));
        contender(1).acquire(Deadline::after(m_loop, 200ms));
        QTRY_VERIFY(contender(1).granted);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(nodes(), QByteArrayList{nameOf(0)}); // at once: it was gone before the timeout was reported
        // The same object can try again.
        contender(1).acquire();
        QVERIFY(letGo(0));
        QVERIFY(getsIn(1));
    }

    void triesOnceWithoutWaiting_data() { exclusiveAsRows(); }
    void triesOnceWithoutWaiting()
    {
        QVERIFY(begin(rowsRecipe(), 1, 2));
        contender(0).acquire(Deadline::at(m_loop.now()));
        QVERIFY(getsIn(0));
        contender(1).acquire(Deadline::at(m_loop.now()));
        QTRY_VERIFY(contender(1).granted);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(nodes(), QByteArrayList{nameOf(0)});
    }

    void notReentrant_data() { exclusiveAsRows(); }
    void notReentrant()
    {
        QVERIFY(begin(rowsRecipe(), 1, 1));
        QVERIFY(hold(0));
        contender(0).acquire();
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::BadInput);
        QCOMPARE(contender(0).lock->holdCount(), 1);
        QVERIFY(letGo(0));
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::NotHeld);
        QCOMPARE(counting(0).count(Request::Remove), 1);
    }

    void cancelLeavesNothing_data() { exclusiveAsRows(); }
    void cancelLeavesNothing()
    {
        QVERIFY(begin(rowsRecipe(), 1, 4));
        QVERIFY(lineUp(4));
        contender(1).lock.reset();
        QTRY_VERIFY(contender(1).granted);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::Cancelled);
        contender(2).cancelWaits();
        QTRY_COMPARE(nodes().size(), 2);
        // A holder that is destroyed lets go.
        contender(0).lock.reset();
        QVERIFY(getsIn(3));
        QTRY_COMPARE(nodes(), QByteArrayList{nameOf(3)});
        contender(2).acquire();
        QVERIFY(letGo(3));
        QVERIFY(getsIn(2));
    }

    void createReplyLost_data() { withFates({{"reply lost", Fate::LoseReply}, {"request lost", Fate::LoseRequest}}); }
    void createReplyLost()
    {
        QFETCH(int, fate);
        QVERIFY(begin(rowsRecipe(), 1, 2));
        for (int i : {0, 1})
            faulty(i).plan(Request::Create, 1, Fate(fate));
        QVERIFY(hold(0));
        QTRY_COMPARE(nodes(), QByteArrayList{nameOf(0)});
        contender(1).acquire();
        QTRY_COMPARE(nodes().size(), 2); // one node each, and no more
        QVERIFY(allQuiet());
        QCOMPARE(counting(1).count(Request::Create), Fate(fate) == Fate::LoseReply ? 1 : 2);
        QCOMPARE(nodes().size(), 2);
        QVERIFY(letGo(0));
        QVERIFY(getsIn(1));
        QCOMPARE(nodes(), QByteArrayList{nameOf(1)});
    }

    void cancelWhileCreateIsOut_data()
    {
        withFates({{"reply still under way", Fate::HoldReply},
                   {"request still under way", Fate::HoldRequest},
                   {"reply lost", Fate::LoseReply}});
    }
    void cancelWhileCreateIsOut()
    {
        QFETCH(int, fate);
        QVERIFY(begin(rowsRecipe(), 1, 1));
        faulty(0).plan(Request::Create, 1, Fate(fate));
        contender(0).acquire();
        QCOMPARE(counting(0).count(Request::Create), 1);
        contender(0).lock.reset();
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::Cancelled);
        if (Fate(fate) == Fate::HoldReply)
            QTRY_COMPARE(nodes().size(), 1);
        faulty(0).letThrough();
        QTRY_COMPARE(counting(0).count(Request::Remove), 1);
        QTRY_COMPARE(nodes().size(), 0);
    }

    void releaseIsFollowedUp_data() { withFates({{"reply lost", Fate::LoseReply}, {"request lost", Fate::LoseRequest}}); }
    void releaseIsFollowedUp()
    {
        QFETCH(int, fate);
        QVERIFY(begin(rowsRecipe(), 1, 2));
        QVERIFY(lineUp(2));
        faulty(0).plan(Request::Remove, 1, Fate(fate));
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::UnknownOutcome);
        QVERIFY(getsIn(1));
        QTRY_COMPARE(nodes(), QByteArrayList{nameOf(1)});
    }

    void takenAwayFromTheHolder_data() { exclusiveAsRows(); }
    void takenAwayFromTheHolder()
    {
        QVERIFY(begin(rowsRecipe(), 1, 2));
        QVERIFY(lineUp(2));
        QVERIFY(remove((*contender(0).granted)->node));
        QVERIFY(getsIn(1));
        contender(0).askWhether();
        QTRY_VERIFY(contender(0).mine);
        QVERIFY(*contender(0).mine && !**contender(0).mine);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::NotHeld);
        QCOMPARE(nodes(), QByteArrayList{nameOf(1)});
    }

    // It joins again, at the end of the queue.
    void takenAwayFromAWaiter_data() { exclusiveAsRows(); }
    void takenAwayFromAWaiter()
    {
        QVERIFY(begin(rowsRecipe(), 1, 4));
        QVERIFY(lineUp(4));
        const auto queue = childrenOf(line());
        const int second = isSemaphore() ? 1 : 2; // a lock's holder stands in the queue, too
        QVERIFY(remove(line().child(NodeName(queue[second]))));
        QVERIFY(letGo(0));
        QVERIFY(getsIn(1));
        QVERIFY(letGo(1));
        QVERIFY(getsIn(3));
        QTRY_COMPARE(counting(2).count(Request::Create), 2);
        QVERIFY(!contender(2).granted);
        QVERIFY(letGo(3));
        QVERIFY(getsIn(2));
        QCOMPARE(nodes(), QByteArrayList{nameOf(2)});
    }

    void predecessorVanishesBeforeItIsWatched_data() { exclusiveAsRows(); }
    void predecessorVanishesBeforeItIsWatched()
    {
        QVERIFY(begin(rowsRecipe(), 1, 4));
        QVERIFY(lineUp(3));
        const int watching = isSemaphore() ? 2 : 1; // the semaphore reads its pool first
        faulty(3).plan(Request::Get, watching, Fate::HoldRequest);
        contender(3).acquire();
        QTRY_COMPARE(counting(3).count(Request::Get), watching);
        const auto own = childrenOf(line()).last();
        contender(2).lock.reset();
        QTRY_VERIFY(!nodes().contains(own) || nodes().size() == 3);
        faulty(3).letThrough();
        // It lists again and watches the one before; its node is the same as before.
        QTRY_COMPARE(counting(3).count(Request::Get), watching + 1);
        QVERIFY(allQuiet());
        QCOMPARE(childrenOf(line()).last(), own);
        QVERIFY(letGo(0));
        QVERIFY(getsIn(1));
        QVERIFY(!contender(3).granted);
        QVERIFY(letGo(1));
        QVERIFY(getsIn(3));
        QCOMPARE(counting(3).count(Request::Create), 1);
    }

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

    void expiredSessionLosesTheLock_data() { exclusiveAsRows(); }
    void expiredSessionLosesTheLock()
    {
        QVERIFY(begin(rowsRecipe()));
        m_cable = std::make_unique<Cable>(m_server->address());
        QVERIFY(add(m_cable->address(), 1s));
        QVERIFY(add(m_server->address()));
        QVERIFY(lineUp(2));
        contender(0).heed();
        m_cable->cut();
        QTRY_VERIFY_WITH_TIMEOUT(contender(1).holds(), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(contender(0).loss, 20'000);
        QCOMPARE(*contender(0).loss, recipes::Loss::CutOff);
        m_cable->mend();
        QVERIFY(waitForState(*m_clients[0]->real, zk::SessionState::Expired));
        QCOMPARE(nodes(), QByteArrayList{nameOf(1)});
    }

    // What the trade of the guard for a lease can come to.
    void tradeReplyLost_data()
    {
        QTest::addColumn<int>("request");
        QTest::addColumn<int>("fate");
        QTest::addColumn<int>("trades");
        const int multi = int(Request::Multi), look = int(Request::Exists);
        QTest::newRow("reply lost") << multi << int(Fate::LoseReply) << 1;
        QTest::newRow("request lost") << multi << int(Fate::LoseRequest) << 2;
        QTest::newRow("the look at it lost") << look << int(Fate::LoseReply) << 1;
    }
    void tradeReplyLost()
    {
        QFETCH(int, request);
        QFETCH(int, fate);
        QFETCH(int, trades);
        QVERIFY(begin("kazoo-semaphore", 2, 3));
        QVERIFY(hold(0));
        faulty(1).plan(Request(request), 1, Fate(fate));
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
        QTest::newRow("reply still under way") << int(Fate::HoldReply);
        QTest::newRow("request still under way") << int(Fate::HoldRequest);
        QTest::newRow("reply lost") << int(Fate::LoseReply);
    }
    void cancelWhileTheTradeIsOut()
    {
        QFETCH(int, fate);
        QVERIFY(begin("kazoo-semaphore", 1, 2));
        faulty(0).plan(Request::Multi, 1, Fate(fate));
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

    void noPermissionIsAnError_data() { exclusiveAsRows(); }
    void noPermissionIsAnError()
    {
        QVERIFY(begin(rowsRecipe(), 1, 1));
        const zk::Acls readOnly{{zk::perms::read | zk::perms::admin, "world", "anyone"}};
        QVERIFY(await(m_admin->setAcls(m_path, readOnly, -1, soon())));
        contender(0).acquire();
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::NoPermission);
        QVERIFY(contender(0).error().contains(QString::fromLatin1(m_path.bytes())));
        QCOMPARE(nodes().size(), 0);
    }
};

LOCKSCOPE_TEST(TestRecipesKazooFaults)
#include "tst_recipes_kazoo_faults.moc"
