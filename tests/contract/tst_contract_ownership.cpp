// SPDX-License-Identifier: Apache-2.0
// A: mutual exclusion and who owns what.
#include "fixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::contract;

class TestContractOwnership : public Fixture {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        OK(whatIsMissing("A"));
        OK(startArenas());
    }
    void cleanupTestCase() { endScene(); }
    void elsewhere_data() { notHereRows("A"); }
    void elsewhere()
    {
        QFETCH(QString, reason);
        if (!reason.isEmpty())
            QSKIP(qPrintable(reason));
    }

    void A1_oneHoldsAndHandsOver_data() { rows("A1", {Need::Exclusive}); }
    void A1_oneHoldsAndHandsOver()
    {
        TRIAL(trial);
        auto &one = trial.join();
        auto &two = trial.join();
        OK(trial.takes(one));
        OK(trial.waits(two));
        QCOMPARE(one.lock->holdCount(), 1);
        QCOMPARE(two.lock->holdCount(), 0);
        OK(trial.isHeldBy(one));
        OK(trial.givesBack(one));
        OK(trial.comesToHold(two));
        OK(trial.isHeldBy(two));
        QCOMPARE(one.lock->holdCount(), 0);
        OK(trial.givesBack(two));
        OK(trial.isClean());
    }

    // Locks of one client, as threads of one program.
    void A2_manyOnOneClient_data() { rows("A2", {Need::Exclusive, Need::SharedClient}); }
    void A2_manyOnOneClient()
    {
        TRIAL(trial);
        auto &client = trial.client(0);
        for (int i = 0; i < 5; ++i)
            trial.joinWith(client);
        Tally tally;
        OK(contendAll(trial, 1, &tally));
        QCOMPARE(tally.most, 1);
        QCOMPARE(tally.entered, 5);
        OK(trial.isClean());
    }

    void A3_theGuardedCounterIsExact_data() { rows("A3", {Need::Exclusive}); }
    void A3_theGuardedCounterIsExact()
    {
        TRIAL(trial);
        for (int i = 0; i < 4; ++i)
            trial.join();
        Tally tally;
        OK(contendAll(trial, 4, &tally));
        QCOMPARE(tally.most, 1);
        QCOMPARE(tally.counter, 16);
        OK(trial.isClean());
    }

    void A4_oneOfManyTriesSucceeds_data() { rows("A4", {Need::Exclusive, Need::SharedClient}); }
    void A4_oneOfManyTriesSucceeds()
    {
        TRIAL(trial);
        for (size_t i = 0; i < 12; ++i)
            trial.joinWith(trial.client(i % 4));
        for (auto &contender : trial.contenders)
            contender->tryOnce();
        int entered = 0;
        Contender *winner = nullptr;
        for (auto &contender : trial.contenders) {
            EVENTUALLY(contender->granted);
            if (contender->holds()) {
                ++entered;
                winner = contender.get();
            } else {
                QCOMPARE(contender->granted->error().code, ErrorCode::TimedOut);
            }
        }
        QCOMPARE(entered, 1);
        OK(trial.isHeldBy(*winner));
        OK(trial.givesBack(*winner));
        OK(trial.isClean());
    }

    void A5_aTryOfAHeldLockLeavesNothing_data() { rows("A5", {Need::Exclusive}); }
    void A5_aTryOfAHeldLockLeavesNothing()
    {
        TRIAL(trial);
        auto &holder = trial.join();
        auto &other = trial.join();
        OK(trial.takes(holder));
        settle(holder.client()); // a semaphore's holder leaves its queue in the background
        const auto before = trial.claims();
        for (int i = 0; i < 3; ++i)
            OK(trial.isRefused(other));
        QCOMPARE(trial.claims(), before); // at once
        OK(trial.isHeldBy(holder));
    }

    void A6_againOnTheSameObject_data() { rows("A6", {}); }
    void A6_againOnTheSameObject()
    {
        TRIAL(trial);
        auto &one = trial.join();
        OK(trial.takes(one));
        OK(trial.givesBack(one));
        OK(trial.isClean());
        const auto furniture = trial.arena.everything();
        for (int i = 0; i < 3; ++i) {
            OK(trial.takes(one));
            OK(trial.isHeldBy(one));
            OK(trial.givesBack(one));
        }
        OK(trial.isClean());
        QCOMPARE(trial.arena.everything(), furniture); // no use leaves more behind than the first
    }

    void A7_destroyingTheLockReleases_data() { rows("A7", {Need::Exclusive}); }
    void A7_destroyingTheLockReleases()
    {
        TRIAL(trial);
        auto &guard = trial.join();
        auto &other = trial.join();
        OK(trial.takes(guard));
        OK(trial.isRefused(other));
        guard.lock.reset();
        OK(trial.takes(other));
        OK(trial.givesBack(other));
        OK(trial.isClean());
    }

    void A8_theErrorNamesTheLock_data() { rows("A8", {Need::Exclusive}); }
    void A8_theErrorNamesTheLock()
    {
        TRIAL(trial);
        OK(trial.takes(trial.join()));
        auto &other = trial.join();
        OK(trial.isRefused(other));
        QVERIFY2(other.outcome().contains(QString::fromLatin1(trial.name)), qPrintable(other.outcome()));
        OK(trial.isNotHeldBy(other));
        const auto words = other.released->error().message;
        QVERIFY2(words.contains(QString::fromLatin1(trial.name)), qPrintable(words));
    }

    void A9_whoseItIs_data() { rows("A9", {Need::Exclusive}); }
    void A9_whoseItIs()
    {
        TRIAL(trial);
        auto &holder = trial.join();
        auto &other = trial.join();
        OK(trial.knowsItIsMine(holder, false));
        OK(trial.takes(holder));
        OK(trial.knowsItIsMine(holder, true));
        OK(trial.knowsItIsMine(other, false));
        OK(trial.givesBack(holder));
        OK(trial.knowsItIsMine(holder, false));
    }

    void A10_onlyTheHolderReleases_data() { rows("A10", {}); }
    void A10_onlyTheHolderReleases()
    {
        TRIAL(trial);
        auto &holder = trial.join();
        auto &other = trial.join();
        OK(trial.takes(holder));
        const auto before = trial.claims();
        OK(trial.isNotHeldBy(other));
        QCOMPARE(trial.claims(), before);
        OK(trial.knowsItIsMine(holder));
        OK(trial.givesBack(holder));
        OK(trial.isNotHeldBy(holder)); // twice is once too often
    }

    void A11_whatAnotherTookIsNotReleased_data() { rows("A11", {Need::Exclusive, Need::Record}); }
    void A11_whatAnotherTookIsNotReleased()
    {
        TRIAL(trial);
        auto &old = trial.join();
        auto &next = trial.join();
        OK(trial.takes(old));
        QVERIFY(trial.arena.takeAway(trial.name, old.grant()));
        OK(trial.takes(next));
        OK(trial.isNotHeldBy(old));
        QCOMPARE(old.lock->holdCount(), 0); // its own idea of it is cleared all the same
        OK(trial.isHeldBy(next));
        OK(trial.knowsItIsMine(next));
        OK(trial.givesBack(next));
        OK(trial.isClean());
    }

    void A14_everythingCarriesTheName_data() { rows("A14", {}); }
    void A14_everythingCarriesTheName()
    {
        TRIAL(trial);
        const auto before = trial.arena.everything();
        auto &holder = trial.join();
        auto &waiter = trial.join();
        OK(trial.takes(holder));
        if (!trial.recipe.optimistic)
            OK(trial.waits(waiter));
        for (const auto &thing : trial.arena.everything())
            QVERIFY2(before.contains(thing) || thing.contains(trial.name), thing.constData());
    }

    void A15_forbiddenIsAnError_data() { rows("A15", {}); }
    void A15_forbiddenIsAnError()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &arena = arenaOfRow();
        std::unique_ptr<Client> client; // outlives the lock
        Trial trial(arena, recipeOfRow());
        client = arena.powerless(trial.name);
        auto &one = trial.joinWith(*client);
        one.acquire(after(10s));
        EVENTUALLY(one.granted);
        QVERIFY(!one.holds());
        QVERIFY2(one.granted->error().code == ErrorCode::NoPermission, qPrintable(one.outcome()));
        trial.contenders.clear();
        QVERIFY(trial.claims().isEmpty());
    }
};

LOCKSCOPE_TEST(TestContractOwnership)
#include "tst_contract_ownership.moc"
