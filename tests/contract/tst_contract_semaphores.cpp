// SPDX-License-Identifier: Apache-2.0
// F: locks with several permits.
#include "fixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::contract;

class TestContractSemaphores : public Fixture {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        OK(whatIsMissing("F"));
        OK(startArenas());
    }
    void cleanupTestCase() { endScene(); }
    void elsewhere_data() { notHereRows("F"); }
    void elsewhere()
    {
        QFETCH(QString, reason);
        if (!reason.isEmpty())
            QSKIP(qPrintable(reason));
    }

    void F1_neverMoreThanTheLimit_data() { rows("F1", {Need::Counted}); }
    void F1_neverMoreThanTheLimit()
    {
        TRIAL(trial);
        trial.options.limit = 3;
        for (int i = 0; i < 6; ++i)
            trial.join();
        Scope scope(m_loop);
        Tally tally;
        for (auto &contender : trial.contenders)
            scope.launch(contend(contender.get(), &m_loop, 3, &tally));
        EVENTUALLY(scope.isIdle());
        QVERIFY2(tally.failures.isEmpty(), qPrintable(tally.failures.join(u"; "_s)));
        QVERIFY(tally.most <= 3);
        QCOMPARE(tally.entered, 18);
        for (size_t i = 0; i < 3; ++i)
            OK(trial.takes(trial[i])); // and not fewer
        OK(trial.isRefused(trial[3]));
        for (size_t i = 0; i < 3; ++i)
            OK(trial.givesBack(trial[i]));
        OK(trial.isClean());
    }

    void F2_anyReleaseLetsTheNextIn_data() { rows("F2", {Need::Counted}); }
    void F2_anyReleaseLetsTheNextIn()
    {
        TRIAL(trial);
        trial.options.limit = 2;
        for (int i = 0; i < 2; ++i)
            OK(trial.takes(trial.join()));
        auto &third = trial.join();
        OK(trial.waits(third));
        OK(trial.givesBack(trial[0]));
        OK(trial.comesToHold(third));
        OK(trial.isHeldBy(third));
        OK(trial.isHeldBy(trial[1]));
    }

    void F4_noPermitsAreNoLock_data() { rows("F4", {Need::Counted}); }
    void F4_noPermitsAreNoLock()
    {
        TRIAL(trial);
        auto options = trial.options;
        for (const int limit : {0, -1}) {
            options.limit = limit;
            const auto made = trial.client(0).make(trial.recipe.id, trial.name, options, Random(1));
            QVERIFY(!made);
            QCOMPARE(made.error().code, ErrorCode::BadInput);
        }
    }

    void F5_clientsThatDisagree_data() { rows("F5", {Need::Counted}); }
    void F5_clientsThatDisagree()
    {
        TRIAL(trial);
        if (!trial.recipe.storesLimit)
            QSKIP("the limit is not stored on the server: the catalogue names it as a flaw");
        trial.options.limit = 2;
        OK(trial.takes(trial.join()));
        trial.options.limit = 3;
        auto &other = trial.join();
        other.acquire(soon());
        EVENTUALLY(other.granted);
        QVERIFY(!other.holds());
        QVERIFY2(other.granted->error().code == ErrorCode::BadInput || other.granted->error().code == ErrorCode::Refused,
                 qPrintable(other.outcome()));
        OK(trial.isHeldBy(trial[0]));
        OK(trial.givesBack(trial[0]));
        OK(trial.isClean());
    }

    void F6_onePermitEach_data() { rows("F6", {Need::Counted, Need::NotReentrant}); }
    void F6_onePermitEach()
    {
        TRIAL(trial);
        trial.options.limit = 2;
        auto &one = trial.join();
        OK(trial.takes(one));
        const auto before = trial.claims();
        one.acquire(soon());
        EVENTUALLY(one.granted);
        QVERIFY(!one.holds());
        QCOMPARE(one.granted->error().code, ErrorCode::BadInput);
        QCOMPARE(trial.claims(), before);
        OK(trial.takes(trial.join()));
        OK(trial.givesBack(one));
        OK(trial.isNotHeldBy(one));
        OK(trial.givesBack(trial[1]));
        OK(trial.isClean());
    }

    // All at once: one of two holders dies.
    void F7_aDeadHoldersPermitIsFree_data() { rows("F7", {Need::Counted, Need::Record}); }
    void F7_aDeadHoldersPermitIsFree()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                t.options.limit = 2;
                auto &mortal = t.joinMortal();
                QString wrong = t.takes(mortal);
                mortal.heed();
                t.options.ttl = 30s;
                wrong += t.takes(t.join());
                return wrong + t.waits(t.join());
            },
            [this] {
                for (auto *t : sceneTrials())
                    (*t)[0].client().cut();
                return QString();
            });
        OK(trial.problem);
        OK(trial.comesToHold(trial[2]));
        OK(trial.isHeldBy(trial[1]));
        OK(trial.isHeldBy(trial[2]));
        trial[0].client().mend();
        EVENTUALLY(trial[0].loss);
        OK(trial.isNotHeldBy(trial[0]));
        OK(trial.isHeldBy(trial[2]));
    }
};

LOCKSCOPE_TEST(TestContractSemaphores)
#include "tst_contract_semaphores.moc"
