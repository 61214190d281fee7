// SPDX-License-Identifier: Apache-2.0
// The textbook's read/write lock on a real server, with and without the herd: who shares, who waits for
// whom, and what each step costs. (What it has in common with the other queues is tested with them.)
#include "tests/support/recipefixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;

namespace {

recipes::AcquireOptions modeOf(char letter)
{
    recipes::AcquireOptions options;
    options.readMode = letter == 'R';
    return options;
}

} // namespace

class TestRecipesShared : public RecipeFixture {
    Q_OBJECT

    static void bothAsRows()
    {
        QTest::addColumn<QByteArray>("recipe");
        for (const auto *recipe : {"zk-shared-herd", "zk-shared"})
            QTest::newRow(recipe) << QByteArray(recipe);
    }
    [[nodiscard]] bool isHerd() const { return m_recipe == "zk-shared-herd"; }
    bool allIdle()
    {
        return std::ranges::all_of(m_clients, [](const auto &client) { return client->counting->isIdle(); });
    }
    // "RWR": a reader, a writer and a reader, each in its place before the next one comes.
    bool queueAs(const QByteArray &recipe, const QByteArray &modes)
    {
        const int n = int(modes.size());
        if (!prepare(recipe, n))
            return false;
        for (int i = 0; i < n; ++i) {
            m_contenders[size_t(i)] =
                contenderWith(*m_clients[size_t(i)], recipe, m_path, quint64(i), modeOf(modes[i]));
            contender(i).acquire();
            const auto stands = [&] {
                const auto asked = counting(i).count(isHerd() ? Request::Children : Request::Get);
                const bool settled = contender(i).holds() || asked > 0;
                return settled && nodes().size() == i + 1 && allIdle();
            };
            if (!QTest::qWaitFor(stands, 20'000))
                return false;
        }
        return true;
    }
    bool releases(int i)
    {
        contender(i).release();
        return QTest::qWaitFor([&] { return contender(i).released && allIdle(); }, 20'000) && *contender(i).released;
    }

private slots:
    void readersShare_data() { bothAsRows(); }
    void readersShare()
    {
        QVERIFY(queueAs(rowsRecipe(), "RRRW"));
        for (int i = 0; i < 3; ++i) {
            QTRY_VERIFY(contender(i).holds());
            QCOMPARE(counting(i).spoken(), QByteArray("create 1, children 1"));
        }
        QVERIFY(!contender(3).granted);
        for (int i = 0; i < 3; ++i) {
            QVERIFY(!contender(3).granted);
            QVERIFY(releases(i));
            if (isHerd())
                QTRY_COMPARE(counting(3).count(Request::Children), i + 2); // so that no two wake-ups become one
            QTRY_VERIFY(allIdle());
        }
        QTRY_VERIFY(contender(3).holds());
        // One watch on the last reader against one list for each that left.
        QCOMPARE(counting(3).spoken(),
                 isHerd() ? QByteArray("create 1, children 4") : QByteArray("create 1, get 1, children 2"));
        QCOMPARE(counting(3).events(), isHerd() ? 3 : 1);
    }

    void aWriterThatGivesUpLetsReadersIn_data() { bothAsRows(); }
    void aWriterThatGivesUpLetsReadersIn()
    {
        QVERIFY(queueAs(rowsRecipe(), "RWRW"));
        contender(1).lock.reset();
        QTRY_VERIFY(contender(2).holds());
        QVERIFY(contender(0).holds() && !contender(3).granted);
    }

    void theNearestWriterIsWatched()
    {
        QVERIFY(queueAs("zk-shared", "WRWR"));
        QTRY_VERIFY(contender(0).holds());
        QVERIFY(releases(0));
        QTRY_VERIFY(contender(1).holds());
        // The second writer waits for the reader, the second reader for the second writer: neither heard.
        QCOMPARE(counting(2).events() + counting(3).events(), 0);
        QVERIFY(releases(1));
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE(counting(3).events(), 0);
        QVERIFY(releases(2));
        QTRY_VERIFY(contender(3).holds());
        for (int i = 1; i < 4; ++i) {
            QCOMPARE(counting(i).count(Request::Get), 1);
            QCOMPARE(counting(i).count(Request::Children), 2);
        }
    }

    // The most it can cost: the readers leave from the last to the first.
    void aWriterBehindReadersThatLeaveBackwards()
    {
        constexpr int readers = 4;
        QVERIFY(queueAs("zk-shared", QByteArray(readers, 'R') + 'W'));
        for (int i = readers - 1; i >= 0; --i) {
            QVERIFY(!contender(readers).granted);
            const int before = counting(readers).events();
            QVERIFY(releases(i));
            QTRY_COMPARE(counting(readers).events(), before + 1);
            QTRY_VERIFY(i == 0 || counting(readers).count(Request::Get) == readers - i + 1);
            QTRY_VERIFY(counting(readers).isIdle());
        }
        QTRY_VERIFY(contender(readers).holds());
        QCOMPARE(counting(readers).requests(), 2 + 2 * readers);
    }

    void aWriterVanishesBeforeItIsWatched()
    {
        QVERIFY(queueAs("zk-shared", "RW"));
        QVERIFY(add(m_server->address()));
        m_contenders[2] = contenderWith(*m_clients[2], m_recipe, m_path, 12, modeOf('R'));
        faulty(2).plan(Request::Get, 1, RequestFault::HoldRequest);
        contender(2).acquire();
        QTRY_COMPARE(counting(2).count(Request::Get), 1);
        contender(1).lock.reset();
        QTRY_COMPARE(nodes().size(), 2);
        QVERIFY(!contender(2).granted);
        faulty(2).letThrough();
        QTRY_VERIFY(contender(2).holds());
        QCOMPARE(counting(2).spoken(), QByteArray("create 1, get 1, children 2"));
    }
};

LOCKSCOPE_TEST(TestRecipesShared)
#include "tst_recipes_shared.moc"
