// SPDX-License-Identifier: Apache-2.0
// A: mutual exclusion and who owns what.
#include "fixture.h"
#include "tests/support/testmain.h"

#include <algorithm>

using namespace lockscope::contract;

class TestContractOwnership : public Fixture {
    Q_OBJECT

public:
    TestContractOwnership() : Fixture('A') {}

private slots:
    void A1_oneHoldsAndHandsOver_data() { rows("A1", {Need::Exclusive}); }
    void A1_oneHoldsAndHandsOver()
    {
        TRIAL(test);
        auto &one = test.join();
        auto &two = test.join();
        OK(test.takes(one));
        OK(test.waits(two));
        QCOMPARE(one.lock->holdCount(), 1);
        QCOMPARE(two.lock->holdCount(), 0);
        OK(test.isHeldBy(one));
        OK(test.givesBack(one));
        OK(test.comesToHold(two));
        OK(test.isHeldBy(two));
        QCOMPARE(one.lock->holdCount(), 0);
        OK(test.givesBack(two));
        OK(test.isClean());
    }

    // Locks of one client, as threads of one program.
    void A2_manyOnOneClient_data() { rows("A2", {Need::Exclusive, Need::SharedClient}); }
    void A2_manyOnOneClient()
    {
        TRIAL(test);
        auto &client = test.client(0);
        for (int i = 0; i < 5; ++i)
            test.joinWith(client);
        Tally tally;
        OK(contendAll(test, 1, &tally));
        QCOMPARE(tally.most, 1);
        QCOMPARE(tally.entered, 5);
        OK(test.isClean());
    }

    void A3_theGuardedCounterIsExact_data() { rows("A3", {Need::Exclusive}); }
    void A3_theGuardedCounterIsExact()
    {
        TRIAL(test);
        for (int i = 0; i < 4; ++i)
            test.join();
        Tally tally;
        OK(contendAll(test, 4, &tally));
        QCOMPARE(tally.most, 1);
        QCOMPARE(tally.counter, 16);
        OK(test.isClean());
    }

    void A4_oneOfManyTriesSucceeds_data() { rows("A4", {Need::Exclusive, Need::SharedClient}); }
    void A4_oneOfManyTriesSucceeds()
    {
        TRIAL(test);
        for (size_t i = 0; i < 12; ++i)
            test.joinWith(test.client(i % 4));
        for (auto &contender : test.contenders)
            contender->tryOnce();
        int entered = 0;
        Contender *winner = nullptr;
        for (auto &contender : test.contenders) {
            EVENTUALLY(contender->granted);
            if (contender->holds()) {
                ++entered;
                winner = contender.get();
            } else {
                QCOMPARE(contender->granted->error().code, ErrorCode::TimedOut);
            }
        }
        QCOMPARE(entered, 1);
        OK(test.isHeldBy(*winner));
        OK(test.givesBack(*winner));
        OK(test.isClean());
    }

    void A5_aTryOfAHeldLockLeavesNothing_data() { rows("A5", {Need::Exclusive}); }
    void A5_aTryOfAHeldLockLeavesNothing()
    {
        TRIAL(test);
        auto &holder = test.join();
        auto &other = test.join();
        OK(test.takes(holder));
        settle(holder.client()); // a semaphore's holder leaves its queue in the background
        const auto before = test.claims();
        for (int i = 0; i < 3; ++i)
            OK(test.isRefused(other));
        QCOMPARE(test.claims(), before); // at once
        OK(test.isHeldBy(holder));
    }

    void A6_againOnTheSameObject_data() { rows("A6", {}); }
    void A6_againOnTheSameObject()
    {
        TRIAL(test);
        auto &one = test.join();
        OK(test.takes(one));
        OK(test.givesBack(one));
        OK(test.isClean());
        const auto furniture = test.environment.everything();
        for (int i = 0; i < 3; ++i) {
            OK(test.takes(one));
            OK(test.isHeldBy(one));
            OK(test.givesBack(one));
        }
        OK(test.isClean());
        // No use leaves more behind than the first. Empty containers go in the meantime, those of other rows, too:
        // ZooKeeper removes them when it comes to it.
        const auto isMore = [&](const QByteArray &thing) {
            return !furniture.contains(thing) && test.environment.names(thing, test.name);
        };
        EVENTUALLY(std::ranges::none_of(test.environment.everything(), isMore));
    }

