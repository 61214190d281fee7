// SPDX-License-Identifier: Apache-2.0
// kazoo's recipes on a real server: exact requests and watch events, order, sharing, names.
#include "core/recipes/token.h"
#include "tests/live/kazoofixture.h"
#include "tests/support/testmain.h"

#include <QRegularExpression>

using namespace lockscope;
using namespace lockscope::test;
using namespace std::chrono_literals;

class TestRecipesKazoo : public KazooFixture {
    Q_OBJECT

    // When the holder of a permit has come in, the next one stands at the head of the guard's queue: it has
    // listed that and watches the pool's children.
    bool hasMovedUp(int i)
    {
        const int lists = counting(i).count(Request::Create) + 2; // the one it joined with, if counted
        const auto isThere = [&] { return !isSemaphore() || counting(i).count(Request::Children) == lists; };
        return QTest::qWaitFor(isThere, 20'000) && allQuiet();
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

    void freeAcquireAndRelease_data() { kindsAsRows(); }
    void freeAcquireAndRelease()
    {
        QFETCH(bool, read);
        QVERIFY(begin(rowsRecipe()));
        recipes::AcquireOptions options;
        options.readMode = read;
        QVERIFY(join(options));
        const auto *recipe = recipes::findRecipe(m_recipe);
        QVERIFY2(hold(0), qPrintable(contender(0).error()));
        QVERIFY(allQuiet());
        const char *spoken =
            isSemaphore() ? "create 1, get 1, exists 1, children 1, multi 1" : "create 1, children 1";
        QCOMPARE(counting(0).spoken(), QByteArray(spoken));
        QCOMPARE(counting(0).requests(), recipe->requestsAcquireFree.toInt());
        QCOMPARE(counting(0).roundTrips(), isSemaphore() ? 2 : 1);
        QCOMPARE(nodes(), QByteArrayList{nameOf(0)}); // the guard is given back

        counting(0).reset();
        QVERIFY(letGo(0));
        QCOMPARE(counting(0).spoken(), QByteArray("remove 1"));
        QCOMPARE(counting(0).requests(), recipe->requestsRelease.toInt());
        QCOMPARE(counting(0).events(), 0);
        QCOMPARE(nodes().size(), 0);
    }

    void queuedAcquire_data() { exclusiveAsRows(); }
    void queuedAcquire()
    {
        constexpr int n = 5;
        QVERIFY(begin(rowsRecipe(), 1, n));
        const auto *recipe = recipes::findRecipe(m_recipe);
        QVERIFY(lineUp(n));
        QCOMPARE(events(), 0);
        QVERIFY(letGo(0));
        QVERIFY(getsIn(1));
        QTRY_COMPARE(events(), recipe->wakeupsPerRelease.toInt());
        for (int i = 1; i < n - 1; ++i) {
            QVERIFY(hasMovedUp(i + 1));
            QVERIFY(letGo(i));
            QVERIFY(getsIn(i + 1)); // first come, first served
        }
        QCOMPARE(counting(n - 1).requests(), recipe->requestsAcquireQueued.toInt());
        const char *spoken =
            isSemaphore() ? "create 1, get 3, exists 1, children 3, multi 1" : "create 1, get 1, children 2";
        QCOMPARE(counting(n - 1).spoken(), QByteArray(spoken));
    }

    void drain_data() { exclusiveAsRows(); }
    void drain()
    {
        constexpr int n = 6;
        QVERIFY(begin(rowsRecipe(), 1, n));
        QVERIFY(lineUp(n));
        for (auto &c : m_clients)
            c->counting->reset();
        for (int i = 0; i < n; ++i) {
            QVERIFY(letGo(i));
            QVERIFY(i == n - 1 || getsIn(i + 1));
            QVERIFY(i >= n - 2 || hasMovedUp(i + 2));
        }
        QVERIFY(allQuiet());
        QCOMPARE(requests(), isSemaphore() ? 6 * n - 7 : 2 * n - 1);
        QTRY_COMPARE(events(), isSemaphore() ? 2 * n - 3 : n - 1);
        QCOMPARE(nodes().size(), 0);
    }

    void readersShare()
    {
        QVERIFY(begin("kazoo-rwlock"));
        recipes::AcquireOptions read;
        read.readMode = true;
        for (const bool reader : {false, true, true, true, false, true})
            QVERIFY(join(reader ? read : recipes::AcquireOptions()));
        QVERIFY(lineUp(6));
        QVERIFY(letGo(0));
        for (int reader : {1, 2, 3})
            QVERIFY(getsIn(reader));
        QVERIFY(allQuiet());
        QCOMPARE(events(), 3); // the readers', nobody else's
        // The writer watches the last reader; it lists again for each that goes before an earlier one.
        QVERIFY(letGo(3));
        QTRY_COMPARE(counting(4).requests(), 5);
        QVERIFY(letGo(1));
        QVERIFY(allQuiet());
        QCOMPARE(counting(4).requests(), 5);
        QVERIFY(!contender(4).granted && !contender(5).granted);
        QVERIFY(letGo(2));
        QVERIFY(getsIn(4));
        QCOMPARE(counting(4).spoken(), QByteArray("create 1, get 2, children 3"));
        // The last reader waited for the writer alone.
        QVERIFY(!contender(5).granted);
        QVERIFY(letGo(4));
        QVERIFY(getsIn(5));
        QCOMPARE(counting(5).spoken(), QByteArray("create 1, get 1, children 2"));
    }

    void namesAndDataAsKazoo_data() { kindsAsRows(); }
    void namesAndDataAsKazoo()
    {
        QFETCH(bool, read);
        QVERIFY(begin(rowsRecipe()));
        recipes::AcquireOptions options;
        options.readMode = read;
        QVERIFY(join(options) && join());
        QVERIFY(hold(0));
        const QString marker = isSemaphore() ? QString()
                               : read        ? QStringLiteral("__rlock__[0-9]{10}")
                                             : QStringLiteral("__lock__[0-9]{10}");
        const QRegularExpression form(QStringLiteral("^[0-9a-f]{32}") + marker + QStringLiteral("$"));
        QVERIFY2(form.match(QString::fromLatin1(nameOf(0))).hasMatch(), nameOf(0).constData());
        const auto held = await(m_admin->get((*contender(0).granted)->node, std::nullopt, soon()));
        QVERIFY(held);
        QCOMPARE((*contender(0).granted)->node, m_path.child(NodeName(nameOf(0))));
        QCOMPARE(held->data, recipes::hostAddress());
        QCOMPARE(held->stat.ephemeralOwner, m_clients[0]->real->id());
        QCOMPARE(held->stat.czxid, *(*contender(0).granted)->fencingToken);
        if (!isSemaphore())
            return;
        QVERIFY(waitInLine(1));
        const auto waiting = childrenOf(guards());
        QCOMPARE(waiting.size(), 1);
        static const QRegularExpression guardForm(QStringLiteral("^[0-9a-f]{32}__lock__[0-9]{10}$"));
        QVERIFY2(guardForm.match(QString::fromLatin1(waiting[0])).hasMatch(), waiting[0].constData());
        const auto guard = await(m_admin->get(guards().child(NodeName(waiting[0])), std::nullopt, soon()));
        QVERIFY(guard);
        const auto host = recipes::hostAddress();
        QCOMPARE(guard->data, host.isEmpty() ? host : "b'" + host + '\'');
    }

    void goesInLineWithOtherClients_data() { exclusiveAsRows(); }
    void goesInLineWithOtherClients()
    {
        QVERIFY(begin(rowsRecipe(), 1, 1));
        const auto stand = [&](const char *name) {
            return await(m_admin->create(line().child(NodeName(name)), {}, zk::CreateMode::EphemeralSequential,
                                         zk::openAcl(), soon()));
        };
        QVERIFY(make(line().child(NodeName("config"))));
        const auto kazoo = stand("f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1__lock__");
        const auto reader = stand("f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2__rlock__");
        const auto curator = stand("_c_0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11-lock-");
        QVERIFY(kazoo && reader && curator);
        // From the last to the first of whom it waits for, each it must not wait for being left alone.
        std::vector<ZPath> waitsFor{curator->path, kazoo->path};
        if (m_recipe == "kazoo-rwlock")
            waitsFor = {reader->path, kazoo->path};
        QVERIFY(waitInLine(0));
        for (size_t i = 0; i < waitsFor.size(); ++i) {
            QVERIFY(!contender(0).granted);
            QVERIFY(remove(waitsFor[i]));
            if (i + 1 < waitsFor.size())
                QTRY_COMPARE(counting(0).count(Request::Get), int(i) + 2 + (isSemaphore() ? 1 : 0));
        }
        QVERIFY(getsIn(0));
    }

    void limitsMustAgreeWhileTheGuardIsTaken()
    {
        // The answer does not wait for anybody's permit.
        QVERIFY(begin("kazoo-semaphore", 2, 3));
        QVERIFY(hold(0) && hold(1) && waitInLine(2));
        QVERIFY(join());
        contender(3).acquire();
        QTRY_VERIFY(contender(3).granted);
        QCOMPARE(contender(3).granted->error().code, ErrorCode::BadInput);
        QVERIFY2(contender(3).error().contains(QStringLiteral("2 permits")), qPrintable(contender(3).error()));
        QCOMPARE(childrenOf(guards()).size(), 1);
    }
    void otherDataIsNoLimit()
    {
        QVERIFY(begin("kazoo-semaphore", 1, 1));
        QVERIFY(await(m_admin->set(m_path, "a name, not a number", zk::anyVersion, soon())));
        QVERIFY(hold(0));
        const auto pool = await(m_admin->get(m_path, std::nullopt, soon()));
        QVERIFY(pool);
        QCOMPARE(pool->data, QByteArray("a name, not a number"));
    }
    void aMissingPoolIsMade()
    {
        m_recipe = "kazoo-semaphore";
        m_path = ZPath("/kazoo-" + QByteArray::number(++m_runs) + "/deep/down/pool");
        recipes::AcquireOptions two;
        two.limit = 2;
        for (int i = 0; i < 3; ++i) {
            QVERIFY(join(two));
            contender(i).acquire();
        }
        const auto holders = [&] { return contender(0).holds() + contender(1).holds() + contender(2).holds(); };
        QTRY_COMPARE(holders(), 2);
        QVERIFY(allQuiet());
        QCOMPARE(holders(), 2);
        const auto pool = await(m_admin->get(m_path, std::nullopt, soon()));
        QVERIFY(pool);
        QCOMPARE(pool->data, QByteArray("2"));
        QVERIFY(pool->stat.ephemeralOwner.isNone());
    }
};

LOCKSCOPE_TEST(TestRecipesKazoo)
#include "tst_recipes_kazoo.moc"
