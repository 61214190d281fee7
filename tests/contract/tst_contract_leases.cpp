// SPDX-License-Identifier: Apache-2.0
// D: holds that end by themselves, and how they are kept alive.
#include "fixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::contract;

class TestContractLeases : public Fixture {
    Q_OBJECT

    std::map<QByteArray, std::vector<std::unique_ptr<Trial>>> m_more; // of a scene with several locks per recipe

    // The first holder is cut off, the second waits, until it has it.
    QString cutOffAndWait()
    {
        for (auto *trial : sceneTrials())
            (*trial)[0].client().cut();
        for (auto *trial : sceneTrials())
            trial->problem = trial->comesToHold((*trial)[1]);
        for (auto *trial : sceneTrials())
            (*trial)[0].client().mend();
        return {};
    }

private slots:
    void initTestCase()
    {
        OK(whatIsMissing("D"));
        OK(startArenas());
    }
    void cleanupTestCase()
    {
        m_more.clear();
        endScene();
    }
    void elsewhere_data() { notHereRows("D"); }
    void elsewhere()
    {
        QFETCH(QString, reason);
        if (!reason.isEmpty())
            QSKIP(qPrintable(reason));
    }

    void D1_theTtlIsAsAsked_data() { rows("D1", {Need::Lease}); }
    void D1_theTtlIsAsAsked()
    {
        TRIAL(trial);
        trial.options.ttl = 7s;
        auto &one = trial.join();
        OK(trial.takes(one));
        const auto left = trial.arena.leaseLeft(trial.name);
        QVERIFY2(left && *left > 2s && *left <= 7s, qPrintable(QString::number(left.value_or(-1ms).count())));
        auto options = trial.options;
        for (const auto span : {0ms, -5ms}) {
            options.ttl = span;
            const auto made = one.client().make(recipeOfRow().id, trial.name, options, Random(1));
            QVERIFY(!made);
            QCOMPARE(made.error().code, ErrorCode::BadInput);
        }
    }

