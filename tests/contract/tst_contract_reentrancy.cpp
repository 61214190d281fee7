// SPDX-License-Identifier: Apache-2.0
// B: holding it more than once.
#include "fixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::contract;

class TestContractReentrancy : public Fixture {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        OK(whatIsMissing("B"));
        OK(startArenas());
    }
    void cleanupTestCase() { endScene(); }

    void B1_freeAfterAsManyReleases_data() { rows("B1", {Need::Reentrant}, u"B4 is checked instead"_s); }
    void B1_freeAfterAsManyReleases()
    {
        TRIAL(trial);
        auto &one = trial.join();
        for (int i = 0; i < 3; ++i)
            OK(trial.takes(one));
        for (int i = 0; i < 3; ++i) {
            OK(trial.isHeldBy(one));
            OK(trial.givesBack(one));
        }
        OK(trial.isClean());
        OK(trial.isNotHeldBy(one));
    }

    void B2_othersStayOut_data() { rows("B2", {Need::Reentrant}, u"B4 is checked instead"_s); }
    void B2_othersStayOut()
    {
        TRIAL(trial);
        auto &one = trial.join();
        auto &two = trial.join();
        OK(trial.takes(one));
        OK(trial.takes(one));
        OK(trial.isRefused(two));
        OK(trial.givesBack(one));
        OK(trial.isRefused(two));
        OK(trial.knowsItIsMine(one));
        OK(trial.givesBack(one));
        OK(trial.takes(two));
    }

    void B3_theCountIsOnesOwn_data() { rows("B3", {Need::Reentrant}, u"B4 is checked instead"_s); }
    void B3_theCountIsOnesOwn()
    {
        TRIAL(trial);
        auto &one = trial.join();
        auto &two = trial.join();
        QCOMPARE(one.lock->holdCount(), 0);
        OK(trial.takes(one));
        QCOMPARE(one.lock->holdCount(), 1);
        const auto first = one.grant();
        OK(trial.takes(one));
        QCOMPARE(one.lock->holdCount(), 2);
        QCOMPARE(one.grant().id, first.id); // the same hold once more
        QCOMPARE(one.grant().fencingToken, first.fencingToken);
        QCOMPARE(two.lock->holdCount(), 0);
        OK(trial.givesBack(one));
        QCOMPARE(one.lock->holdCount(), 1);
        OK(trial.givesBack(one));
        QCOMPARE(one.lock->holdCount(), 0);
    }

    void B4_onceIsAll_data() { rows("B4", {Need::NotReentrant}, u"B1 is checked instead"_s); }
    void B4_onceIsAll()
    {
        TRIAL(trial);
        auto &one = trial.join();
        OK(trial.takes(one));
        const auto before = trial.claims();
        one.acquire(soon()); // says so at once instead of waiting for itself
        EVENTUALLY(one.granted);
        QVERIFY(!one.holds());
        QCOMPARE(one.granted->error().code, ErrorCode::BadInput);
        QCOMPARE(one.lock->holdCount(), 1);
        QCOMPARE(trial.claims(), before);
        OK(trial.givesBack(one));
        OK(trial.isClean());
        OK(trial.isNotHeldBy(one));
    }

    // A Lock is one contender, as a thread is: two of one client are two.
    void B5_anotherObjectOfTheClientStaysOut_data() { rows("B5", {Need::Exclusive, Need::SharedClient}); }
    void B5_anotherObjectOfTheClientStaysOut()
    {
        TRIAL(trial);
        auto &client = trial.client(0);
        auto &one = trial.joinWith(client);
        auto &two = trial.joinWith(client);
        OK(trial.takes(one));
        OK(trial.isRefused(two));
        OK(trial.isNotHeldBy(two));
        OK(trial.isHeldBy(one));
        OK(trial.givesBack(one));
        OK(trial.takes(two));
    }

    // All at once: an earlier owner nests and un-nests, then another holds for several leases.
    void B6_prolongedAfterAnotherNested_data() { rows("B6", {Need::Reentrant, Need::Renewed}); }
    void B6_prolongedAfterAnotherNested()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
                t.options.ttl = 1s;
                QString wrong = t.takes(t.join());
                wrong += t.takes(t[0]);
                wrong += t.givesBack(t[0]);
                wrong += t.givesBack(t[0]);
                wrong += t.takes(t.join());
                t[1].heed();
                return wrong;
            },
            [] {
                linger(2300ms);
                return QString();
            });
        OK(trial.problem);
        OK(trial.isHeldBy(trial[1]));
        OK(trial.knowsItIsMine(trial[1]));
        QVERIFY(!trial[1].loss);
        OK(trial.givesBack(trial[1]));
        OK(trial.isClean());
    }

    void B7_aPartialReleaseKeepsTheLeaseLong_data() { rows("B7", {Need::Reentrant, Need::Lease}); }
    void B7_aPartialReleaseKeepsTheLeaseLong()
    {
        TRIAL(trial);
        trial.options.ttl = 4s; // prolonged by itself after a third of it
        auto &one = trial.join();
        OK(trial.takes(one));
        OK(trial.takes(one));
        EVENTUALLY(trial.arena.leaseLeft(trial.name) < 3800ms);
        const auto before = trial.arena.leaseLeft(trial.name);
        OK(trial.givesBack(one));
        const auto after = trial.arena.leaseLeft(trial.name);
        QVERIFY(before && after && *after <= 4s);
        // Redisson sets the whole lease again; it must not be shorter than what was left, whoever holds it.
        QVERIFY2(*after > *before, qPrintable(QString::number(after->count())));
        OK(trial.knowsItIsMine(one));
    }
};

LOCKSCOPE_TEST(TestContractReentrancy)
#include "tst_contract_reentrancy.moc"
