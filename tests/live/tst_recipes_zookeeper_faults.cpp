// SPDX-License-Identifier: Apache-2.0
// The ZooKeeper recipes when something goes wrong: requests that are refused, old servers, a spent counter, and whose
// node it is. The rest: tests/contract.
#include "tests/support/recipefixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;

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
    // The next holder's node has the same name.
    void aLostReleaseSparesTheNextOnesNode_data()
    {
        QTest::addColumn<int>("fate");
        QTest::newRow("reply lost") << int(RequestFault::LoseReply);
        QTest::newRow("request lost") << int(RequestFault::LoseRequest);
    }
    void aLostReleaseSparesTheNextOnesNode()
    {
        QFETCH(int, fate);
        QVERIFY(prepare("zk-ephemeral", 2));
        QVERIFY(queueUp(2));
        faulty(0).plan(Request::Remove, 1, RequestFault(fate));
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
        QTRY_VERIFY(counting(0).isIdle());
        QVERIFY(contender(1).saysItIsMine());
    }

    void refusedReleaseKeepsIt_data() { asRows(allRecipes); }
    void refusedReleaseKeepsIt()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        QVERIFY(queueUp(1));
        faulty(0).plan(Request::Remove, 1, RequestFault::Refuse);
        QCOMPARE(contender(0).codeOfRelease(), int(ErrorCode::Unsupported));
        QVERIFY(contender(0).saysItIsMine());
        QVERIFY(contender(0).givesBack());
        QCOMPARE(nodes().size(), 0);
    }

    void predecessorsDataChanges_data() { asRows({"zk-mutex", "zk-eager-mutex"}); }
    void predecessorsDataChanges()
    {
        QVERIFY(prepare(rowsRecipe(), 2));
        QVERIFY(queueUp(2));
        counting(1).reset();
        QVERIFY(await(m_admin->set(contender(0).grant().node, "__REVOKE__", zk::anyVersion, soon())));
        QTRY_COMPARE(counting(1).count(Request::Get), 1); // it watches again
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
        QCOMPARE(contender(0).codeOfAcquire(), int(ErrorCode::NoPermission));
        QVERIFY(await(m_admin->setAcls(m_path, zk::openAcl(), -1, soon())));
        QCOMPARE(nodes().size(), 0);
    }

    // Numbers that no longer grow do not say who came first: better no lock than two holders.
    void aSpentCounterIsRefused_data() { asRows(queueRecipes); }
    void aSpentCounterIsRefused()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        SpentCounter spent(*m_clients[0]->real);
        auto made = recipes::makeLock(m_recipe, spent, m_path, {}, Random(7));
        QVERIFY(made);
        contender(0).lock = std::move(*made);
        QCOMPARE(contender(0).codeOfAcquire(), int(ErrorCode::Server));
        QVERIFY2(contender(0).error().contains(QStringLiteral("counter")), qPrintable(contender(0).error()));
        contender(0).lock.reset();
    }
};

LOCKSCOPE_TEST(TestRecipesZooKeeperFaults)
#include "tst_recipes_zookeeper_faults.moc"