    void A7_destroyingTheLockReleases_data() { rows("A7", {Need::Exclusive}); }
    void A7_destroyingTheLockReleases()
    {
        TRIAL(test);
        auto &guard = test.join();
        auto &other = test.join();
        OK(test.takes(guard));
        if (test.recipe.reentrant)
            OK(test.takes(guard)); // however often
        OK(test.waits(other));
        guard.lock.reset();
        OK(test.comesToHold(other));
        OK(test.givesBack(other));
        OK(test.isClean());
    }

    void A8_theErrorNamesTheLock_data() { rows("A8", {Need::Exclusive}); }
    void A8_theErrorNamesTheLock()
    {
        TRIAL(test);
        OK(test.takes(test.join()));
        auto &other = test.join();
        OK(test.isRefused(other));
        QVERIFY2(test.environment.names(other.outcome().toUtf8(), test.name), qPrintable(other.outcome()));
        OK(test.isNotHeldBy(other));
        const auto words = other.released->error().message;
        QVERIFY2(test.environment.names(words.toUtf8(), test.name), qPrintable(words));
    }

    void A9_ownershipIsKnown_data() { rows("A9", {Need::Exclusive}); }
    void A9_ownershipIsKnown()
    {
        TRIAL(test);
        auto &holder = test.join();
        auto &other = test.join();
        OK(test.knowsItIsMine(holder, false));
        OK(test.takes(holder));
        OK(test.knowsItIsMine(holder, true));
        OK(test.knowsItIsMine(other, false));
        OK(test.givesBack(holder));
        OK(test.knowsItIsMine(holder, false));
    }

    void A10_onlyTheHolderReleases_data() { rows("A10", {}); }
    void A10_onlyTheHolderReleases()
    {
        TRIAL(test);
        auto &holder = test.join();
        auto &other = test.join();
        OK(test.takes(holder));
        const auto before = test.claims();
        OK(test.isNotHeldBy(other));
        QCOMPARE(test.claims(), before);
        OK(test.knowsItIsMine(holder));
        OK(test.givesBack(holder));
        OK(test.isNotHeldBy(holder)); // twice is once too often
    }

    void A11_lockOfAnotherIsNotReleased_data() { rows("A11", {Need::Exclusive, Need::Record}); }
    void A11_lockOfAnotherIsNotReleased()
    {
        TRIAL(test);
        auto &old = test.join();
        auto &next = test.join();
        OK(test.takes(old));
        QVERIFY(test.environment.takeAway(test.name, old.grant()));
        OK(test.takes(next));
        OK(test.isNotHeldBy(old));
        QCOMPARE(old.lock->holdCount(), 0); // its own idea of it is cleared all the same
        OK(test.isHeldBy(next));
        OK(test.knowsItIsMine(next));
        OK(test.givesBack(next));
        OK(test.isClean());
    }

    void A14_everythingCarriesTheName_data() { rows("A14", {}); }
    void A14_everythingCarriesTheName()
    {
        TRIAL(test);
        const auto before = test.environment.everything();
        auto &holder = test.join();
        auto &waiter = test.join();
        OK(test.takes(holder));
        if (!test.recipe.optimistic)
            OK(test.waits(waiter));
        for (const auto &thing : test.environment.everything())
            QVERIFY2(before.contains(thing) || test.environment.names(thing, test.name), thing.constData());
    }

    void A15_forbiddenIsAnError_data() { rows("A15", {}); }
    void A15_forbiddenIsAnError()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &environment = environmentOfRow();
        std::unique_ptr<Client> client; // outlives the lock
        TestCase test(environment, recipeOfRow());
        client = environment.powerless(test.name);
        auto &one = test.joinWith(*client);
        one.acquire(after(10s));
        EVENTUALLY(one.granted);
        QVERIFY(!one.holds());
        QVERIFY2(one.granted->error().code == ErrorCode::NoPermission, qPrintable(one.outcome()));
        test.contenders.clear();
        QVERIFY(test.claims().isEmpty());
    }
};

LOCKSCOPE_TEST(TestContractOwnership)
#include "tst_contract_ownership.moc"
