// SPDX-License-Identifier: Apache-2.0
// D: holds that end by themselves, and how they are kept alive.
#include "fixture.h"
#include "tests/support/testmain.h"

using namespace lockscope::contract;

class TestContractLeases : public Fixture {
    Q_OBJECT

public:
    TestContractLeases() : Fixture('D') {}

private:
    std::map<QByteArray, std::vector<std::unique_ptr<TestCase>>> m_more; // of a scene with several locks per recipe

    // The first holder is cut off, the second waits, until it has it.
    QString cutOffAndWait()
    {
        for (auto *test : sceneTests())
            (*test)[0].client().cut();
        for (auto *test : sceneTests())
            test->problem = test->comesToHold((*test)[1]);
        for (auto *test : sceneTests())
            (*test)[0].client().mend();
        return {};
    }

private slots:
    void cleanupTestCase()
    {
        m_more.clear();
        endScene();
    }

    void D1_theTtlIsAsAsked_data() { rows("D1", {Need::Lease}); }
    void D1_theTtlIsAsAsked()
    {
        TRIAL(test);
        test.options.ttl = 7s;
        auto &one = test.join();
        OK(test.takes(one));
        const auto left = test.environment.leaseLeft(test.name);
        QVERIFY2(left && *left > 2s && *left <= 7s, qPrintable(QString::number(left.value_or(-1ms).count())));
        auto options = test.options;
        for (const auto span : {0ms, -5ms}) {
            options.ttl = span;
            const auto made = one.client().make(recipeOfRow().id, test.name, options, Random(1));
            QVERIFY(!made);
            QCOMPARE(made.error().code, ErrorCode::BadInput);
        }
    }

