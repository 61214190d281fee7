// SPDX-License-Identifier: Apache-2.0
// The ZooKeeper recipes on a real server: exact requests and watch events, order, names.
#include "tests/support/recipefixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

// The catalogue's formulae: "2", "N+1", "N-1", "2N-1".
int valueAt(const QString &formula, int n)
{
    const auto at = formula.indexOf(QLatin1Char('N'));
    if (at < 0)
        return formula.toInt();
    const int factor = at == 0 ? 1 : formula.left(at).toInt();
    return factor * n + formula.mid(at + 1).toInt();
}

// What one release of N queued contenders after the other costs, from the first release to the last.
struct Drain {
    int requests;
    int events; // as delivered; the herd's holders hear of their own release, too
};
Drain drainOf(const QByteArray &recipe, int n)
{
    if (recipe == "zk-ephemeral")
        return {n * n - n + 1 + 2 * n, n * (n - 1) / 2}; // each looks before it deletes: sync, exists
    if (recipe.contains("herd"))
        return {n * (n - 1) / 2 + n, n * (n - 1) / 2 + (n - 1)};
    // Each but the first two lists once ahead of its turn. Of a release hear the next one, the one after
    // it, and the holder itself if it has waited.
    if (recipe == "zk-eager-mutex")
        return {n + (n - 2), (n - 1) + (n - 2) + (n - 1)};
    return {2 * n - 1, n - 1};
}

} // namespace

class TestRecipesZooKeeper : public RecipeFixture {
    Q_OBJECT

