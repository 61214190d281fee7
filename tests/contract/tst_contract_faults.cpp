// SPDX-License-Identifier: Apache-2.0
// G: what goes wrong on the way, and what is left of it.
#include "fixture.h"
#include "tests/support/testmain.h"

#include <set>

using namespace lockscope;
using namespace lockscope::contract;

class TestContractFaults : public Fixture {
    Q_OBJECT

    static constexpr int mostSteps = 20;

    // Restarts the servers of the scene once.
    QString restartAll()
    {
        for (auto *arena : sceneArenas()) {
            const auto restarted = arena->restart();
            if (!restarted)
                return restarted.error().message;
        }
        return {};
    }
    // One attempt to acquire whose n-th request goes wrong; whether it had so many.
    QString faultyAcquire(Trial &trial, int step, Fate fate, bool *isThrough)
    {
        auto &one = trial.join();
        auto &plan = one.client().plan;
        plan.at(step, fate);
        one.acquire(soon());
        if (!eventually([&] { return one.granted.has_value(); }))
            return u"never ends"_s;
        *isThrough = !plan.isOver();
        plan.forget();
        QString wrong;
        if (one.holds()) {
            wrong = trial.isHeldBy(one);
            wrong += trial.knowsItIsMine(one);
            wrong += trial.givesBack(one);
        }
        trial.contenders.pop_back();
        wrong += trial.isClean();
        return wrong.isEmpty() ? wrong : u"step %1: "_s.arg(step) + wrong;
    }

private slots:
    void initTestCase()
    {
        OK(whatIsMissing("G"));
        reapsContainersSoon = true;
        OK(startArenas());
    }
    void cleanupTestCase() { endScene(); }
    void elsewhere_data() { notHereRows("G"); }
    void elsewhere()
    {
        QFETCH(QString, reason);
        if (!reason.isEmpty())
            QSKIP(qPrintable(reason));
    }