    // All at once: a holder is cut off, its lease runs out, another gets in, and the old one is back.
    void D2_theLeaseEndsForTheNext_data() { rows("D2", {Need::Lease, Need::Exclusive}, u"G6 is checked instead"_s); }
    void D2_theLeaseEndsForTheNext()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                auto &mortal = t.joinMortal();
                const QString wrong = t.takes(mortal);
                mortal.heed();
                t.options.ttl = 30s;
                return wrong + t.waits(t.join());
            },
            [this] { return cutOffAndWait(); });
        OK(test.problem);
        OK(test.isHeldBy(test[1]));
        EVENTUALLY(test[0].loss);
    }

    void D3_aLateReleaseFreesNobodyElse_data()
    {
        rows("D3", {Need::Lease, Need::Exclusive, Need::Record}, u"G6 is checked instead"_s);
    }
    void D3_aLateReleaseFreesNobodyElse()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                const QString wrong = t.takes(t.joinMortal());
                t.options.ttl = 30s;
                return wrong + t.waits(t.join());
            },
            [this] { return cutOffAndWait(); });
        OK(test.problem);
        EVENTUALLY(test[0].client().isConnected());
        OK(test.isNotHeldBy(test[0]));
        OK(test.isHeldBy(test[1]));
        OK(test.knowsItIsMine(test[1]));
        OK(test.givesBack(test[1]));
        OK(test.isClean());
    }

    // All at once: the client is gone for good.
    void D4_aDeadHoldersLockIsFree_data() { rows("D4", {Need::Lease, Need::Exclusive}, u"G6 is checked instead"_s); }
    void D4_aDeadHoldersLockIsFree()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene([](TestCase &t) { return t.takes(t.joinMortal()); },
                           [this] {
                               for (auto *t : sceneTests()) {
                                   (*t)[0].client().cut();
                                   t->contenders.front()->lock.reset(); // it can tell nobody
                               }
                               return QString();
                           });
        OK(test.problem);
        OK(test.takes(test.join()));
    }

    // All at once: many holders, several leases long.
    void D5_manyLeasesAreKept_data() { rows("D5", {Need::Renewed}); }
    void D5_manyLeasesAreKept()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [this](TestCase &t) {
                QString wrong;
                for (int i = 0; i < 8; ++i) {
                    auto &other =
                        m_more[t.recipe.id].emplace_back(std::make_unique<TestCase>(t.environment, t.recipe));
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
        OK(test.problem);
        for (auto &other : m_more[test.recipe.id]) {
            OK(other->isHeldBy((*other)[0]));
            OK(other->knowsItIsMine((*other)[0]));
            QVERIFY(!(*other)[0].loss);
        }
        m_more.erase(test.recipe.id);
    }

    // All at once: the server starts again, empty.
    void D6_aRestartedServerForgets_data() { rows("D6", {Need::Lease, Need::Exclusive}, u"G5 is checked instead"_s); }
    void D6_aRestartedServerForgets()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                t.options.ttl = 2s;
                return t.takes(t.join());
            },
            [this] {
                for (auto *environment : sceneEnvironments()) {
                    const auto restarted = environment->restart();
                    if (!restarted)
                        return restarted.error().message;
                }
                for (auto *t : sceneTests()) {
                    eventually([t] { return (*t)[0].client().isConnected(); });
                    t->problem = t->isNotHeldBy((*t)[0]);
                    t->options.ttl = 1s;
                    t->problem += t->takes(t->join());
                    (*t)[1].heed();
                }
                linger(1300ms);
                return QString();
            });
        OK(test.problem);
        if (!test.recipe.renewed)
            return; // it is over, as it should be
        auto &next = test[1];
        OK(test.isHeldBy(next));
        QVERIFY(!next.loss);
        OK(test.givesBack(next));
        OK(test.isClean());
    }

    // Tries and releases of other locks on the same client do not stop a lease from being kept.
    void D7_aBusyClientKeepsItsLeases_data() { rows("D7", {Need::Renewed}); }
    void D7_aBusyClientKeepsItsLeases()
    {
        TRIAL(test);
        auto &client = test.client(0);
        test.options.ttl = 2s;
        auto &steady = test.joinWith(client);
        steady.heed();
        OK(test.takes(steady));
        TestCase busy(test.environment, test.recipe);
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
        OK(test.isHeldBy(steady));
        OK(test.knowsItIsMine(steady));
        OK(test.givesBack(steady));
        OK(test.isClean());
    }

    // A lost lease is neither made again nor prolonged for whoever has the lock now.
    void D10_aLostLeaseIsNotProlonged_data() { rows("D10", {Need::Renewed, Need::Record, Need::Exclusive}); }
    void D10_aLostLeaseIsNotProlonged()
    {
        TRIAL(test);
        test.options.ttl = 900ms;
        auto &old = test.join();
        OK(test.takes(old));
        old.heed();
        QVERIFY(test.environment.takeAway(test.name, old.grant()));
        auto &next = test.joinMortal();
        OK(test.takes(next));
        next.client().cut(); // nobody prolongs this one
        EVENTUALLY(old.loss);
        auto &third = test.join();
        third.client().resetCounts();
        OK(test.takes(third));                    // its lease ended, and nobody else's renewal kept it
        if (test.recipe.counts.wakeUps != u"0"_s) // who does not poll asks no more than now and then
            QVERIFY2(third.client().requests() <= 20, third.client().spoken().constData());
    }

    void D11_aMissingLeaseIsNotRevived_data() { rows("D11", {Need::Renewed, Need::Record}); }
    void D11_aMissingLeaseIsNotRevived()
    {
        TRIAL(test);
        test.options.ttl = 600ms;
        auto &one = test.join();
        OK(test.takes(one));
        one.heed();
        QVERIFY(test.environment.takeAway(test.name, one.grant()));
        EVENTUALLY(one.loss); // it asked, and was told
        QCOMPARE(one.lock->holdCount(), 0);
        QVERIFY(test.claims().isEmpty());
        OK(test.isNotHeldBy(one));
    }

    // All at once: who holds works on past the first lease, who waits waits.
    void D12_theHolderOutlivesItsFirstLease_data() { rows("D12", {Need::Renewed, Need::Exclusive}); }
    void D12_theHolderOutlivesItsFirstLease()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                t.options.ttl = 1s;
                const QString wrong = t.takes(t.join());
                t[0].heed();
                return wrong + t.waits(t.join());
            },
            [] {
                linger(2300ms);
                return QString();
            });
        OK(test.problem);
        QVERIFY(!test[0].loss);
        QVERIFY(!test[1].granted);
        OK(test.isHeldBy(test[0]));
        OK(test.givesBack(test[0]));
        OK(test.comesToHold(test[1]));
    }

    void D13_aFreeLockHasNoLease_data() { rows("D13", {Need::Lease}); }
    void D13_aFreeLockHasNoLease()
    {
        TRIAL(test);
        auto &one = test.join();
        OK(test.takes(one));
        QVERIFY(test.environment.leaseLeft(test.name));
        OK(test.givesBack(one));
        QVERIFY(!test.environment.leaseLeft(test.name));
    }
};

LOCKSCOPE_TEST(TestContractLeases)
#include "tst_contract_leases.moc"
