// SPDX-License-Identifier: Apache-2.0
// C: waiting, its order, its end.
#include "fixture.h"
#include "tests/support/testmain.h"

#include <algorithm>

using namespace lockscope;
using namespace lockscope::contract;

class TestContractWaiting : public Fixture {
    Q_OBJECT

    // The error of somebody who cannot even ask.
    QString errorWhenCutOff(Trial &trial)
    {
        auto &lonely = trial.joinMortal();
        lonely.client().cut();
        eventually([&] { return !lonely.client().isConnected(); });
        lonely.acquire(after(100ms));
        eventually([&] { return lonely.granted.has_value(); });
        return lonely.granted && !*lonely.granted ? lonely.granted->error().message : QString();
    }

private slots:
    void initTestCase()
    {
        OK(whatIsMissing("C"));
        OK(startArenas());
    }
    void cleanupTestCase() { endScene(); }
    void elsewhere_data() { notHereRows("C"); }
    void elsewhere()
    {
        QFETCH(QString, reason);
        if (!reason.isEmpty())
            QSKIP(qPrintable(reason));
    }

    void C1_firstComeFirstServed_data() { rows("C1", {Need::Fair, Need::Exclusive}); }
    void C1_firstComeFirstServed()
    {
        TRIAL(trial);
        OK(trial.takes(trial.join()));
        for (size_t i = 1; i < 5; ++i)
            OK(trial.waits(trial.join()));
        for (size_t i = 0; i < 5; ++i) {
            OK(trial.comesToHold(trial[i]));
            OK(trial.isHeldBy(trial[i]));
            for (size_t later = i + 1; later < 5; ++later)
                QVERIFY(!trial[later].granted);
            const auto queue = trial.claims().size();
            OK(trial.givesBack(trial[i]));
            EVENTUALLY(trial.hasLeft(trial[i], queue));
        }
        OK(trial.isClean());
    }

    void C2_aDeadlineIsKept_data() { rows("C2", {Need::Exclusive}); }
    void C2_aDeadlineIsKept()
    {
        TRIAL(trial);
        OK(trial.takes(trial.join()));
        const auto before = trial.claims();
        auto &late = trial.join();
        const auto began = m_loop.now();
        OK(trial.isRefused(late, after(150ms)));
        const auto waited = m_loop.now() - began;
        QVERIFY(waited >= 150ms); // not before its time; and not ten seconds after it
        QVERIFY(waited < 10s);
        QCOMPARE(trial.claims(), before);
    }

    void C3_pollsWithPauses_data() { rows("C3", {Need::Polls, Need::Exclusive}); }
    void C3_pollsWithPauses()
    {
        TRIAL(trial);
        OK(trial.takes(trial.join()));
        auto &waiter = trial.join();
        waiter.client().resetCounts();
        OK(trial.isRefused(waiter, after(500ms)));
        QVERIFY(waiter.client().requests() >= 2);
        // 25 ms at least between two tries of a few requests each.
        QVERIFY2(waiter.client().requests() <= 21 * (trial.recipe.quorum ? 15 : 5), waiter.client().spoken().constData());
        waiter.client().resetCounts();
        OK(trial.isRefused(waiter)); // no time at all: one try, no pause
        QVERIFY2(waiter.client().requests() <= (trial.recipe.quorum ? 15 : 5), waiter.client().spoken().constData());
    }

    void C4_noTimeNoWait_data() { rows("C4", {Need::Fair, Need::Exclusive}); }
    void C4_noTimeNoWait()
    {
        TRIAL(trial);
        OK(trial.takes(trial.join()));
        OK(trial.waits(trial.join()));
        const auto queue = trial.claims();
        auto &third = trial.join();
        OK(trial.isRefused(third));
        QCOMPARE(trial.claims(), queue);
        OK(trial.givesBack(trial[0]));
        OK(trial.comesToHold(trial[1]));
    }

    void C5_aWaitCanBeCancelled_data() { rows("C5", {Need::Exclusive}); }
    void C5_aWaitCanBeCancelled()
    {
        TRIAL(trial);
        auto &holder = trial.join();
        auto &waiter = trial.join();
        OK(trial.takes(holder));
        const auto before = trial.claims();
        OK(trial.waits(waiter));
        waiter.cancelWaits();
        EVENTUALLY(trial.claims() == before);
        QVERIFY(!waiter.granted);
        waiter.acquire(); // the object is as good as new
        OK(trial.givesBack(holder));
        OK(trial.comesToHold(waiter));
        OK(trial.givesBack(waiter));
        OK(trial.isClean());
    }

    void C6_aWaiterThatLeavesBlocksNobody_data() { rows("C6", {Need::Exclusive}); }
    void C6_aWaiterThatLeavesBlocksNobody()
    {
        TRIAL(trial);
        OK(trial.takes(trial.join()));
        for (int i = 0; i < 3; ++i)
            OK(trial.waits(trial.join()));
        trial[1].lock.reset();
        EVENTUALLY(trial[1].granted);
        QCOMPARE(trial[1].granted->error().code, ErrorCode::Cancelled);
        trial[3].cancelWaits(); // the last one goes, too
        OK(trial.givesBack(trial[0]));
        OK(trial.comesToHold(trial[2]));
        OK(trial.givesBack(trial[2]));
        OK(trial.isClean());
    }

