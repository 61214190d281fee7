// SPDX-License-Identifier: Apache-2.0
// Curator's recipes on a real server: the requests and watch events that the catalogue says in words, and what only
// they can do.
#include "tests/support/curatorfixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;

class TestRecipesCurator : public CuratorFixture {
    Q_OBJECT

private slots:
    // The last of four, in an exclusive lock.
    void queuedAcquire_data()
    {
        QTest::addColumn<QByteArray>("kind");
        QTest::addColumn<int>("second"); // what the second sends until it waits
        QTest::addColumn<QByteArray>("spoken");
        QTest::newRow("write") << QByteArray("write") << 3 << QByteArray("create 1, get 1, children 2");
        const QByteArray semaphore = "create 2, remove 1, get 1, children 4";
        QTest::newRow("semaphore-mutex") << QByteArray("semaphore-mutex") << 4 << semaphore;
        QTest::newRow("semaphore") << QByteArray("1") << 4 << semaphore;
    }
    void queuedAcquire()
    {
        QFETCH(int, second);
        QFETCH(QByteArray, spoken);
        const auto kind = rowsKind();
        QVERIFY(prepare({kind, kind, kind, kind}));
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        for (int i = 1; i < 4; ++i) {
            contender(i).acquire();
            QVERIFY(waits(i, i == 1 ? second : 3));
        }
        int ofSecond = 0;
        for (int i = 0; i < 3; ++i) { // first come, first served
            QVERIFY(givesBack(i));
            QVERIFY(gets(i + 1));
            if (i == 0)
                ofSecond = counting(1).requests();
            if (i == 1 && isSemaphore(kind))
                QVERIFY(waits(3, 6)); // has moved up and asked for its lease
        }
        QTRY_VERIFY(counting(3).isIdle());
        QCOMPARE(counting(3).spoken(), spoken);
        const auto formula = recipes::findRecipe(curatorRecipe(kind))->requestsAcquireQueued;
        const int ofLast = counting(3).requests();
        if (kind == "write")
            QCOMPARE(formula, QStringLiteral("write %1, read 2N").arg(ofLast));
        else
            QCOMPARE(formula, QStringLiteral("%1, second in line %2").arg(ofLast).arg(ofSecond));
    }

    // A reader behind N - 1 writers: each of them in turn is the lowest.
    void queuedReader()
    {
        QVERIFY(prepare({"write", "write", "write", "read"}));
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        for (int i = 1; i < 4; ++i) {
            contender(i).acquire();
            QVERIFY(waits(i, 3));
        }
        for (int i = 0; i < 3; ++i) {
            QVERIFY(givesBack(i));
            QVERIFY(gets(i + 1));
            if (i < 2)
                QVERIFY(waits(3, 3 + 2 * (i + 1)));
        }
        QCOMPARE(counting(3).spoken(), QByteArray("create 1, get 3, children 4"));
        QCOMPARE(counting(3).requests(), 2 * 4);
        QCOMPARE(counting(3).events(), 3);
    }

    void wakeUps_data() { kindsAsRows({"write", "read"}); }
    void wakeUps()
    {
        const auto kind = rowsKind();
        constexpr int n = 5;
        QVERIFY(prepare({"write", kind, kind, kind, kind}));
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        for (int i = 1; i < n; ++i) {
            contender(i).acquire();
            QVERIFY(waits(i, 3));
        }
        for (int i = 0; i < n; ++i)
            counting(i).reset();
        QVERIFY(givesBack(0));
        const int entering = kind == "read" ? n - 1 : 1; // the herd: all waiters, and all of them enter
        for (int i = 1; i <= entering; ++i)
            QVERIFY(gets(i));
        QCOMPARE(recipes::findRecipe("curator-rwlock")->wakeupsPerRelease, QStringLiteral("write 1, read N-1"));
        QCOMPARE(events(), entering);
    }

    // It watches the node just before its own, and no other reader.
    void aWriterBehindReadersIsWokenOnce()
    {
        QVERIFY(prepare({"read", "read", "write"}));
        for (int i = 0; i < 2; ++i) {
            contender(i).acquire();
            QVERIFY(getsInPeace(i));
        }
        contender(2).acquire();
        QVERIFY(waits(2, 3));
        QVERIFY(givesBack(0));
        QCOMPARE(counting(2).events(), 0);
        QVERIFY(givesBack(1));
        QVERIFY(gets(2));
    }

    void theServerDoesNotHearOfReentry_data() { kindsAsRows({"mutex", "read", "write"}); }
    void theServerDoesNotHearOfReentry()
    {
        QVERIFY(prepare({rowsKind()}));
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        const int requests = counting(0).requests();
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        QVERIFY(givesBack(0));
        QCOMPARE(contender(0).lock->holdCount(), 1);
        QCOMPARE(counting(0).requests(), requests);
    }

    // Somebody removes the head's node in "locks": now two wait for their lease. Both get in, in turn.
    void twoHeadsDoNotWaitForEachOther()
    {
        QVERIFY(prepare({"1", "1", "1"}));
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        contender(1).acquire();
        QVERIFY(waits(1, 4));
        contender(2).acquire();
        QVERIFY(waits(2, 3));
        QVERIFY(removeNode(locks().child(NodeName(namesIn(locks()).first()))));
        QVERIFY(waits(2, 6)); // it thinks it is the head, and made its lease
        QCOMPARE(namesIn(leases()).size(), 3);
        QVERIFY(givesBack(0));
        QVERIFY(gets(1));
        QVERIFY(!contender(2).granted);
        QVERIFY(givesBack(1));
        QVERIFY(gets(2));
        QTRY_COMPARE(namesIn(locks()).size() + namesIn(leases()).size(), 1);
    }

    // Somebody waits, and the limit is raised: it gets in without anybody letting go.
    void raisingTheLimit()
    {
        QVERIFY(prepare({"1"}));
        auto made = std::make_unique<recipes::CuratorSemaphore>(*addClient().counting, m_path, 1, Random(77));
        auto *semaphore = made.get();
        m_contenders.push_back(std::make_unique<Contender>(m_loop, std::move(made)));
        QVERIFY(waitForState(*m_clients[1]->real, zk::SessionState::Connected));
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        contender(1).acquire();
        QVERIFY(waits(1, 4));
        semaphore->setLimit(2);
        QVERIFY(gets(1));
        QCOMPARE(namesIn(leases()).size(), 2);
        QVERIFY(givesBack(1));
        semaphore->setLimit(1);
        contender(1).acquire();
        QTRY_COMPARE(namesIn(leases()).size(), 2);
        QVERIFY(!contender(1).granted);
        QVERIFY(givesBack(0));
        QVERIFY(gets(1));
    }
};

LOCKSCOPE_TEST(TestRecipesCurator)
#include "tst_recipes_curator.moc"
