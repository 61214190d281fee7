// SPDX-License-Identifier: Apache-2.0
// The ZooKeeper recipes when something goes wrong: timeouts, cancels, lost replies, nodes that somebody
// takes away, missing permissions. Every row runs for every recipe it concerns.
#include "tests/live/recipefixture.h"
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

    void timeoutLeavesNoNode_data() { recipesAsRows(); }
    void timeoutLeavesNoNode()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(1));
        const auto held = nodes();
        contender(1).acquire(Deadline::after(m_loop, 200ms));
        QTRY_VERIFY(contender(1).granted);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(nodes(), held); // at once: it was gone before the timeout was reported
        // The same object can try again.
        contender(1).acquire();
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
    }

    void triesOnceWithoutWaiting_data() { recipesAsRows(); }
    void triesOnceWithoutWaiting()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        contender(0).acquire(Deadline::at(m_loop.now()));
        QTRY_VERIFY(contender(0).holds());
        contender(1).acquire(Deadline::at(m_loop.now()));
        QTRY_VERIFY(contender(1).granted);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(counting(1).count(Request::Get), 0);
        QCOMPARE(nodes().size(), 1);
    }

    void destroyingTheLockCancels_data() { recipesAsRows(); }
    void destroyingTheLockCancels()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(2));
        contender(1).lock.reset();
        QTRY_VERIFY(contender(1).granted);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::Cancelled);
        QTRY_COMPARE(nodes(), QByteArrayList{(*contender(0).granted)->node.name().bytes()});
    }

    void destroyingTheAcquireCancels_data() { recipesAsRows(); }
    void destroyingTheAcquireCancels()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(2));
        contender(1).cancelWaits();
        QTRY_COMPARE(nodes(), QByteArrayList{(*contender(0).granted)->node.name().bytes()});
        contender(1).acquire();
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
    }

    void destroyingTheHolderReleases_data() { recipesAsRows(); }
    void destroyingTheHolderReleases()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(2));
        contender(0).lock.reset();
        QTRY_VERIFY(contender(1).holds());
    }

    void cancelWhileCreateIsOut_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<int>("fate");
        for (const auto &recipe : allRecipes) {
            QTest::addRow("%s, reply still under way", recipe.constData()) << recipe << int(Fate::HoldReply);
            QTest::addRow("%s, request still under way", recipe.constData()) << recipe << int(Fate::HoldRequest);
            QTest::addRow("%s, reply lost", recipe.constData()) << recipe << int(Fate::LoseReply);
        }
    }
    void cancelWhileCreateIsOut()
    {
        QFETCH(int, fate);
        QVERIFY(prepare(rowsRecipe(), 1));
        faulty(0).plan(Request::Create, 1, Fate(fate));
        contender(0).acquire();
        QCOMPARE(counting(0).count(Request::Create), 1);
        contender(0).lock.reset();
        // What is sent from now on comes after the create, so when the clean-up is idle all is done.
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::Cancelled);
        if (fate == int(Fate::HoldReply))
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
            QTest::addRow("%s, reply lost", recipe.constData()) << recipe << int(Fate::LoseReply) << 1;
            QTest::addRow("%s, request lost", recipe.constData()) << recipe << int(Fate::LoseRequest) << 2;
        }
    }
    void createReplyLost()
    {
        QFETCH(int, fate);
        QFETCH(int, creates);
        QVERIFY(prepare(rowsRecipe(), 3));
        faulty(0).plan(Request::Create, 1, Fate(fate));
        QVERIFY(queueUp(1));
        QCOMPARE(counting(0).count(Request::Create), creates);
        QCOMPARE(nodes(), QByteArrayList{(*contender(0).granted)->node.name().bytes()});
        const auto stat = await(m_admin->exists(nodeOf((*contender(0).granted)->node.name().bytes()), std::nullopt, soon()));
        QVERIFY(stat);
        QCOMPARE(stat->czxid, *(*contender(0).granted)->fencingToken);
        // Behind another, which must not be taken for ours.
        faulty(1).plan(Request::Create, 1, Fate(fate));
        contender(1).acquire(Deadline::after(m_loop, 400ms));
        QTRY_VERIFY(contender(1).granted);
        QCOMPARE(contender(1).granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(nodes(), QByteArrayList{(*contender(0).granted)->node.name().bytes()});
        faulty(2).plan(Request::Create, 1, Fate(fate));
        contender(2).acquire();
        contender(0).release();
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE(nodes(), QByteArrayList{(*contender(2).granted)->node.name().bytes()});
    }

    void listReplyLost_data() { queuesAsRows(); }
    void listReplyLost()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        for (int i = 0; i < 2; ++i)
            faulty(i).plan(Request::Children, 1, Fate::LoseReply);
        QVERIFY(queueUp(2));
        QCOMPARE(nodes().size(), 2);
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
        QCOMPARE(counting(1).count(Request::Create), 1);
    }

    void releaseIsFollowedUp_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<int>("fate");
        for (const auto &recipe : allRecipes) {
            QTest::addRow("%s, reply lost", recipe.constData()) << recipe << int(Fate::LoseReply);
            QTest::addRow("%s, request lost", recipe.constData()) << recipe << int(Fate::LoseRequest);
        }
    }
    void releaseIsFollowedUp()
    {
        QFETCH(int, fate);
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(2));
        faulty(0).plan(Request::Remove, 1, Fate(fate));
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
        faulty(0).plan(Request::Remove, 1, Fate::Refuse);
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

    void takenAwayFromTheHolder_data() { recipesAsRows(); }
    void takenAwayFromTheHolder()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(2));
        QVERIFY(takeAway((*contender(0).granted)->node.name().bytes()));
        QTRY_VERIFY(contender(1).holds());
        contender(0).askWhether();
        QTRY_VERIFY(contender(0).mine);
        QVERIFY(*contender(0).mine && !**contender(0).mine);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::NotHeld);
        QCOMPARE(nodes(), QByteArrayList{(*contender(1).granted)->node.name().bytes()});
    }

    void releaseTwice_data() { recipesAsRows(); }
    void releaseTwice()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        QVERIFY(queueUp(1));
        contender(0).acquire(); // not reentrant: says so instead of waiting for itself
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::BadInput);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QVERIFY(*contender(0).released);
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QCOMPARE(contender(0).released->error().code, ErrorCode::NotHeld);
        QCOMPARE(counting(0).count(Request::Remove), 1);
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

    void predecessorVanishesBeforeItIsWatched()
    {
        QVERIFY(prepare("zk-mutex", 3));
        QVERIFY(queueUp(2));
        const auto before = nodes();
        faulty(2).plan(Request::Get, 1, Fate::HoldRequest);
        contender(2).acquire();
        QTRY_COMPARE(counting(2).count(Request::Get), 1);
        const auto all = nodes();
        contender(1).lock.reset();
        QTRY_COMPARE(nodes().size(), 2);
        faulty(2).letThrough();
        // It lists again and watches the holder; its node is the same as before.
        QTRY_COMPARE(counting(2).count(Request::Get), 2);
        QVERIFY(!contender(2).granted);
        contender(0).release();
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE(counting(2).count(Request::Create), 1);
        QVERIFY(all.contains((*contender(2).granted)->node.name().bytes()) && !before.contains((*contender(2).granted)->node.name().bytes()));
    }

    void predecessorsDataChanges()
    {
        QVERIFY(prepare("zk-mutex", 2));
        QVERIFY(queueUp(2));
        QVERIFY(await(m_admin->set(nodeOf((*contender(0).granted)->node.name().bytes()), "__REVOKE__", zk::anyVersion, soon())));
        QTRY_COMPARE(counting(1).count(Request::Get), 2); // it watches again
        QTRY_VERIFY(counting(1).isIdle());
        QVERIFY(!contender(1).granted);
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
    }

    void missingDirectoriesAreMade_data() { recipesAsRows(); }
    void missingDirectoriesAreMade()
    {
        QVERIFY(prepare(rowsRecipe(), 2, false));
        // Both at once: neither minds the other.
        contender(0).acquire();
        contender(1).acquire();
        QTRY_VERIFY(contender(0).holds() || contender(1).holds());
        const int first = contender(0).holds() ? 0 : 1;
        contender(first).release();
        QTRY_VERIFY(contender(1 - first).holds());
        QCOMPARE(nodes(), QByteArrayList{(*contender(1 - first).granted)->node.name().bytes()});
    }

    void oldServersKnowNoContainers()
    {
        QVERIFY(prepare("zk-mutex", 1, false));
        // The lock's node: no directory. The directory: no directory above. That one: refused as a container.
        faulty(0).plan(Request::Create, 3, Fate::Refuse);
        QVERIFY(queueUp(1));
        QCOMPARE(nodes().size(), 1);
    }

    void noPermissionIsAnError()
    {
        QVERIFY(prepare("zk-mutex", 1, false));
        QVERIFY(make(m_path.parent()));
        const zk::Acls readOnly{{zk::perms::read, "world", "anyone"}};
        QVERIFY(await(m_admin->create(m_path, {}, zk::CreateMode::Persistent, readOnly, soon())));
        contender(0).acquire();
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::NoPermission);
        QVERIFY(contender(0).error().contains(QString::fromLatin1(m_path.bytes())));
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
