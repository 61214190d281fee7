// SPDX-License-Identifier: Apache-2.0
// F: locks with several permits.
#include "fixture.h"
#include "tests/support/testmain.h"

using namespace lockscope::contract;

class TestContractSemaphores : public Fixture {
    Q_OBJECT

public:
    TestContractSemaphores() : Fixture('F') {}

private slots:
    void F1_neverMoreThanTheLimit_data() { rows("F1", {Need::Counted}); }
    void F1_neverMoreThanTheLimit()
    {
        TRIAL(test);
        test.options.limit = 3;
        for (int i = 0; i < 6; ++i)
            test.join();
        Scope scope(m_loop);
        Tally tally;
        for (auto &contender : test.contenders)
            scope.launch(contend(contender.get(), &m_loop, 3, &tally));
        EVENTUALLY(scope.isIdle());
        QVERIFY2(tally.failures.isEmpty(), qPrintable(tally.failures.join(u"; "_s)));
        QVERIFY(tally.most <= 3);
        QCOMPARE(tally.entered, 18);
        for (size_t i = 0; i < 3; ++i)
            OK(test.takes(test[i])); // and not fewer
        OK(test.isRefused(test[3]));
        for (size_t i = 0; i < 3; ++i)
            OK(test.givesBack(test[i]));
        OK(test.isClean());
    }

    void F2_anyReleaseLetsTheNextIn_data() { rows("F2", {Need::Counted}); }
    void F2_anyReleaseLetsTheNextIn()
    {
        TRIAL(test);
        test.options.limit = 2;
        for (int i = 0; i < 2; ++i)
            OK(test.takes(test.join()));
        auto &third = test.join();
        OK(test.waits(third));
        OK(test.givesBack(test[0]));
        OK(test.comesToHold(third));
        OK(test.isHeldBy(third));
        OK(test.isHeldBy(test[1]));
    }

    void F4_noPermitsAreNoLock_data() { rows("F4", {Need::Counted}); }
    void F4_noPermitsAreNoLock()
    {
        TRIAL(test);
        auto options = test.options;
        for (const int limit : {0, -1}) {
            options.limit = limit;
            const auto made = test.client(0).make(test.recipe.id, test.name, options, Random(1));
            QVERIFY(!made);
            QCOMPARE(made.error().code, ErrorCode::BadInput);
        }
    }

    void F5_clientsThatDisagree_data() { rows("F5", {Need::Counted}); }
    void F5_clientsThatDisagree()
    {
        TRIAL(test);
        if (!test.recipe.storesLimit)
            QSKIP("the limit is not stored on the server: the catalogue names it as a flaw");
        test.options.limit = 2;
        OK(test.takes(test.join()));
        test.options.limit = 3;
        auto &other = test.join();
        other.acquire(soon());
        EVENTUALLY(other.granted);
        QVERIFY(!other.holds());
        QVERIFY2(other.granted->error().code == ErrorCode::BadInput
                     || other.granted->error().code == ErrorCode::Refused,
                 qPrintable(other.outcome()));
        OK(test.isHeldBy(test[0]));
        OK(test.givesBack(test[0]));
        OK(test.isClean());
    }

    void F6_onePermitEach_data() { rows("F6", {Need::Counted, Need::NotReentrant}); }
    void F6_onePermitEach()
    {
        TRIAL(test);
        test.options.limit = 2;
        auto &one = test.join();
        OK(test.takes(one));
        const auto before = test.claims();
        one.acquire(soon());
        EVENTUALLY(one.granted);
        QVERIFY(!one.holds());
        QCOMPARE(one.granted->error().code, ErrorCode::BadInput);
        QCOMPARE(test.claims(), before);
        OK(test.takes(test.join()));
        OK(test.givesBack(one));
        OK(test.isNotHeldBy(one));
        OK(test.givesBack(test[1]));
        OK(test.isClean());
    }

    // All at once: one of two holders dies.
    void F7_aDeadHoldersPermitIsFree_data() { rows("F7", {Need::Counted, Need::Record}); }
    void F7_aDeadHoldersPermitIsFree()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                t.options.limit = 2;
                auto &mortal = t.joinMortal();
                QString wrong = t.takes(mortal);
                mortal.heed();
                t.options.ttl = 30s;
                wrong += t.takes(t.join());
                return wrong + t.waits(t.join());
            },
            [this] {
                for (auto *t : sceneTests())
                    (*t)[0].client().cut();
                return QString();
            });
        OK(test.problem);
        OK(test.comesToHold(test[2]));
        OK(test.isHeldBy(test[1]));
        OK(test.isHeldBy(test[2]));
        test[0].client().mend();
        EVENTUALLY(test[0].loss);
        OK(test.isNotHeldBy(test[0]));
        OK(test.isHeldBy(test[2]));
    }
};

LOCKSCOPE_TEST(TestContractSemaphores)
#include "tst_contract_semaphores.moc"
