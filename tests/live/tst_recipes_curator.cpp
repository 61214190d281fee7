// SPDX-License-Identifier: Apache-2.0
// Curator's recipes on a real server: names, exact requests and watch events, order, reentry.
#include "tests/support/curatorfixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::test;

class TestRecipesCurator : public CuratorFixture {
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

    void namesAndData_data()
    {
        QTest::addColumn<QByteArray>("kind");
        QTest::addColumn<QString>("base");
        QTest::newRow("mutex") << QByteArray("mutex") << QStringLiteral("lock-");
        QTest::newRow("read") << QByteArray("read") << QStringLiteral("__READ__");
        QTest::newRow("write") << QByteArray("write") << QStringLiteral("__WRIT__");
        QTest::newRow("semaphore-mutex") << QByteArray("semaphore-mutex") << QStringLiteral("lease-");
        QTest::newRow("semaphore") << QByteArray("2") << QStringLiteral("lease-");
    }
    void namesAndData()
    {
        QFETCH(QString, base);
        QVERIFY(prepare({rowsKind()}));
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        const auto grant = **contender(0).granted;
        const QRegularExpression form(
            QStringLiteral("^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-%1[0-9]{10}$").arg(base));
        QVERIFY2(form.match(QString::fromLatin1(grant.id)).hasMatch(), grant.id);
        const auto directory = isSemaphore(rowsKind()) ? leases() : m_path;
        QCOMPARE(grant.node, directory.child(NodeName(grant.id)));
        const auto node = await(m_admin->get(grant.node, std::nullopt, soon()));
        QVERIFY(node);
        QVERIFY2(node->data.isEmpty() || !QHostAddress(QString::fromLatin1(node->data)).isNull(), node->data);
        QCOMPARE(node->stat.ephemeralOwner, m_clients[0]->real->id());
        QCOMPARE(node->stat.czxid, *grant.fencingToken);
        if (isSemaphore(rowsKind()))
            QTRY_COMPARE(namesIn(locks()), QByteArrayList()); // left as soon as the permit is had
    }

    void freeAcquireAndRelease_data() { kindsAsRows({"mutex", "read", "write", "semaphore-mutex", "3"}); }
    void freeAcquireAndRelease()
    {
        QVERIFY(prepare({rowsKind()}));
        const auto *recipe = recipes::findRecipe(curatorRecipe(rowsKind()));
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        const QByteArray spoken = isSemaphore(rowsKind()) ? "create 2, remove 1, children 2" : "create 1, children 1";
        QCOMPARE(counting(0).spoken(), spoken);
        QCOMPARE(counting(0).requests(), recipe->requestsAcquireFree.toInt());
        QTRY_VERIFY(counting(0).isIdle());
        // One to stand in line, one for the lease; nobody waits for the leave from "locks".
        QCOMPARE(counting(0).roundTrips(), isSemaphore(rowsKind()) ? 3 : 1);
        QCOMPARE(counting(0).events(), 0);

        counting(0).reset();
        QVERIFY(givesBack(0));
        QCOMPARE(counting(0).spoken(), QByteArray("remove 1"));
        QCOMPARE(counting(0).requests(), recipe->requestsRelease.toInt());
        QCOMPARE(namesIn(isSemaphore(rowsKind()) ? leases() : m_path), QByteArrayList());
    }

