// SPDX-License-Identifier: Apache-2.0
// The ZooKeeper recipes when something goes wrong: connections that break, sessions that expire, requests that are
// refused, old servers, a spent counter, whose node it is, and several locks in one directory (the flat layout). The
// rest: tests/contract.
#include "tests/support/recipefixture.h"
#include "tests/support/testmain.h"

namespace {

// A server whose counter for a directory has come to its end: every number is the last one.
class SpentCounter : public testing::FaultySession {
public:
    using FaultySession::FaultySession;
    void send(Request &&request) override
    {
        if (auto *const create = std::get_if<Asked<zk::CreateRequest>>(&request)) {
            const Reply<zk::Created> there(loop());
            there.then([reply = create->reply](const Result<zk::Created> &created) {
                if (created)
                    reply.complete(
                        zk::Created{ZPath(created->path.bytes().chopped(10) + "2147483647"), created->stat});
                else
                    reply.complete(created.error());
            });
            create->reply = there;
        }
        FaultySession::send(std::move(request));
    }
};

} // namespace

class TestRecipesZooKeeperFaults : public RecipeFixture {
    Q_OBJECT

    // One contender for each of these locks, in one directory, each with a session of its own.
    bool prepareFor(const QByteArrayList &locks)
    {
        if (!prepare("zk-flat-mutex", int(locks.size())))
            return false;
        for (int i = 0; i < locks.size(); ++i) {
            const ZPath lock = directory().child(NodeName(locks[i]));
            m_contenders[size_t(i)] = contenderWith(*m_clients[size_t(i)], m_recipe, lock, quint64(i));
        }
        return true;
    }
    bool waitsInLine(int i)
    {
        return QTest::qWaitFor([&] { return counting(i).count(RequestKind::Get) >= 1 && counting(i).isIdle(); },
                               20'000)
               && !contender(i).granted;
    }

private slots:
    // The next holder's node has the same name.
    void aLostReleaseSparesTheNextOnesNode_data()
    {
        const Rows<int> row("fate");
        row("reply lost", int(RequestFault::LoseReply));
        row("request lost", int(RequestFault::LoseRequest));
    }
    void aLostReleaseSparesTheNextOnesNode()
    {
        QFETCH(int, fate);
        QVERIFY(prepare("zk-ephemeral", 2));
        QVERIFY(queueUp(2));
        faulty(0).plan(RequestKind::Remove, 1, RequestFault(fate));
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
        faulty(0).plan(RequestKind::Remove, 1, RequestFault::Refuse);
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
        QTRY_COMPARE(counting(1).count(RequestKind::Get), 1); // it watches again
        QTRY_VERIFY(counting(1).isIdle());
        QVERIFY(!contender(1).granted);
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
    }

    void oldServersKnowNoContainers()
    {
        QVERIFY(prepare("zk-mutex", 1, false));
        // The lock's node: no directory. The directory: no directory above. That one: refused as a container.
        faulty(0).plan(RequestKind::Create, 3, RequestFault::Refuse);
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

    void locksOfADirectoryAreIndependent()
    {
        // Names that begin or end like another.
        QVERIFY(prepareFor({"stock", "in-stock", "stock2", "a_lock", "a", "stock"}));
        for (int i = 0; i < 5; ++i) {
            contender(i).acquire();
            QTRY_VERIFY(contender(i).holds());
            QCOMPARE(counting(i).spoken(), QByteArray("create 1, children 1"));
        }
        contender(5).acquire();
        QVERIFY(waitsInLine(5));
        for (int i = 1; i < 5; ++i) {
            contender(i).release();
            QTRY_VERIFY(contender(i).released);
            QVERIFY(*contender(i).released);
        }
        QCOMPARE(counting(5).events(), 0);
        contender(0).release();
        QTRY_VERIFY(contender(5).holds());
        QCOMPARE(counting(5).events(), 1);
        QCOMPARE(counting(5).spoken(), QByteArray("create 1, get 1, children 2"));
        QCOMPARE(nodes(), QByteArrayList{"stock_lock_0000000005"});
    }

    void theSeparatorIsRefusedInANameOnly_data()
    {
        const Rows<QByteArray, bool> row("path", "fine");
        row("in the middle", "/locks/a_lock_b", false);
        row("alone", "/locks/_lock_", false);
        row("at the end", "/locks/a_lock_", false);
        row("a word like it", "/locks/my_lock", true);
        row("in the directory", "/a_lock_b/stock", true);
    }
    void theSeparatorIsRefusedInANameOnly()
    {
        QFETCH(QByteArray, path);
        QFETCH(bool, fine);
        QVERIFY(prepareFor({"any"}));
        auto made = recipes::makeLock("zk-flat-mutex", counting(0), ZPath(path), {}, Random(1));
        QCOMPARE(bool(made), fine);
        if (!fine) {
            QCOMPARE(made.error().code, ErrorCode::BadInput);
            QVERIFY2(made.error().message.contains(QStringLiteral("_lock_")), qPrintable(made.error().message));
        }
        QCOMPARE(counting(0).requests(), 0);
        QVERIFY(recipes::makeLock("zk-mutex", counting(0), ZPath(path), {}, Random(1)));
    }
};

LOCKSCOPE_TEST(TestRecipesZooKeeperFaults)
#include "tst_recipes_zookeeper_faults.moc"
