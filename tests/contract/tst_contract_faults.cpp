// SPDX-License-Identifier: Apache-2.0
// G: what goes wrong on the way, and what is left of it.
#include "fixture.h"
#include "tests/support/testmain.h"

#include <set>

using namespace lockscope::contract;

class TestContractFaults : public Fixture {
    Q_OBJECT

public:
    TestContractFaults() : Fixture('G') { reapsContainersSoon = true; }

private:
    static constexpr int mostSteps = 20;

    // Restarts the servers of the scene once.
    QString restartAll()
    {
        for (auto *environment : sceneEnvironments()) {
            const auto restarted = environment->restart();
            if (!restarted)
                return restarted.error().message;
        }
        return {};
    }
    // One attempt to acquire whose n-th request goes wrong; whether it had so many.
    QString faultyAcquire(TestCase &test, int step, RequestFault fate, bool *isThrough)
    {
        auto &one = test.join();
        auto &plan = one.client().plan;
        plan.at(step, fate);
        one.acquire(soon());
        if (!eventually([&] { return one.granted.has_value(); }))
            return u"never ends"_s;
        *isThrough = !plan.isOver();
        plan.forget();
        QString wrong;
        if (one.holds()) {
            wrong = test.isHeldBy(one);
            wrong += test.knowsItIsMine(one);
            wrong += test.givesBack(one);
        }
        test.contenders.pop_back();
        wrong += test.isClean();
        return wrong.isEmpty() ? wrong : u"step %1: "_s.arg(step) + wrong;
    }

private slots:
    // Each request of an acquire is lost in turn, each reply in turn: the replies also of the
    // first time, when directories are made.
    void G1_troubleWhileAcquiringLeavesNothing_data() { rows("G1", {Need::Outlives}); }
    void G1_troubleWhileAcquiringLeavesNothing()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        for (const auto fate : {RequestFault::LoseReply, RequestFault::LoseRequest}) {
            bool isThrough = false;
            auto test = std::make_unique<TestCase>(environmentOfRow(), recipeOfRow());
            for (int step = 1; step < mostSteps && !isThrough; ++step) {
                test->options.ttl = 3s;
                OK(faultyAcquire(*test, step, fate, &isThrough));
                if (fate == RequestFault::LoseReply) // from nothing: the directories are made again
                    test = std::make_unique<TestCase>(environmentOfRow(), recipeOfRow());
            }
            OK(test->takes(test->join())); // it can be had
            QVERIFY(isThrough);
        }
    }

    void G3_aWaiterTakenAwayComesBack_data() { rows("G3", {Need::Fair, Need::ZooKeeper}); }
    void G3_aWaiterTakenAwayComesBack()
    {
        TRIAL(test);
        OK(test.takes(test.join()));
        const auto before = test.claims();
        OK(test.waits(test.join()));
        bool isTaken = false;
        for (const auto &claim : test.claims()) {
            if (before.contains(claim))
                continue;
            const bool isOurDoing = test.environment.takeAwayClaim(claim);
            isTaken = isTaken || isOurDoing;
            // Whoever stands in two queues leaves the one when it is taken out of the other.
            QVERIFY(isOurDoing || !test.claims().contains(claim));
        }
        QVERIFY(isTaken);
        auto &third = test.join(); // somebody else wants it, too, and may come first now
        third.acquire();
        OK(test.givesBack(test[0]));
        EVENTUALLY(test[1].holds() || third.holds());
        const bool isThird = third.holds();
        OK(test.givesBack(isThird ? third : test[1]));
        OK(test.comesToHold(isThird ? test[1] : third));
        OK(test.givesBack(isThird ? test[1] : third));
        OK(test.isClean()); // no orphan
    }

    // All at once: the server is gone between the steps of an acquire, and back.
    void G4_aServerLostOnTheWay_data() { rows("G4", {Need::Exclusive, Need::Outlives}); }
    void G4_aServerLostOnTheWay()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                for (int i = 0; i < 3; ++i)
                    t.join();
                return QString();
            },
            [this] {
                for (auto *t : sceneTests()) {
                    for (auto &contender : t->contenders)
                        contender->acquire();
                }
                return restartAll(); // while requests are under way
            });
        OK(test.problem);
        std::set<Contender *> waiting;
        for (auto &contender : test.contenders)
            waiting.insert(contender.get());
        while (!waiting.empty()) {
            Contender *next = nullptr;
            const bool found = eventually([&] {
                for (auto *contender : waiting)
                    next = contender->granted ? contender : next;
                return next != nullptr;
            });
            QVERIFY(found);
            OK(test.comesToHold(*next));
            next->release();
            EVENTUALLY(next->released);
            if (!*next->released) { // a lease may be gone with the server's data
                QVERIFY2(test.recipe.endsBy != recipes::EndsBy::Session, qPrintable(next->released->error().message));
                QCOMPARE(next->released->error().code, ErrorCode::NotHeld);
            }
            waiting.erase(next);
        }
        OK(test.isClean());
    }

    // All at once: one holds, one waits, the server starts again.
    void G5_aRestartBetweenHolderAndWaiter_data() { rows("G5", {Need::Exclusive, Need::Outlives}); }
    void G5_aRestartBetweenHolderAndWaiter()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                t.options.ttl = 30s; // until its row has its turn
                const QString wrong = t.takes(t.join());
                return wrong + t.waits(t.join());
            },
            [this] { return restartAll(); });
        OK(test.problem);
        EVENTUALLY(test[0].client().isConnected() && test[1].client().isConnected());
        if (test.recipe.backend == BackendKind::ZooKeeper) {
            OK(test.isHeldBy(test[0])); // its session outlived the server
            QVERIFY(!test[1].granted);
            OK(test.givesBack(test[0]));
        } else {
            test[0].release(); // what it held may be gone with the data: it ends in any case
            EVENTUALLY(test[0].released);
        }
        OK(test.comesToHold(test[1]));
        OK(test.isHeldBy(test[1]));
        OK(test.givesBack(test[1]));
        OK(test.isClean());
    }

    // All at once: the holder's session ends while another waits.
    void G6_anEndedSessionLetsTheNextIn_data()
    {
        rows("G6", {Need::Session, Need::Exclusive}, u"D2, D3 and D4 are checked instead"_s);
    }
    void G6_anEndedSessionLetsTheNextIn()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                auto &mortal = t.joinMortal();
                const QString wrong = t.takes(mortal);
                mortal.heed();
                return wrong + t.waits(t.join());
            },
            [this] {
                for (auto *t : sceneTests())
                    (*t)[0].client().cut();
                for (auto *t : sceneTests())
                    t->problem = t->comesToHold((*t)[1]);
                for (auto *t : sceneTests())
                    (*t)[0].client().mend();
                return QString();
            });
        OK(test.problem);
        OK(test.isHeldBy(test[1]));
        EVENTUALLY(test[0].loss);
        // On ZooKeeper it does not wait to be told: cut off it stops believing before its session can be over.
        const bool isZooKeeper = test.recipe.backend == BackendKind::ZooKeeper;
        QCOMPARE(*test[0].loss, isZooKeeper ? recipes::Loss::CutOff : recipes::Loss::SessionOver);
        OK(test.isNotHeldBy(test[0]));
        OK(test.isHeldBy(test[1]));
        OK(test.givesBack(test[1]));
        OK(test.isClean());
    }

    // All at once: the client closes with its locks: in good order, or not.
    void G8_aClosedClientsLocksAreFree_data() { rows("G8", {}); }
    void G8_aClosedClientsLocksAreFree()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                const QString wrong = t.takes(t.joinMortal());
                return wrong + t.isHeldBy(t[0]);
            },
            [this] {
                for (auto *t : sceneTests())
                    t->contenders.clear();
                for (auto *environment : sceneEnvironments())
                    environment->bury();
                return QString();
            });
        OK(test.problem);
        OK(test.isClean());
        OK(test.takes(test.join()));
    }

    void G9_noHoldIsForEver_data() { rows("G9", {}); }
    void G9_noHoldIsForEver()
    {
        TRIAL(test);
        auto &one = test.join();
        OK(test.takes(one));
        OK(test.environment.whatIsForEver(test.name, one.grant()));
    }

    void G10_emptyDirectoriesAreTheServersToRemove_data() { rows("G10", {Need::Containers}); }
    // All at once: the server of this suite looks for empty containers all the time.
    void G10_emptyDirectoriesAreTheServersToRemove()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                const QString wrong = t.takes(t.join());
                return wrong + t.givesBack(t[0]);
            },
            [] { return QString(); });
        OK(test.problem);
        EVENTUALLY(!test.environment.directories(test.name).contains("orders"));
    }

    void G12_unreachableIsAnErrorInTime_data() { rows("G12", {}); }
    void G12_unreachableIsAnErrorInTime()
    {
        TRIAL(test);
        auto &one = test.joinMortal();
        one.client().cut();
        EVENTUALLY(!one.client().isConnected());
        one.acquire(after(200ms));
        EVENTUALLY(one.granted);
        QVERIFY(!one.holds());
        const auto code = one.granted->error().code;
        QVERIFY2(code == ErrorCode::TimedOut || code == ErrorCode::NotConnected || code == ErrorCode::SessionExpired,
                 qPrintable(one.outcome()));
        OK(test.isClean());
    }

    void G16_tokensGrow_data() { rows("G16", {Need::Token}); }
    void G16_tokensGrow()
    {
        TRIAL(test);
        test.join();
        test.join();
        std::optional<qint64> last;
        for (size_t i = 0; i < 6; ++i) {
            auto &one = test[i % 2];
            OK(test.takes(one));
            QVERIFY(one.grant().fencingToken);
            QVERIFY(!last || *one.grant().fencingToken > *last);
            last = one.grant().fencingToken;
            OK(test.givesBack(one));
        }
    }

    void G17_takenAwayIsFree_data() { rows("G17", {Need::Record, Need::Exclusive}); }
    void G17_takenAwayIsFree()
    {
        TRIAL(test);
        test.options.ttl = 1s; // who waits for a message that never comes waits no longer
        auto &old = test.join();
        auto &next = test.join();
        OK(test.takes(old));
        OK(test.waits(next));
        QVERIFY(test.environment.takeAway(test.name, old.grant()));
        OK(test.comesToHold(next));
        OK(test.isHeldBy(next));
        OK(test.knowsItIsMine(old, false));
    }
};

LOCKSCOPE_TEST(TestContractFaults)
#include "tst_contract_faults.moc"