    // Cancelled while a request is out: whatever it does on the server is undone, and nothing keeps it alive.
    void C8_cancelledAtAnyStep_data() { rows("C8", {}); }
    void C8_cancelledAtAnyStep()
    {
        TRIAL(trial);
        trial.options.ttl = 2s;
        auto &client = trial.client(0);
        for (int step = 1; step < 20; ++step) {
            auto &one = trial.joinWith(client);
            client.plan.at(step, Fate::HoldReply);
            one.acquire();
            EVENTUALLY(client.held() > 0 || one.granted);
            const bool isThrough = client.held() == 0;
            one.cancelWaits();
            trial.contenders.pop_back();
            client.plan.forget();
            client.letThrough();
            OK(trial.isClean());
            if (isThrough)
                return; // it takes fewer steps
        }
        QFAIL("it takes twenty requests to acquire");
    }

    void C9_abandonedWaitsDoNotAddUp_data() { rows("C9", {Need::Fair, Need::Lease}); }
    void C9_abandonedWaitsDoNotAddUp()
    {
        TRIAL(trial);
        OK(trial.takes(trial.join()));
        const auto before = trial.claims();
        auto &fickle = trial.join();
        for (int i = 0; i < 4; ++i)
            OK(trial.isRefused(fickle, after(60ms)));
        for (int i = 0; i < 2; ++i) {
            OK(trial.waits(fickle));
            fickle.cancelWaits();
            EVENTUALLY(trial.claims() == before);
        }
        auto &patient = trial.join();
        OK(trial.waits(patient));
        OK(trial.givesBack(trial[0]));
        OK(trial.comesToHold(patient));
        OK(trial.givesBack(patient));
        OK(trial.isClean());
    }

    // All at once: the server hangs until a wait has timed out.
    void C10_aPauseLeavesNoWaiter_data() { rows("C10", {Need::Exclusive}); }
    void C10_aPauseLeavesNoWaiter()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                QString wrong = t.takes(t.join());
                t.join();
                return wrong;
            },
            [this] {
                for (auto *t : sceneTrials())
                    (*t)[1].acquire(after(1200ms));
                linger(300ms);
                for (auto *arena : sceneArenas())
                    arena->pause();
                const auto all = sceneTrials();
                eventually([&all] {
                    return std::all_of(all.begin(), all.end(), [](auto *t) { return (*t)[1].granted.has_value(); });
                });
                for (auto *t : all) {
                    if (!(*t)[1].granted)
                        t->problem = u"the wait does not end while the server hangs"_s;
                }
                for (auto *arena : sceneArenas())
                    arena->resume();
                return QString();
            });
        OK(trial.problem);
        QVERIFY(!trial[1].holds());
        const auto code = trial[1].granted->error().code;
        QVERIFY2(code == ErrorCode::TimedOut || code == ErrorCode::UnknownOutcome
                     || (code == ErrorCode::NotConnected && trial.recipe.quorum)
                     || (code == ErrorCode::SessionExpired && livesWithConnection(trial.recipe)),
                 qPrintable(trial[1].outcome()));
        OK(trial.knowsItIsMine(trial[0]));
        OK(trial.givesBack(trial[0]));
        OK(trial.isClean());
        OK(trial.takes(trial[1]));
    }

    void C11_manyWaitersOnOneConnection_data() { rows("C11", {Need::Exclusive, Need::SharedClient}); }
    void C11_manyWaitersOnOneConnection()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &arena = arenaOfRow();
        auto &client = arena.client(0);
        std::vector<std::unique_ptr<Trial>> locks;
        std::vector<Tally> tallies(4);
        Scope scope(m_loop);
        for (auto &tally : tallies) {
            locks.push_back(std::make_unique<Trial>(arena, recipeOfRow()));
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
        TRIAL(trial);
        OK(trial.takes(trial.join()));
        auto &other = trial.join();
        OK(trial.isRefused(other, after(50ms)));
        const auto taken = other.granted->error().message;
        const auto unreachable = errorWhenCutOff(trial);
        const auto word = trial.recipe.quorum ? u"nodes answered"_s : u"connect"_s;
        QVERIFY2(unreachable.contains(word, Qt::CaseInsensitive), qPrintable(unreachable));
        QVERIFY2(!taken.contains(word, Qt::CaseInsensitive), qPrintable(taken));
    }

    void C14_foreignNodesAreIgnored_data() { rows("C14", {Need::ZooKeeper}); }
    void C14_foreignNodesAreIgnored()
    {
        TRIAL(trial);
        auto &one = trial.join();
        auto &two = trial.join();
        OK(trial.takes(one)); // makes its directories
        OK(trial.givesBack(one));
        OK(trial.arena.addForeign(trial.name));
        OK(trial.takes(one));
        OK(trial.waits(two));
        OK(trial.givesBack(one));
        OK(trial.comesToHold(two));
        OK(trial.isHeldBy(two));
    }
};

LOCKSCOPE_TEST(TestContractWaiting)
#include "tst_contract_waiting.moc"
