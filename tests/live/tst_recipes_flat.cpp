// SPDX-License-Identifier: Apache-2.0
// The flat layout on a real server: several locks in one directory that do not mind each other.
#include "core/rules/contenderid.h"
#include "tests/support/recipefixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::test;

class TestRecipesFlat : public RecipeFixture {
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
    bool waits(int i)
    {
        return QTest::qWaitFor([&] { return counting(i).count(Request::Get) >= 1 && counting(i).isIdle(); }, 20'000)
               && !contender(i).granted;
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
        QVERIFY(waits(5));
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

    void namesAndData()
    {
        QVERIFY(prepareFor({"stock"}));
        contender(0).acquire();
        QTRY_VERIFY(contender(0).holds());
        const auto &grant = **contender(0).granted;
        const NodeName name("stock_lock_0000000000");
        QCOMPARE(grant.node, directory().child(name));
        QCOMPARE(grant.id, recipes::nodeContenderId(name, *grant.fencingToken));
        const auto node = await(m_admin->get(grant.node, std::nullopt, soon()));
        QVERIFY(node);
        QCOMPARE(node->stat.czxid, *grant.fencingToken);
        QCOMPARE(node->stat.ephemeralOwner, m_clients[0]->real->id());
        QVERIFY(node->data.size() > 36);
    }

    void theSeparatorIsRefusedInANameOnly_data()
    {
        QTest::addColumn<QByteArray>("path");
        QTest::addColumn<bool>("fine");
        QTest::newRow("in the middle") << QByteArray("/locks/a_lock_b") << false;
        QTest::newRow("alone") << QByteArray("/locks/_lock_") << false;
        QTest::newRow("at the end") << QByteArray("/locks/a_lock_") << false;
        QTest::newRow("a word like it") << QByteArray("/locks/my_lock") << true;
        QTest::newRow("in the directory") << QByteArray("/a_lock_b/stock") << true;
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

    // The tutorials believe whatever wakes them. The one before us may only have given up.
    void wakingUpIsNotHolding()
    {
        QVERIFY(prepareFor({"stock", "stock", "stock"}));
        contender(0).acquire();
        QTRY_VERIFY(contender(0).holds());
        for (int i = 1; i < 3; ++i) {
            contender(i).acquire();
            QVERIFY(waits(i));
        }
        contender(1).lock.reset();
        QTRY_COMPARE(counting(2).count(Request::Get), 2);
        QVERIFY(waits(2));
        QCOMPARE(counting(2).spoken(), QByteArray("create 1, get 2, children 2"));
        contender(0).release();
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE((*contender(2).granted)->node.name().bytes(), QByteArray("stock_lock_0000000002"));
    }

    // Two contenders of one session: neither the name nor the owner tells whose node it is after a lost
    // reply.
    void lostReplyBesideAnotherOfTheSameSession()
    {
        QVERIFY(prepareFor({"stock"}));
        m_contenders.push_back(contenderWith(*m_clients[0], m_recipe, directory().child(NodeName("stock")), 99));
        contender(0).acquire();
        QTRY_VERIFY(contender(0).holds());
        faulty(0).plan(Request::Create, 1, RequestFault::LoseReply);
        contender(1).acquire();
        QTRY_COMPARE(nodes().size(), 2);
        QTRY_VERIFY(counting(0).isIdle());
        QVERIFY(!contender(1).granted);
        QCOMPARE(counting(0).count(Request::Create), 2);
        contender(0).release();
        QTRY_VERIFY(contender(1).holds());
        QCOMPARE(nodes(), QByteArrayList{(*contender(1).granted)->node.name().bytes()});
        QCOMPARE(nodes(), QByteArrayList{"stock_lock_0000000001"});
    }
};

LOCKSCOPE_TEST(TestRecipesFlat)
#include "tst_recipes_flat.moc"
