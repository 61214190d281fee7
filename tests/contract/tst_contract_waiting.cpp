// SPDX-License-Identifier: Apache-2.0
// C: waiting, its order, its end.
#include "fixture.h"
#include "tests/support/testmain.h"

#include <algorithm>

using namespace lockscope::contract;

class TestContractWaiting : public Fixture {
    Q_OBJECT

public:
    TestContractWaiting() : Fixture('C') {}

private:
    // The error of somebody who cannot even ask.
    QString errorWhenCutOff(TestCase &test)
    {
        auto &lonely = test.joinMortal();
        lonely.client().cut();
        eventually([&] { return !lonely.client().isConnected(); });
        lonely.acquire(after(100ms));
        eventually([&] { return lonely.granted.has_value(); });
        return lonely.granted && !*lonely.granted ? lonely.granted->error().message : QString();
    }

private slots:
    void C1_firstComeFirstServed_data() { rows("C1", {Need::Fair, Need::Exclusive}); }
    void C1_firstComeFirstServed()
    {
        TRIAL(test);
        OK(test.takes(test.join()));
        for (size_t i = 1; i < 5; ++i)
            OK(test.waits(test.join()));
        for (size_t i = 0; i < 5; ++i) {
            OK(test.comesToHold(test[i]));
            OK(test.isHeldBy(test[i]));
            for (size_t later = i + 1; later < 5; ++later)
                QVERIFY(!test[later].granted);
            const auto queue = test.claims().size();
            OK(test.givesBack(test[i]));
            EVENTUALLY(test.hasLeft(test[i], queue));
        }
        OK(test.isClean());
    }

    void C2_aDeadlineIsKept_data() { rows("C2", {Need::Exclusive}); }
    void C2_aDeadlineIsKept()
    {
        TRIAL(test);
        OK(test.takes(test.join()));
        const auto before = test.claims();
        auto &late = test.join();
        const auto began = m_loop.now();
        OK(test.isRefused(late, after(150ms)));
        const auto waited = m_loop.now() - began;
        QVERIFY(waited >= 150ms); // not before its time; and not ten seconds after it
        QVERIFY(waited < 10s);
        QCOMPARE(test.claims(), before);
    }

    void C3_pollsWithPauses_data() { rows("C3", {Need::Polls, Need::Exclusive}); }
    void C3_pollsWithPauses()
    {
        TRIAL(test);
        OK(test.takes(test.join()));
        auto &waiter = test.join();
        waiter.client().resetCounts();
        OK(test.isRefused(waiter, after(500ms)));
        QVERIFY(waiter.client().requests() >= 2);
        // 25 ms at least between two tries of a few requests each.
        QVERIFY2(waiter.client().requests() <= 21 * (test.recipe.quorum ? 15 : 5),
                 waiter.client().spoken().constData());
        waiter.client().resetCounts();
        OK(test.isRefused(waiter)); // no time at all: one try, no pause
        QVERIFY2(waiter.client().requests() <= (test.recipe.quorum ? 15 : 5), waiter.client().spoken().constData());
    }

    void C4_noTimeNoWait_data() { rows("C4", {Need::Fair, Need::Exclusive}); }
    void C4_noTimeNoWait()
    {
        TRIAL(test);
        OK(test.takes(test.join()));
        OK(test.waits(test.join()));
        const auto queue = test.claims();
        auto &third = test.join();
        OK(test.isRefused(third));
        QCOMPARE(test.claims(), queue);
        OK(test.givesBack(test[0]));
        OK(test.comesToHold(test[1]));
    }

    void C5_aWaitCanBeCancelled_data() { rows("C5", {Need::Exclusive}); }
    void C5_aWaitCanBeCancelled()
    {
        TRIAL(test);
        auto &holder = test.join();
        auto &waiter = test.join();
        OK(test.takes(holder));
        const auto before = test.claims();
        OK(test.waits(waiter));
        waiter.cancelWaits();
        EVENTUALLY(test.claims() == before);
        QVERIFY(!waiter.granted);
        waiter.acquire(); // the object is as good as new
        OK(test.givesBack(holder));
        OK(test.comesToHold(waiter));
        OK(test.givesBack(waiter));
        OK(test.isClean());
    }

    void C6_aWaiterThatLeavesBlocksNobody_data() { rows("C6", {Need::Exclusive}); }
    void C6_aWaiterThatLeavesBlocksNobody()
    {
        TRIAL(test);
        OK(test.takes(test.join()));
        for (int i = 0; i < 3; ++i)
            OK(test.waits(test.join()));
        test[1].lock.reset();
        EVENTUALLY(test[1].granted);
        QCOMPARE(test[1].granted->error().code, ErrorCode::Cancelled);
        test[3].cancelWaits(); // the last one goes, too
        settle(test[2].client());
        QVERIFY(!test[2].granted); // to be woken is not to hold
        OK(test.givesBack(test[0]));
        OK(test.comesToHold(test[2]));
        OK(test.givesBack(test[2]));
        OK(test.isClean());
    }