    // Joins one after the other; each is queued before the next one comes.
    bool queueUpCounted(int n)
    {
        contender(0).acquire();
        if (!QTest::qWaitFor([this] { return contender(0).holds(); }, 20'000))
            return false;
        for (int i = 1; i < n; ++i) {
            // Its own requests, and in the herd everybody's.
            const int heard = requests() + joinCost(i) + (m_recipe.contains("herd") ? i - 1 : 0);
            contender(i).acquire();
            if (!QTest::qWaitFor([&] { return requests() == heard; }, 20'000) || !allQuiet())
                return false;
        }
        return true;
    }
    int holder()
    {
        for (size_t i = 0; i < m_contenders.size(); ++i) {
            if (m_contenders[i]->holds() && !m_contenders[i]->released)
                return int(i);
        }
        return -1;
    }

    // The holder releases; returns when another holds and all who woke up have settled again, so that
    // no two wake-ups become one. Whoever holds next stays the only one.
    bool releaseOne(int waiting)
    {
        const int now = holder();
        if (now < 0)
            return false;
        const int releasing = recipes::findRecipe(m_recipe)->requestsRelease.toInt();
        const int expected = requests() + releasing + wakeCost(waiting);
        contender(now).release();
        const auto isDone = [&] {
            const bool released = contender(now).released && *contender(now).released;
            return released && requests() == expected && (waiting == 0 || holder() >= 0);
        };
        return QTest::qWaitFor(isDone, 20'000) && allQuiet() && requests() == expected;
    }
    // Requests of all waiters after a release while so many wait.
    int wakeCost(int waiting) const
    {
        if (waiting == 0)
            return 0;
        if (m_recipe == "zk-ephemeral")
            return waiting + (waiting - 1);
        if (m_recipe == "zk-eager-mutex")
            return waiting == 1 ? 0 : 1;
        return m_recipe.contains("herd") ? waiting : 1;
    }

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

    void freeAcquireAndRelease_data() { recipesAsRows(); }
    void freeAcquireAndRelease()
    {
        QVERIFY(prepare(rowsRecipe(), 1));
        const auto *recipe = recipes::findRecipe(m_recipe);
        contender(0).acquire();
        QTRY_VERIFY2(contender(0).granted, "no answer");
        QVERIFY2(contender(0).holds(), qPrintable(contender(0).error()));
        QCOMPARE(counting(0).spoken(), QByteArray(m_recipe == "zk-ephemeral" ? "create 1" : "create 1, children 1"));
        QCOMPARE(counting(0).requests(), recipe->requestsAcquireFree.toInt());
        QCOMPARE(counting(0).roundTrips(), 1);
        QCOMPARE(counting(0).events(), 0);

        counting(0).reset();
        contender(0).release();
        QTRY_VERIFY(contender(0).released);
        QVERIFY(*contender(0).released);
        QCOMPARE(counting(0).spoken(),
                 QByteArray(m_recipe == "zk-ephemeral" ? "remove 1, exists 1, sync 1" : "remove 1"));
        QCOMPARE(counting(0).requests(), recipe->requestsRelease.toInt());
        QCOMPARE(counting(0).roundTrips(), m_recipe == "zk-ephemeral" ? 2 : 1);
    }

    void queuedAcquire_data() { recipesAsRows(); }
    void queuedAcquire()
    {
        constexpr int n = 4;
        QVERIFY(prepare(rowsRecipe(), n));
        const auto *recipe = recipes::findRecipe(m_recipe);
        QVERIFY(queueUpCounted(n));
        const int eventsBefore = events();
        QVERIFY(releaseOne(n - 1));
        QTRY_COMPARE(events() - eventsBefore, valueAt(recipe->wakeupsPerRelease, n));
        for (int waiting = n - 2; waiting > 0; --waiting)
            QVERIFY(releaseOne(waiting));
        const int last = holder();
        QVERIFY(m_recipe == "zk-ephemeral" || last == n - 1); // there is no order in the simple lock
        QCOMPARE(counting(last).requests(), valueAt(recipe->requestsAcquireQueued, n));
        if (m_recipe == "zk-eager-mutex")
            QCOMPARE(counting(last).spoken(), QByteArray("create 1, get 3, children 2"));
        else if (m_recipe != "zk-ephemeral" && !m_recipe.contains("herd"))
            QCOMPARE(counting(last).spoken(), QByteArray("create 1, get 1, children 2"));
    }

    void drain_data() { recipesAsRows(); }
    void drain()
    {
        constexpr int n = 6;
        QVERIFY(prepare(rowsRecipe(), n));
        QVERIFY(queueUpCounted(n));
        const auto whole = drainOf(m_recipe, n);
        for (auto &c : m_clients)
            c->counting->reset();
        for (int waiting = n - 1; waiting >= 0; --waiting) {
            if (m_recipe != "zk-ephemeral")
                QCOMPARE(holder(), n - 1 - waiting); // first come, first served
            QVERIFY(releaseOne(waiting));
        }
        QCOMPARE(requests(), whole.requests);
        QTRY_COMPARE(events(), whole.events);
        const auto soon = Deadline::after(m_loop, 10s);
        const auto left = await(m_clients[0]->real->children(m_path.parent(), std::nullopt, soon));
        QVERIFY(left);
        QCOMPARE(left->names.size(), size_t(directory() == m_path ? 1 : 0));
    }

    void namesAndDataAsCurator()
    {
        QVERIFY(prepare("zk-mutex", 1));
        contender(0).acquire();
        QTRY_VERIFY(contender(0).holds());
        const auto id = (*contender(0).granted)->node.name().bytes();
        static const QRegularExpression form(
            QStringLiteral("^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lock-[0-9]{10}$"));
        QVERIFY2(form.match(QString::fromLatin1(id)).hasMatch(), id);
        const auto soon = Deadline::after(m_loop, 10s);
        const auto node = await(m_clients[0]->real->get(m_path.child(NodeName(id)), std::nullopt, soon));
        QVERIFY(node);
        QVERIFY2(node->data.isEmpty() || !QHostAddress(QString::fromLatin1(node->data)).isNull(), node->data);
        QCOMPARE(node->stat.ephemeralOwner, m_clients[0]->real->id());
        QCOMPARE(node->stat.czxid, *(*contender(0).granted)->fencingToken);
    }

    void goesInLineWithOtherClients()
    {
        // A go-zookeeper and a kazoo contender before us, and children that are no contenders.
        QVERIFY(prepare("zk-mutex", 1));
        auto &other = *m_clients[0]->real;
        const auto soon = Deadline::after(m_loop, 20s);
        const auto make = [&](const char *name, zk::CreateMode mode) {
            return await(other.create(m_path.child(NodeName(name)), {}, mode, zk::openAcl(), soon));
        };
        QVERIFY(make("config", zk::CreateMode::Persistent));
        QVERIFY(make("read-", zk::CreateMode::EphemeralSequential));
        const auto kazoo = make("f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1__lock__", zk::CreateMode::EphemeralSequential);
        const auto go = make("_c_0102030405060708090a0b0c0d0e0f10-lock-", zk::CreateMode::EphemeralSequential);
        QVERIFY(kazoo && go);
        contender(0).acquire();
        QTRY_COMPARE(counting(0).count(testing::Request::Get), 1);
        QVERIFY(await(other.remove(go->path, zk::anyVersion, soon)));
        QTRY_COMPARE(counting(0).count(testing::Request::Get), 2);
        QVERIFY(!contender(0).granted);
        QVERIFY(await(other.remove(kazoo->path, zk::anyVersion, soon)));
        QTRY_VERIFY(contender(0).holds());
    }
};

LOCKSCOPE_TEST(TestRecipesZooKeeper)
#include "tst_recipes_zookeeper.moc"
