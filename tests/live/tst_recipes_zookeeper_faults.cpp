// SPDX-License-Identifier: Apache-2.0
// The ZooKeeper recipes when something goes wrong: requests that are held back or refused, old servers, a
// spent counter, and whose node it is. The rest: tests/contract.
#include "tests/support/recipefixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

// A server whose counter for a directory has come to its end: every number is the last one.
class SpentCounter : public testing::FaultySession {
public:
    using FaultySession::FaultySession;
    Reply<zk::Created> create(ZPath path, QByteArray data, zk::CreateMode mode, zk::Acls acls,
                              Deadline deadline) override
    {
        Reply<zk::Created> reply(loop());
        FaultySession::create(path, data, mode, acls, deadline).then([reply](const Result<zk::Created> &created) {
            if (created)
                reply.complete(zk::Created{ZPath(created->path.bytes().chopped(10) + "2147483647"), created->stat});
            else
                reply.complete(created.error());
        });
        return reply;
    }
};

} // namespace

class TestRecipesZooKeeperFaults : public RecipeFixture {
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

    void cancelWhileCreateIsOut_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<int>("fate");
        for (const auto &recipe : allRecipes) {
            QTest::addRow("%s, reply still under way", recipe.constData()) << recipe << int(RequestFault::HoldReply);
            QTest::addRow("%s, request still under way", recipe.constData())
                << recipe << int(RequestFault::HoldRequest);
            QTest::addRow("%s, reply lost", recipe.constData()) << recipe << int(RequestFault::LoseReply);
        }
    }
    void cancelWhileCreateIsOut()
    {
        QFETCH(int, fate);
        QVERIFY(prepare(rowsRecipe(), 1));
        faulty(0).plan(Request::Create, 1, RequestFault(fate));
        contender(0).acquire();
        QCOMPARE(counting(0).count(Request::Create), 1);
        contender(0).lock.reset();
        // What is sent from now on comes after the create, so when the clean-up is idle all is done.
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::Cancelled);
        if (fate == int(RequestFault::HoldReply))
            QTRY_COMPARE(nodes().size(), 1);
        faulty(0).letThrough();
        QTRY_COMPARE(counting(0).count(Request::Remove), 1);
        QTRY_COMPARE(nodes().size(), 0);
    }

    void createReplyLost_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<int>("fate");
        QTest::addColumn<int>("creates");
        for (const auto &recipe : allRecipes) {
            QTest::addRow("%s, reply lost", recipe.constData()) << recipe << int(RequestFault::LoseReply) << 1;
            QTest::addRow("%s, request lost", recipe.constData()) << recipe << int(RequestFault::LoseRequest) << 2;
        }
    }
    void createReplyLost()
    {
        QFETCH(int, fate);
        QFETCH(int, creates);
        QVERIFY(prepare(rowsRecipe(), 1));
        faulty(0).plan(Request::Create, 1, RequestFault(fate));
        QVERIFY(queueUp(1));
        QCOMPARE(counting(0).count(Request::Create), creates);
        QCOMPARE(nodes(), QByteArrayList{(*contender(0).granted)->node.name().bytes()});
        const auto stat =
            await(m_admin->exists(nodeOf((*contender(0).granted)->node.name().bytes()), std::nullopt, soon()));
        QVERIFY(stat);
        QCOMPARE(stat->czxid, *(*contender(0).granted)->fencingToken);
    }

    void releaseIsFollowedUp_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<int>("fate");
        for (const QByteArray recipe : {"zk-ephemeral", "zk-mutex"}) {
            QTest::addRow("%s, reply lost", recipe.constData()) << recipe << int(RequestFault::LoseReply);
            QTest::addRow("%s, request lost", recipe.constData()) << recipe << int(RequestFault::LoseRequest);
        }
    }
    void releaseIsFollowedUp()
    {
        QFETCH(int, fate);
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(2));
        faulty(0).plan(Request::Remove, 1, RequestFault(fate));
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::UnknownOutcome);
        QTRY_VERIFY(contender(1).holds());
        // The next holder's node stands, though the simple lock's has the same name.
        QTRY_VERIFY(counting(0).isIdle());
        QCOMPARE(nodes(), QByteArrayList{(*contender(1).granted)->node.name().bytes()});
        contender(1).askWhether();
        QTRY_VERIFY(contender(1).mine);
        QVERIFY(**contender(1).mine);
    }

    void refusedReleaseKeepsIt_data() { recipesAsRows(); }
    void refusedReleaseKeepsIt()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        QVERIFY(queueUp(1));
        faulty(0).plan(Request::Remove, 1, RequestFault::Refuse);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::Unsupported);
        contender(0).askWhether();
        QTRY_VERIFY(contender(0).mine);
        QVERIFY(**contender(0).mine);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QVERIFY(*contender(0).released);
        QCOMPARE(nodes().size(), 0);
    }

    // A waiter whose node was taken away joins again, at the end of the queue.
    void takenAwayFromAWaiter_data() { queuesAsRows(); }
    void takenAwayFromAWaiter()
    {
        QVERIFY(prepare(rowsRecipe(), 3));
        QVERIFY(queueUp(3));
        auto queue = nodes();
        std::sort(queue.begin(), queue.end(), [](const auto &a, const auto &b) { return a.last(10) < b.last(10); });
        QVERIFY(takeAway(queue[1]));
        contender(0).release();
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE((*contender(2).granted)->node.name().bytes(), queue[2]);
        QTRY_COMPARE(counting(1).count(Request::Create), 2);
        contender(2).release();
        QTRY_VERIFY(contender(1).holds());
        QCOMPARE(nodes(), QByteArrayList{(*contender(1).granted)->node.name().bytes()});
    }

    void predecessorsDataChanges()
    {
        QVERIFY(prepare("zk-mutex", 2));
        QVERIFY(queueUp(2));
        QVERIFY(await(m_admin->set(nodeOf((*contender(0).granted)->node.name().bytes()), "__REVOKE__", zk::anyVersion,
                                   soon())));
        QTRY_COMPARE(counting(1).count(Request::Get), 2); // it watches again
        QTRY_VERIFY(counting(1).isIdle());
        QVERIFY(!contender(1).granted);
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
    }

    void oldServersKnowNoContainers()
    {
        QVERIFY(prepare("zk-mutex", 1, false));
        // The lock's node: no directory. The directory: no directory above. That one: refused as a container.
        faulty(0).plan(Request::Create, 3, RequestFault::Refuse);
        QVERIFY(queueUp(1));
        QCOMPARE(nodes().size(), 1);
    }

    void listingForbiddenLeavesNoNode()
    {
        QVERIFY(prepare("zk-mutex", 1, false));
        QVERIFY(make(m_path.parent()));
        const zk::Acls blind{{zk::perms::create | zk::perms::remove | zk::perms::admin, "world", "anyone"}};
        QVERIFY(await(m_admin->create(m_path, {}, zk::CreateMode::Persistent, blind, soon())));
        contender(0).acquire();
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::NoPermission);
        QVERIFY(await(m_admin->setAcls(m_path, zk::openAcl(), -1, soon())));
        QCOMPARE(nodes().size(), 0);
    }

    // Numbers that no longer grow do not say who came first: better no lock than two holders.
    void aSpentCounterIsRefused_data() { queuesAsRows(); }
    void aSpentCounterIsRefused()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        SpentCounter spent(*m_clients[0]->real);
        auto made = recipes::makeLock(m_recipe, spent, m_path, {}, Random(7));
        QVERIFY(made);
        contender(0).lock = std::move(*made);
        contender(0).acquire();
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::Server);
        QVERIFY2(contender(0).error().contains(QStringLiteral("counter")), qPrintable(contender(0).error()));
        contender(0).lock.reset();
    }
};

LOCKSCOPE_TEST(TestRecipesZooKeeperFaults)
#include "tst_recipes_zookeeper_faults.moc"