    // Cancelled while a request is out, or its answer: whatever it does on the server is undone, and nothing keeps it
    // alive.
    void C8_cancelledAtAnyStep_data() { rows("C8", {}); }
    void C8_cancelledAtAnyStep()
    {
        TRIAL(test);
        test.options.ttl = 2s;
        auto &client = test.client(0);
        for (const auto fate : {RequestFault::HoldReply, RequestFault::HoldRequest}) {
            bool isThrough = false;
            for (int step = 1; step < 20 && !isThrough; ++step) {
                auto &one = test.joinWith(client);
                client.plan.at(step, fate);
                one.acquire();
                EVENTUALLY(client.held() > 0 || one.granted);
                isThrough = client.held() == 0; // it takes fewer steps
                one.cancelWaits();
                test.contenders.pop_back();
                client.plan.forget();
                client.letThrough();
                OK(test.isClean());
            }
            QVERIFY(isThrough);
        }
    }

    void C9_abandonedWaitsDoNotAddUp_data() { rows("C9", {Need::Fair, Need::Lease}); }
    void C9_abandonedWaitsDoNotAddUp()
    {
        TRIAL(test);
        OK(test.takes(test.join()));
        const auto before = test.claims();
        auto &fickle = test.join();
        for (int i = 0; i < 4; ++i)
            OK(test.isRefused(fickle, after(60ms)));
        for (int i = 0; i < 2; ++i) {
            OK(test.waits(fickle));
            fickle.cancelWaits();
            EVENTUALLY(test.claims() == before);
        }
        auto &patient = test.join();
        OK(test.waits(patient));
        OK(test.givesBack(test[0]));
        OK(test.comesToHold(patient));
        OK(test.givesBack(patient));
        OK(test.isClean());
    }

    // All at once: the server hangs until a wait has timed out.
    void C10_aPauseLeavesNoWaiter_data() { rows("C10", {Need::Exclusive}); }
    void C10_aPauseLeavesNoWaiter()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                QString wrong = t.takes(t.join());
                t.join();
                return wrong;
            },
            [this] {
                for (auto *t : sceneTests())
                    (*t)[1].acquire(after(1200ms));
                linger(300ms);
                for (auto *environment : sceneEnvironments())
                    environment->pause();
                const auto all = sceneTests();
                eventually([&all] {
                    return std::all_of(all.begin(), all.end(), [](auto *t) { return (*t)[1].granted.has_value(); });
                });
                for (auto *t : all) {
                    if (!(*t)[1].granted)
                        t->problem = u"the wait does not end while the server hangs"_s;
                }
                for (auto *environment : sceneEnvironments())
                    environment->resume();
                return QString();
            });
        OK(test.problem);
        QVERIFY(!test[1].holds());
        const auto code = test[1].granted->error().code;
        QVERIFY2(code == ErrorCode::TimedOut || code == ErrorCode::UnknownOutcome
                     || (code == ErrorCode::NotConnected && test.recipe.quorum)
                     || (code == ErrorCode::SessionExpired && livesWithConnection(test.recipe)),
                 qPrintable(test[1].outcome()));
        OK(test.knowsItIsMine(test[0]));
        OK(test.givesBack(test[0]));
        OK(test.isClean());
        OK(test.takes(test[1]));
    }

    void C11_manyWaitersOnOneConnection_data() { rows("C11", {Need::Exclusive, Need::SharedClient}); }
    void C11_manyWaitersOnOneConnection()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &environment = environmentOfRow();
        auto &client = environment.client(0);
        std::vector<std::unique_ptr<TestCase>> locks;
        std::vector<Tally> tallies(4);
        Scope scope(m_loop);
        for (auto &tally : tallies) {
            locks.push_back(std::make_unique<TestCase>(environment, recipeOfRow()));
            for (int i = 0; i < 4; ++i)
                scope.launch(contend(&locks.back()->joinWith(client), &m_loop, 2, &tally));
        }
        EVENTUALLY(scope.isIdle());
        for (size_t i = 0; i < tallies.size(); ++i) {
            QVERIFY2(tallies[i].failures.isEmpty(), qPrintable(tallies[i].failures.join(u"; "_s)));
            QCOMPARE(tallies[i].most, 1);
            QCOMPARE(tallies[i].entered, 8);
            OK(locks[i]->isClean());
        }
        EVENTUALLY(client.listeners() == 0); // no watch left
    }

    void C13_takenIsNotUnreachable_data() { rows("C13", {Need::Exclusive}); }
    void C13_takenIsNotUnreachable()
    {
        TRIAL(test);
        OK(test.takes(test.join()));
        auto &other = test.join();
        OK(test.isRefused(other, after(50ms)));
        const auto taken = other.granted->error().message;
        const auto unreachable = errorWhenCutOff(test);
        const auto word = test.recipe.quorum ? u"nodes answered"_s : u"connect"_s;
        QVERIFY2(unreachable.contains(word, Qt::CaseInsensitive), qPrintable(unreachable));
        QVERIFY2(!taken.contains(word, Qt::CaseInsensitive), qPrintable(taken));
    }

    void C14_foreignNodesAreIgnored_data() { rows("C14", {Need::ZooKeeper}); }
    void C14_foreignNodesAreIgnored()
    {
        TRIAL(test);
        auto &one = test.join();
        auto &two = test.join();
        OK(test.takes(one)); // makes its directories
        OK(test.givesBack(one));
        OK(test.environment.addForeign(test.name));
        OK(test.takes(one));
        OK(test.waits(two));
        OK(test.givesBack(one));
        OK(test.comesToHold(two));
        OK(test.isHeldBy(two));
    }
};

LOCKSCOPE_TEST(TestContractWaiting)
#include "tst_contract_waiting.moc"