    // All at once: a holder is cut off, its lease runs out, another gets in, and the old one is back.
    void D2_theLeaseEndsForTheNext_data() { rows("D2", {Need::Lease, Need::Exclusive}, u"G6 is checked instead"_s); }
    void D2_theLeaseEndsForTheNext()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                auto &mortal = t.joinMortal();
                const QString wrong = t.takes(mortal);
                mortal.heed();
                t.options.ttl = 30s;
                return wrong + t.waits(t.join());
            },
            [this] { return cutOffAndWait(); });
        OK(trial.problem);
        OK(trial.isHeldBy(trial[1]));
        EVENTUALLY(trial[0].loss);
    }

    void D3_aLateReleaseFreesNobodyElse_data()
    {
        rows("D3", {Need::Lease, Need::Exclusive, Need::Record}, u"G6 is checked instead"_s);
    }
    void D3_aLateReleaseFreesNobodyElse()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                const QString wrong = t.takes(t.joinMortal());
                t.options.ttl = 30s;
                return wrong + t.waits(t.join());
            },
            [this] { return cutOffAndWait(); });
        OK(trial.problem);
        EVENTUALLY(trial[0].client().isConnected());
        OK(trial.isNotHeldBy(trial[0]));
        OK(trial.isHeldBy(trial[1]));
        OK(trial.knowsItIsMine(trial[1]));
        OK(trial.givesBack(trial[1]));
        OK(trial.isClean());
    }

    // All at once: the client is gone for good.
    void D4_aDeadHoldersLockIsFree_data() { rows("D4", {Need::Lease, Need::Exclusive}, u"G6 is checked instead"_s); }
    void D4_aDeadHoldersLockIsFree()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene([](Trial &t) { return t.takes(t.joinMortal()); },
                            [this] {
                                for (auto *t : sceneTrials()) {
                                    (*t)[0].client().cut();
                                    t->contenders.front()->lock.reset(); // it can tell nobody
                                }
                                return QString();
                            });
        OK(trial.problem);
        OK(trial.takes(trial.join()));
    }

    // All at once: many holders, several leases long.
    void D5_manyLeasesAreKept_data() { rows("D5", {Need::Renewed}); }
    void D5_manyLeasesAreKept()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [this](Trial &t) {
                QString wrong;
                for (int i = 0; i < 8; ++i) {
                    auto &other = m_more[t.recipe.id].emplace_back(std::make_unique<Trial>(t.arena, t.recipe));
                    other->options.ttl = 1200ms;
                    wrong += other->takes(other->join());
                    other->contenders.back()->heed();
                }
                return wrong;
            },
            [] {
                linger(2700ms);
                return QString();
            });
        OK(trial.problem);
        for (auto &other : m_more[trial.recipe.id]) {
            OK(other->isHeldBy((*other)[0]));
            OK(other->knowsItIsMine((*other)[0]));
            QVERIFY(!(*other)[0].loss);
        }
        m_more.erase(trial.recipe.id);
    }

    // All at once: the server starts again, empty.
    void D6_aRestartedServerForgets_data() { rows("D6", {Need::Lease, Need::Exclusive}, u"G5 is checked instead"_s); }
    void D6_aRestartedServerForgets()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                t.options.ttl = 2s;
                return t.takes(t.join());
            },
            [this] {
                for (auto *arena : sceneArenas()) {
                    const auto restarted = arena->restart();
                    if (!restarted)
                        return restarted.error().message;
                }
                for (auto *t : sceneTrials()) {
                    eventually([t] { return (*t)[0].client().isConnected(); });
                    t->problem = t->isNotHeldBy((*t)[0]);
                    t->options.ttl = 1s;
                    t->problem += t->takes(t->join());
                    (*t)[1].heed();
                }
                linger(1300ms);
                return QString();
            });
        OK(trial.problem);
        if (!trial.recipe.renewed)
            return; // it is over, as it should be
        auto &next = trial[1];
        OK(trial.isHeldBy(next));
        QVERIFY(!next.loss);
        OK(trial.givesBack(next));
        OK(trial.isClean());
    }

    // Tries and releases of other locks on the same client do not stop a lease from being kept.
    void D7_aBusyClientKeepsItsLeases_data() { rows("D7", {Need::Renewed}); }
    void D7_aBusyClientKeepsItsLeases()
    {
        TRIAL(trial);
        auto &client = trial.client(0);
        trial.options.ttl = 2s;
        auto &steady = trial.joinWith(client);
        steady.heed();
        OK(trial.takes(steady));
        Trial busy(trial.arena, trial.recipe);
        busy.options.ttl = 2s;
        for (int i = 0; i < 3; ++i)
            busy.joinWith(client);
        const auto began = m_loop.now();
        while (m_loop.now() - began < 2100ms) {
            for (auto &contender : busy.contenders)
                contender->tryOnce();
            for (auto &contender : busy.contenders) {
                EVENTUALLY(contender->granted);
                if (contender->holds())
                    OK(busy.givesBack(*contender));
            }
        }
        QVERIFY(!steady.loss);
        OK(trial.isHeldBy(steady));
        OK(trial.knowsItIsMine(steady));
        OK(trial.givesBack(steady));
        OK(trial.isClean());
    }

    // A lost lease is neither made again nor prolonged for whoever has the lock now.
    void D10_aLostLeaseIsNotProlonged_data() { rows("D10", {Need::Renewed, Need::Record, Need::Exclusive}); }
    void D10_aLostLeaseIsNotProlonged()
    {
        TRIAL(trial);
        trial.options.ttl = 900ms;
        auto &old = trial.join();
        OK(trial.takes(old));
        old.heed();
        QVERIFY(trial.arena.takeAway(trial.name, old.grant()));
        auto &next = trial.joinMortal();
        OK(trial.takes(next));
        next.client().cut(); // nobody prolongs this one
        EVENTUALLY(old.loss);
        auto &third = trial.join();
        third.client().resetCounts();
        OK(trial.takes(third)); // its lease ended, and nobody else's renewal kept it
        if (trial.recipe.wakeupsPerRelease != u"0"_s) // who does not poll asks no more than now and then
            QVERIFY2(third.client().requests() <= 20, third.client().spoken().constData());
    }

    void D11_aMissingLeaseIsNotRevived_data() { rows("D11", {Need::Renewed, Need::Record}); }
    void D11_aMissingLeaseIsNotRevived()
    {
        TRIAL(trial);
        trial.options.ttl = 600ms;
        auto &one = trial.join();
        OK(trial.takes(one));
        one.heed();
        QVERIFY(trial.arena.takeAway(trial.name, one.grant()));
        EVENTUALLY(one.loss); // it asked, and was told
        QCOMPARE(one.lock->holdCount(), 0);
        QVERIFY(trial.claims().isEmpty());
        OK(trial.isNotHeldBy(one));
    }

    // All at once: who holds works on past the first lease, who waits waits.
    void D12_theHolderOutlivesItsFirstLease_data() { rows("D12", {Need::Renewed, Need::Exclusive}); }
    void D12_theHolderOutlivesItsFirstLease()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                t.options.ttl = 1s;
                const QString wrong = t.takes(t.join());
                t[0].heed();
                return wrong + t.waits(t.join());
            },
            [] {
                linger(2300ms);
                return QString();
            });
        OK(trial.problem);
        QVERIFY(!trial[0].loss);
        QVERIFY(!trial[1].granted);
        OK(trial.isHeldBy(trial[0]));
        OK(trial.givesBack(trial[0]));
        OK(trial.comesToHold(trial[1]));
    }

    void D13_aFreeLockHasNoLease_data() { rows("D13", {Need::Lease}); }
    void D13_aFreeLockHasNoLease()
    {
        TRIAL(trial);
        auto &one = trial.join();
        OK(trial.takes(one));
        QVERIFY(trial.arena.leaseLeft(trial.name));
        OK(trial.givesBack(one));
        QVERIFY(!trial.arena.leaseLeft(trial.name));
    }
};

LOCKSCOPE_TEST(TestContractLeases)
#include "tst_contract_leases.moc"