    // Each request of an acquire is lost in turn, each reply in turn: the replies also of the
    // first time, when directories are made.
    void G1_troubleWhileAcquiringLeavesNothing_data() { rows("G1", {Need::Outlives}); }
    void G1_troubleWhileAcquiringLeavesNothing()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        for (const auto fate : {Fate::LoseReply, Fate::LoseRequest}) {
            bool isThrough = false;
            auto trial = std::make_unique<Trial>(arenaOfRow(), recipeOfRow());
            for (int step = 1; step < mostSteps && !isThrough; ++step) {
                trial->options.ttl = 3s;
                OK(faultyAcquire(*trial, step, fate, &isThrough));
                if (fate == Fate::LoseReply) // from nothing: the directories are made again
                    trial = std::make_unique<Trial>(arenaOfRow(), recipeOfRow());
            }
            OK(trial->takes(trial->join())); // it can be had
            QVERIFY(isThrough);
        }
    }

    void G3_aWaiterTakenAwayComesBack_data() { rows("G3", {Need::Fair, Need::ZooKeeper}); }
    void G3_aWaiterTakenAwayComesBack()
    {
        TRIAL(trial);
        OK(trial.takes(trial.join()));
        const auto before = trial.claims();
        OK(trial.waits(trial.join()));
        bool isTaken = false;
        for (const auto &claim : trial.claims()) {
            if (before.contains(claim))
                continue;
            const bool isOurDoing = trial.arena.takeAwayClaim(claim);
            isTaken = isTaken || isOurDoing;
            // Whoever stands in two queues leaves the one when it is taken out of the other.
            QVERIFY(isOurDoing || !trial.claims().contains(claim));
        }
        QVERIFY(isTaken);
        auto &third = trial.join(); // somebody else wants it, too, and may come first now
        third.acquire();
        OK(trial.givesBack(trial[0]));
        EVENTUALLY(trial[1].holds() || third.holds());
        const bool isThird = third.holds();
        OK(trial.givesBack(isThird ? third : trial[1]));
        OK(trial.comesToHold(isThird ? trial[1] : third));
        OK(trial.givesBack(isThird ? trial[1] : third));
        OK(trial.isClean()); // no orphan
    }

    // All at once: the server is gone between the steps of an acquire, and back.
    void G4_aServerLostOnTheWay_data() { rows("G4", {Need::Exclusive, Need::Outlives}); }
    void G4_aServerLostOnTheWay()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                for (int i = 0; i < 3; ++i)
                    t.join();
                return QString();
            },
            [this] {
                for (auto *t : sceneTrials()) {
                    for (auto &contender : t->contenders)
                        contender->acquire();
                }
                return restartAll(); // while requests are under way
            });
        OK(trial.problem);
        std::set<Contender *> waiting;
        for (auto &contender : trial.contenders)
            waiting.insert(contender.get());
        while (!waiting.empty()) {
            Contender *next = nullptr;
            const bool found = eventually([&] {
                for (auto *contender : waiting)
                    next = contender->granted ? contender : next;
                return next != nullptr;
            });
            QVERIFY(found);
            OK(trial.comesToHold(*next));
            next->release();
            EVENTUALLY(next->released);
            if (!*next->released) { // a lease may be gone with the server's data
                QVERIFY2(trial.recipe.endsBy != recipes::EndsBy::Session, qPrintable(next->released->error().message));
                QCOMPARE(next->released->error().code, ErrorCode::NotHeld);
            }
            waiting.erase(next);
        }
        OK(trial.isClean());
    }

    // All at once: one holds, one waits, the server starts again.
    void G5_aRestartBetweenHolderAndWaiter_data() { rows("G5", {Need::Exclusive, Need::Outlives}); }
    void G5_aRestartBetweenHolderAndWaiter()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                t.options.ttl = 30s; // until its row has its turn
                const QString wrong = t.takes(t.join());
                return wrong + t.waits(t.join());
            },
            [this] { return restartAll(); });
        OK(trial.problem);
        EVENTUALLY(trial[0].client().isConnected() && trial[1].client().isConnected());
        if (trial.recipe.backend == BackendKind::ZooKeeper) {
            OK(trial.isHeldBy(trial[0])); // its session outlived the server
            QVERIFY(!trial[1].granted);
            OK(trial.givesBack(trial[0]));
        } else {
            trial[0].release(); // what it held may be gone with the data: it ends in any case
            EVENTUALLY(trial[0].released);
        }
        OK(trial.comesToHold(trial[1]));
        OK(trial.isHeldBy(trial[1]));
        OK(trial.givesBack(trial[1]));
        OK(trial.isClean());
    }

    // All at once: the holder's session ends while another waits.
    void G6_anEndedSessionLetsTheNextIn_data()
    {
        rows("G6", {Need::Session, Need::Exclusive}, u"D2, D3 and D4 are checked instead"_s);
    }
    void G6_anEndedSessionLetsTheNextIn()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                auto &mortal = t.joinMortal();
                const QString wrong = t.takes(mortal);
                mortal.heed();
                return wrong + t.waits(t.join());
            },
            [this] {
                for (auto *t : sceneTrials())
                    (*t)[0].client().cut();
                for (auto *t : sceneTrials())
                    t->problem = t->comesToHold((*t)[1]);
                for (auto *t : sceneTrials())
                    (*t)[0].client().mend();
                return QString();
            });
        OK(trial.problem);
        OK(trial.isHeldBy(trial[1]));
        EVENTUALLY(trial[0].loss);
        // On ZooKeeper it does not wait to be told: cut off it stops believing before its session can be over.
        const bool isZooKeeper = trial.recipe.backend == BackendKind::ZooKeeper;
        QCOMPARE(*trial[0].loss, isZooKeeper ? recipes::Loss::CutOff : recipes::Loss::SessionOver);
        OK(trial.isNotHeldBy(trial[0]));
        OK(trial.isHeldBy(trial[1]));
        OK(trial.givesBack(trial[1]));
        OK(trial.isClean());
    }

    // All at once: the client closes with its locks: in good order, or not.
    void G8_aClosedClientsLocksAreFree_data() { rows("G8", {}); }
    void G8_aClosedClientsLocksAreFree()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                const QString wrong = t.takes(t.joinMortal());
                return wrong + t.isHeldBy(t[0]);
            },
            [this] {
                for (auto *t : sceneTrials())
                    t->contenders.clear();
                for (auto *arena : sceneArenas())
                    arena->bury();
                return QString();
            });
        OK(trial.problem);
        OK(trial.isClean());
        OK(trial.takes(trial.join()));
    }

    void G9_noHoldIsForEver_data() { rows("G9", {}); }
    void G9_noHoldIsForEver()
    {
        TRIAL(trial);
        auto &one = trial.join();
        OK(trial.takes(one));
        OK(trial.arena.whatIsForEver(trial.name, one.grant()));
    }

    void G10_emptyDirectoriesAreTheServersToRemove_data() { rows("G10", {Need::Containers}); }
    // All at once: the server of this suite looks for empty containers all the time.
    void G10_emptyDirectoriesAreTheServersToRemove()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                const QString wrong = t.takes(t.join());
                return wrong + t.givesBack(t[0]);
            },
            [] { return QString(); });
        OK(trial.problem);
        EVENTUALLY(!trial.arena.directories(trial.name).contains("orders"));
    }

    void G12_unreachableIsAnErrorInTime_data() { rows("G12", {}); }
    void G12_unreachableIsAnErrorInTime()
    {
        TRIAL(trial);
        auto &one = trial.joinMortal();
        one.client().cut();
        EVENTUALLY(!one.client().isConnected());
        one.acquire(after(200ms));
        EVENTUALLY(one.granted);
        QVERIFY(!one.holds());
        const auto code = one.granted->error().code;
        QVERIFY2(code == ErrorCode::TimedOut || code == ErrorCode::NotConnected || code == ErrorCode::SessionExpired,
                 qPrintable(one.outcome()));
        OK(trial.isClean());
    }

    void G16_tokensGrow_data() { rows("G16", {Need::Token}); }
    void G16_tokensGrow()
    {
        TRIAL(trial);
        trial.join();
        trial.join();
        std::optional<qint64> last;
        for (size_t i = 0; i < 6; ++i) {
            auto &one = trial[i % 2];
            OK(trial.takes(one));
            QVERIFY(one.grant().fencingToken);
            QVERIFY(!last || *one.grant().fencingToken > *last);
            last = one.grant().fencingToken;
            OK(trial.givesBack(one));
        }
    }

    void G17_takenAwayIsFree_data() { rows("G17", {Need::Record, Need::Exclusive}); }
    void G17_takenAwayIsFree()
    {
        TRIAL(trial);
        trial.options.ttl = 1s; // who waits for a message that never comes waits no longer
        auto &old = trial.join();
        auto &next = trial.join();
        OK(trial.takes(old));
        OK(trial.waits(next));
        QVERIFY(trial.arena.takeAway(trial.name, old.grant()));
        OK(trial.comesToHold(next));
        OK(trial.isHeldBy(next));
        OK(trial.knowsItIsMine(old, false));
    }
};

LOCKSCOPE_TEST(TestContractFaults)
#include "tst_contract_faults.moc"