    // The last of four, in an exclusive lock.
    void queuedAcquire_data()
    {
        QTest::addColumn<QByteArray>("kind");
        QTest::addColumn<int>("second"); // what the second sends until it waits
        QTest::addColumn<QByteArray>("spoken");
        QTest::newRow("mutex") << QByteArray("mutex") << 3 << QByteArray("create 1, get 1, children 2");
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
        else if (isSemaphore(kind))
            QCOMPARE(formula, QStringLiteral("%1, second in line %2").arg(ofLast).arg(ofSecond));
        else
            QCOMPARE(formula, QString::number(ofLast));
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

    void wakeUps_data() { kindsAsRows({"mutex", "write", "read", "semaphore-mutex", "1"}); }
    void wakeUps()
    {
        const auto kind = rowsKind();
        constexpr int n = 5;
        QVERIFY(prepare({kind == "read" ? "write" : kind, kind, kind, kind, kind}));
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        for (int i = 1; i < n; ++i) {
            contender(i).acquire();
            QVERIFY(waits(i, isSemaphore(kind) && i == 1 ? 4 : 3));
        }
        for (int i = 0; i < n; ++i)
            counting(i).reset();
        QVERIFY(givesBack(0));
        QVERIFY(gets(1));
        const auto eventsOf = [this](int from) {
            int sum = 0;
            for (int i = from; i < n; ++i)
                sum += counting(i).events();
            return sum;
        };
        if (kind == "read") { // the herd: all waiters, and all of them enter
            for (int i = 2; i < n; ++i)
                QVERIFY(gets(i));
            QCOMPARE(recipes::findRecipe("curator-rwlock")->wakeupsPerRelease, QStringLiteral("write 1, read N-1"));
            QCOMPARE(eventsOf(1), n - 1);
        } else if (isSemaphore(kind)) {
            // The one that gets in, and the one behind it; which makes its lease, what the first one, no
            // waiter any more, still hears of.
            QTRY_COMPARE(counting(2).requests(), 3);
            QTRY_COMPARE(counting(1).events(), 2);
            QTRY_VERIFY(counting(2).isIdle());
            QCOMPARE(eventsOf(2) + 1, recipes::findRecipe(curatorRecipe(kind))->wakeupsPerRelease.toInt());
            QCOMPARE(counting(2).spoken(), QByteArray("create 1, children 2"));
        } else {
            QCOMPARE(eventsOf(1), 1);
        }
        QCOMPARE(counting(0).events(), 0);
        if (kind != "read")
            QCOMPARE(counting(n - 1).events() + counting(n - 1).requests(), 0);
    }

    void readersShareAndWritersDoNot()
    {
        QVERIFY(prepare({"read", "read", "write", "read", "read"}));
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        contender(1).acquire();
        QVERIFY(gets(1));
        for (int i = 2; i < 5; ++i) { // the readers behind the writer do not overtake it
            contender(i).acquire();
            QVERIFY(waits(i, 3));
        }
        // A writer waits for the node just before it only.
        QVERIFY(givesBack(0));
        QCOMPARE(counting(2).events(), 0);
        QVERIFY(givesBack(1));
        QVERIFY(gets(2));
        QVERIFY(!contender(3).granted && !contender(4).granted);
        QVERIFY(givesBack(2));
        QVERIFY(gets(3));
        QVERIFY(gets(4));
    }

    void reentry_data() { kindsAsRows({"mutex", "read", "write"}); }
    void reentry()
    {
        const auto kind = rowsKind();
        QVERIFY(prepare({kind, kind == "read" ? "write" : kind}));
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        const auto first = **contender(0).granted;
        const int requests = counting(0).requests();
        contender(0).acquire();
        QVERIFY(getsInPeace(0));
        QCOMPARE((*contender(0).granted)->id, first.id);
        QCOMPARE((*contender(0).granted)->fencingToken, first.fencingToken);
        QCOMPARE(contender(0).lock->holdCount(), 2);
        QCOMPARE(counting(0).requests(), requests); // the server hears nothing of it
        contender(1).acquire();
        QVERIFY(waits(1, 3));
        QVERIFY(givesBack(0));
        QCOMPARE(contender(0).lock->holdCount(), 1);
        QCOMPARE(counting(0).requests(), requests);
        QVERIFY(!contender(1).granted);
        QVERIFY(givesBack(0));
        QCOMPARE(contender(0).lock->holdCount(), 0);
        QVERIFY(gets(1));
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
