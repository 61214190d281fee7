// SPDX-License-Identifier: Apache-2.0
// Curator's recipes on a real server: the requests and watch events that the catalogue says in words, and what only
// they can do: both sides of a read/write lock in one hand (downgrade, upgrade), and asking a holder to let go.
#include "core/recipes/curator/locks.h"
#include "tests/support/curatorfixture.h"
#include "tests/support/finish.h"
#include "tests/support/revocation.h"
#include "tests/support/testmain.h"

class TestRecipesCurator : public CuratorFixture {
    Q_OBJECT

    // The owner's two sides share the first client. Others follow as contender(2), …
    bool prepareOwner(const QByteArrayList &others)
    {
        m_path = ZPath("/curator-owner-" + QByteArray::number(++m_runs));
        auto &client = addClient();
        auto both =
            std::make_shared<recipes::CuratorReadWriteLock>(*client.counting, m_path, Random(quint64(m_runs)));
        addSides(both);
        bool ready = make(m_path) && waitForState(*client.real, zk::SessionState::Connected);
        for (const auto &kind : others)
            ready = ready && join(kind);
        return ready;
    }
    Contender &writer() { return contender(0); }
    Contender &reader() { return contender(1); }
    bool had(Contender &side)
    {
        side.acquire();
        return QTest::qWaitFor([&] { return side.granted.has_value(); }, 20'000) && side.holds();
    }
    bool gone(Contender &side)
    {
        side.release();
        return QTest::qWaitFor([&] { return side.released.has_value(); }, 20'000) && *side.released;
    }

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
        const auto formula = recipes::findRecipe(curatorRecipe(kind))->counts.acquireQueued;
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
        QCOMPARE(recipes::findRecipe("curator-rwlock")->counts.wakeUps, QStringLiteral("write 1, read N-1"));
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

    void downgrade()
    {
        QVERIFY(prepareOwner({"write", "read"}));
        QVERIFY(had(writer()));
        const auto written = (*writer().granted)->id;
        contender(2).acquire(); // a writer queues in between
        QVERIFY(waits(2, 3));
        contender(3).acquire();
        QVERIFY(waits(3, 3));
        counting(0).reset();
        QVERIFY(had(reader()));
        QCOMPARE(counting(0).spoken(), QByteArray("create 1, children 1"));
        QCOMPARE(counting(0).roundTrips(), 1);
        // The read node has the number of its writer's: nobody stands between the two.
        const auto read = (*reader().granted)->id;
        QVERIFY2(read.contains("-__READ__"), read);
        QCOMPARE(read.last(10), written.last(10));
        QVERIFY(*(*reader().granted)->fencingToken > *(*writer().granted)->fencingToken);

        QVERIFY(gone(writer()));
        QTRY_VERIFY(counting(2).isIdle());
        QVERIFY(waits(3, 5)); // woken by the writer; the next one is before it
        QVERIFY(!contender(2).granted);
        reader().askWhether();
        QTRY_VERIFY(reader().mine);
        QVERIFY(**reader().mine);
        QVERIFY(gone(reader()));
        QVERIFY(gets(2));
        QVERIFY(!contender(3).granted);
        QVERIFY(givesBack(2));
        QVERIFY(gets(3));
    }

    // Other readers come in as soon as the owner only reads.
    void downgradeLetsReadersIn()
    {
        QVERIFY(prepareOwner({"read"}));
        QVERIFY(had(writer()));
        contender(2).acquire();
        QVERIFY(waits(2, 3));
        QVERIFY(had(reader()));
        QVERIFY(!contender(2).granted);
        QVERIFY(gone(writer()));
        QVERIFY(gets(2));
        QCOMPARE(reader().lock->holdCount(), 1);
    }

    void downgradeWithTheReplyLost_data()
    {
        const Rows<int> row("fate");
        row("reply", int(RequestFault::LoseReply));
        row("request", int(RequestFault::LoseRequest));
    }
    void downgradeWithTheReplyLost()
    {
        QFETCH(int, fate);
        QVERIFY(prepareOwner({}));
        QVERIFY(had(writer()));
        faulty(0).plan(RequestKind::Create, 1, RequestFault(fate));
        QVERIFY(had(reader()));
        QCOMPARE(namesIn(m_path).size(), 2);
        QVERIFY(gone(reader()));
        QVERIFY(gone(writer()));
        QCOMPARE(namesIn(m_path), QByteArrayList());
    }

    // An operator took the writer's node, another writer is in: a reader beside it must not be.
    void noDowngradeFromALockThatWasTaken()
    {
        QVERIFY(prepareOwner({"write"}));
        QVERIFY(had(writer()));
        contender(2).acquire();
        QVERIFY(waits(2, 3));
        QVERIFY(removeNode((*writer().granted)->node));
        QVERIFY(gets(2));
        QVERIFY(!had(reader()));
        QCOMPARE(reader().granted->error().code, ErrorCode::NotHeld);
        QCOMPARE(namesIn(m_path), QByteArrayList{(*contender(2).granted)->id});
    }

    void noUpgrade()
    {
        QVERIFY(prepareOwner({"write"}));
        QVERIFY(had(reader()));
        QVERIFY(isRefused(writer(), 0)); // at once, and nothing is sent
        QVERIFY2(writer().error().contains(QStringLiteral("release the read lock first")),
                 qPrintable(writer().error()));
        QVERIFY(gone(reader()));
        QVERIFY(had(writer()));
        QVERIFY(had(reader()));
        QVERIFY(had(writer())); // both in hand: once more is no upgrade
        QCOMPARE(writer().lock->holdCount(), 2);
        QVERIFY(gone(writer()));
        QVERIFY(gone(writer()));
        QVERIFY(isRefused(writer(), 0)); // it has only the read lock now
        QCOMPARE(reader().lock->holdCount(), 1);
    }

    void anOwnerDoesNotWaitForItself()
    {
        QVERIFY(prepareOwner({"write"}));
        QVERIFY(contender(2).takes());
        writer().acquire();
        QVERIFY(waits(0, 3));
        QVERIFY(isRefused(reader(), 0));
        QVERIFY(givesBack(2));
        QTRY_VERIFY(writer().holds());
    }

    // Asked, the holder lets go by itself; the asker gets in.
    void revocation_data() { kindsAsRows({"mutex", "write", "read"}); }
    void revocation()
    {
        QVERIFY(prepare({rowsKind(), rowsKind() == "read" ? "write" : rowsKind()}));
        QVERIFY(contender(0).takes());
        const auto node = (*contender(0).granted)->node;
        std::optional<Result<bool>> heard;
        std::optional<Result<void>> asked;
        Scope scope(m_loop);
        counting(0).reset();
        scope.launch(
            keepResult(untilRevocationRequested(m_clients[0]->counting.get(), node, Deadline::never()), &heard));
        QTRY_VERIFY(counting(0).isIdle());
        QVERIFY(await(m_admin->set(node, "something else", zk::anyVersion, soon())));
        QTRY_COMPARE(counting(0).spoken(), QByteArray("get 2"));
        QTRY_VERIFY(counting(0).isIdle());
        QVERIFY(!heard);

        contender(1).acquire();
        QVERIFY(waits(1, 3));
        counting(1).reset();
        scope.launch(keepResult(requestRevocation(m_clients[1]->counting.get(), node, soon()), &asked));
        QTRY_VERIFY(asked && *asked);
        QCOMPARE(counting(1).count(RequestKind::Set), 1);
        const auto read = await(m_admin->get(node, std::nullopt, soon()));
        QCOMPARE(read->data, QByteArray("__REVOKE__"));
        QTRY_VERIFY(heard);
        QVERIFY(*heard && **heard);
        QCOMPARE(counting(0).spoken(), QByteArray("get 3"));
        QVERIFY(!contender(1).granted); // nothing was forced
        QVERIFY(givesBack(0));
        QVERIFY(gets(1));
    }

    void revocationOfNobody()
    {
        QVERIFY(prepare({"mutex"}));
        QVERIFY(contender(0).takes());
        const auto node = (*contender(0).granted)->node;
        std::optional<Result<bool>> heard;
        std::optional<Result<void>> asked;
        Scope scope(m_loop);
        scope.launch(
            keepResult(untilRevocationRequested(m_clients[0]->counting.get(), node, Deadline::never()), &heard));
        QVERIFY(givesBack(0));
        QTRY_VERIFY(heard);
        QVERIFY(*heard && !**heard); // nobody asked until the end
        scope.launch(keepResult(requestRevocation(m_admin.get(), node, soon()), &asked));
        QTRY_VERIFY(asked);
        QVERIFY(!*asked && asked->error().code == ErrorCode::NoNode);
        std::optional<Result<bool>> late;
        QVERIFY(had(contender(0)));
        scope.launch(keepResult(untilRevocationRequested(m_clients[0]->counting.get(), (*contender(0).granted)->node,
                                                         Deadline::after(m_loop, 100ms)),
                                &late));
        QTRY_VERIFY(late);
        QVERIFY(!*late && late->error().code == ErrorCode::TimedOut);
    }

    void theRequestIsRepeatedWhenItsReplyIsLost()
    {
        QVERIFY(prepare({"mutex"}));
        QVERIFY(contender(0).takes());
        std::optional<Result<void>> asked;
        auto &asker = addClient();
        QVERIFY(waitForState(*asker.real, zk::SessionState::Connected));
        asker.faulty->plan(RequestKind::Set, 1, RequestFault::LoseRequest);
        Scope scope(m_loop);
        scope.launch(
            keepResult(requestRevocation(asker.counting.get(), (*contender(0).granted)->node, soon()), &asked));
        QTRY_VERIFY(asked && *asked);
        QCOMPARE(asker.counting->count(RequestKind::Set), 2);
    }
};

LOCKSCOPE_TEST(TestRecipesCurator)
#include "tst_recipes_curator.moc"
