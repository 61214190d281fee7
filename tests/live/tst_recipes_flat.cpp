// SPDX-License-Identifier: Apache-2.0
// The flat layout on a real server: several locks in one directory that do not mind each other.
#include "tests/support/recipefixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;

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
};

LOCKSCOPE_TEST(TestRecipesFlat)
#include "tst_recipes_flat.moc"
