// SPDX-License-Identifier: Apache-2.0
// Whom it hits to take waiters out of a queue, or to release several locks at once, on real servers: nobody who holds
// a lock by then, and nobody who was not looked at.
#include "alternativesfixture.h"
#include "tests/support/testmain.h"

namespace {

constexpr int killRaces = 100;

} // namespace

class TestAlternativesWaiters : public AlternativesFixture {
    Q_OBJECT
private slots:
    void initTestCase() { SKIP_FOR(startServers()); }
    void cleanupTestCase() { stopServers(); }

    void aPlaceInAFairQueueIsTakenAway()
    {
        const auto wanted = request("redisson-fair-lock", "redis");
        HeldLock holder(*m_workspace, wanted), waiter(*m_workspace, wanted);
        QVERIFY(perform(holder.acquire(10s)));
        std::optional<Result<recipes::Grant>> got;
        Scope scope(loop());
        scope.launch(keepResult(waiter.acquire(60s), &got));
        const auto id = waiterOf(wanted.lock);
        QVERIFY(!id.isEmpty());
        const auto killing = plan(wanted.lock, id, ReleaseAction::KillWaiter);
        QVERIFY2(killing, killing ? "" : qPrintable(killing.error().message));
        const auto outcome = act(*killing);
        QVERIFY2(outcome && outcome->done, outcome ? "" : qPrintable(outcome.error().message));
        QCOMPARE(command({"LLEN", "redisson_lock_queue:{" + wanted.lock.name + '}'}), 0);
        QCOMPARE(records().back().action, u"kill-waiter"_s);
        QCOMPARE(act(*killing).error().code, ErrorCode::Refused);
        QVERIFY(perform(holder.release(soon())));
    }

    void aHolderIsNoWaiter()
    {
        const auto wanted = request("zk-mutex", "zk");
        HeldLock holder(*m_workspace, wanted);
        const auto had = perform(holder.acquire(10s));
        QVERIFY(had);
        const auto killing = plan(wanted.lock, had->id, ReleaseAction::KillWaiter);
        QCOMPARE(killing.error().code, ErrorCode::Refused);
        const auto shortening = plan(wanted.lock, had->id, ReleaseAction::ShortenTtl);
        QCOMPARE(shortening.error().code, ErrorCode::Unsupported);
        QVERIFY2(shortening.error().message.contains(u"Available: revoke, release"_s),
                 qPrintable(shortening.error().message));
        QVERIFY(perform(holder.release(soon())));
    }

    // The holder lets go at a random moment around the act: the waiter is removed while it waits, or keeps what it
    // got.
    void aKilledWaiterIsNeverTheHolder_data()
    {
        const Rows<QByteArray> row("recipe");
        for (const char *recipe : {"zk-mutex", "zk-shared"})
            row(recipe, QByteArray(recipe));
    }
    void aKilledWaiterIsNeverTheHolder()
    {
        QFETCH(const QByteArray, recipe);
        int killed = 0, refused = 0, wrong = 0;
        std::chrono::microseconds takes(0); // an act that nobody disturbs: the first
        for (int n = 0; n < killRaces; ++n) {
            const auto wanted = request(recipe.constData(), "zk");
            HeldLock holder(*m_workspace, wanted), waiter(*m_workspace, wanted);
            QVERIFY(perform(holder.acquire(10s)));
            std::optional<Result<recipes::Grant>> got;
            std::optional<Result<operate::ForceReleaseOutcome>> outcome;
            std::optional<Result<void>> released;
            Scope scope(loop());
            scope.launch(keepResult(waiter.acquire(20s), &got));
            const auto id = waiterOf(wanted.lock);
            const auto killing = plan(wanted.lock, id, ReleaseAction::KillWaiter);
            QVERIFY2(killing, killing ? "" : qPrintable(killing.error().message));
            scope.launch(keepResult(m_workspace->forceRelease(*killing, {}, soon()), &outcome));
            const auto begun = loop().now();
            const auto until =
                begun + std::chrono::microseconds(m_random.below(static_cast<quint64>(2 * takes.count() + 1)));
            while (n == 0 ? !outcome : loop().now() < until)
                QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
            if (n == 0)
                takes = std::chrono::duration_cast<std::chrono::microseconds>(loop().now() - begun);
            scope.launch(keepResult(holder.release(soon()), &released));
            QTRY_VERIFY_WITH_TIMEOUT(outcome && released, patienceMs);
            const bool isKilled = bool(*outcome) && (*outcome)->done;
            ++(isKilled ? killed : refused);
            if (!isKilled) {
                QTRY_VERIFY_WITH_TIMEOUT(got, patienceMs);
                const auto now = read(wanted.lock);
                wrong += !(*got && (*got)->id == id && now && now->find(id)) ? 1 : 0;
                (void)perform(waiter.release(soon()));
            } else {
                wrong += got && *got && (*got)->id == id ? 1 : 0;
            }
        }
        qInfo("%s: killed %d, refused %d, wrong %d", recipe.constData(), killed, refused, wrong);
        QCOMPARE(wrong, 0);
        QVERIFY(killed > 0);
    }

    // Thirty locks of one session's list, of which the twelfth is another's by the time it is its turn.
    void severalStopWhereOneChangedHands()
    {
        std::vector<std::unique_ptr<HeldLock>> holders;
        std::vector<inspect::LockSnapshot> seen;
        std::vector<HoldRequest> wanted;
        for (int n = 0; n < 30; ++n) {
            wanted.push_back(request("zk-mutex", "zk"));
            holders.push_back(std::make_unique<HeldLock>(*m_workspace, wanted.back()));
            QVERIFY(perform(holders.back()->acquire(10s)));
            auto now = read(wanted.back().lock);
            QVERIFY(now);
            seen.push_back(std::move(*now));
        }
        std::vector<const inspect::LockSnapshot *> listed;
        for (const auto &lock : seen)
            listed.push_back(&lock);
        const auto targets = operate::targetsOf(
            listed, [](const inspect::LockSnapshot &, const inspect::Contender &) { return true; });
        QCOMPARE(targets.size(), std::size_t(30));
        QVERIFY(perform(holders[11]->release(soon())));
        HeldLock other(*m_workspace, wanted[11]);
        const auto had = perform(other.acquire(10s));
        QVERIFY(had);
        const auto before = records().size();
        int heard = 0;
        const auto report = perform(
            m_workspace->bulkRelease(targets, u"the night of the 22nd"_s, [&heard](int done) { heard = done; }));
        QVERIFY(report);
        QCOMPARE(report->done.size(), std::size_t(11));
        QVERIFY2(report->stoppedAt && report->stoppedAt->lock == wanted[11].lock, qPrintable(report->why));
        QVERIFY2(report->why.contains(u"does not hold"_s), qPrintable(report->why));
        QCOMPARE(report->left.size(), std::size_t(18));
        QCOMPARE(heard, 11);
        QCOMPARE(records().size(), before + 22); // an intent and a result each; nothing was sent to the twelfth
        const auto twelfth = read(wanted[11].lock);
        QVERIFY(twelfth && twelfth->find(had->id) && twelfth->find(had->id)->role == inspect::Role::Holder);
        for (std::size_t n = 0; n < 30; ++n) {
            const auto now = read(wanted[n].lock);
            QCOMPARE(now && now->find(targets[n].contender) != nullptr, n > 11);
        }
    }
};

LOCKSCOPE_TEST(TestAlternativesWaiters)
#include "tst_alternatives_waiters.moc"
