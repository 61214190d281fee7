// SPDX-License-Identifier: Apache-2.0
// B: holding it more than once.
#include "fixture.h"
#include "tests/support/testmain.h"

using namespace lockscope::contract;

class TestContractReentrancy : public Fixture {
    Q_OBJECT

public:
    TestContractReentrancy() : Fixture('B') {}

private slots:
    void B1_freeAfterAsManyReleases_data() { rows("B1", {Need::Reentrant}, u"B4 is checked instead"_s); }
    void B1_freeAfterAsManyReleases()
    {
        TRIAL(test);
        auto &one = test.join();
        for (int i = 0; i < 3; ++i)
            OK(test.takes(one));
        for (int i = 0; i < 3; ++i) {
            OK(test.isHeldBy(one));
            OK(test.givesBack(one));
        }
        OK(test.isClean());
        OK(test.isNotHeldBy(one));
    }

    void B2_othersStayOut_data() { rows("B2", {Need::Reentrant}, u"B4 is checked instead"_s); }
    void B2_othersStayOut()
    {
        TRIAL(test);
        auto &one = test.join();
        auto &two = test.join();
        OK(test.takes(one));
        OK(test.takes(one));
        OK(test.isRefused(two));
        OK(test.givesBack(one));
        OK(test.isRefused(two));
        OK(test.knowsItIsMine(one));
        OK(test.givesBack(one));
        OK(test.takes(two));
    }

    void B3_theCountIsOnesOwn_data() { rows("B3", {Need::Reentrant}, u"B4 is checked instead"_s); }
    void B3_theCountIsOnesOwn()
    {
        TRIAL(test);
        auto &one = test.join();
        auto &two = test.join();
        QCOMPARE(one.lock->holdCount(), 0);
        OK(test.takes(one));
        QCOMPARE(one.lock->holdCount(), 1);
        const auto first = one.grant();
        OK(test.takes(one));
        QCOMPARE(one.lock->holdCount(), 2);
        QCOMPARE(one.grant().id, first.id); // the same hold once more
        QCOMPARE(one.grant().fencingToken, first.fencingToken);
        QCOMPARE(two.lock->holdCount(), 0);
        OK(test.givesBack(one));
        QCOMPARE(one.lock->holdCount(), 1);
        OK(test.givesBack(one));
        QCOMPARE(one.lock->holdCount(), 0);
    }

    void B4_onceIsAll_data() { rows("B4", {Need::NotReentrant}, u"B1 is checked instead"_s); }
    void B4_onceIsAll()
    {
        TRIAL(test);
        auto &one = test.join();
        OK(test.takes(one));
        const auto before = test.claims();
        one.acquire(soon()); // says so at once instead of waiting for itself
        EVENTUALLY(one.granted);
        QVERIFY(!one.holds());
        QCOMPARE(one.granted->error().code, ErrorCode::BadInput);
        QCOMPARE(one.lock->holdCount(), 1);
        QCOMPARE(test.claims(), before);
        OK(test.givesBack(one));
        OK(test.isClean());
        OK(test.isNotHeldBy(one));
    }

    // A Lock is one contender, as a thread is: two of one client are two.
    void B5_anotherObjectOfTheClientStaysOut_data() { rows("B5", {Need::Exclusive, Need::SharedClient}); }
    void B5_anotherObjectOfTheClientStaysOut()
    {
        TRIAL(test);
        auto &client = test.client(0);
        auto &one = test.joinWith(client);
        auto &two = test.joinWith(client);
        OK(test.takes(one));
        OK(test.isRefused(two));
        OK(test.isNotHeldBy(two));
        OK(test.isHeldBy(one));
        OK(test.givesBack(one));
        OK(test.takes(two));
    }

    // All at once: an earlier owner nests and un-nests, then another holds for several leases.
    void B6_prolongedAfterAnotherNested_data() { rows("B6", {Need::Reentrant, Need::Renewed}); }
    void B6_prolongedAfterAnotherNested()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
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
        OK(test.problem);
        OK(test.isHeldBy(test[1]));
        OK(test.knowsItIsMine(test[1]));
        QVERIFY(!test[1].loss);
        OK(test.givesBack(test[1]));
        OK(test.isClean());
    }

    void B7_aPartialReleaseKeepsTheLeaseLong_data() { rows("B7", {Need::Reentrant, Need::Lease}); }
    void B7_aPartialReleaseKeepsTheLeaseLong()
    {
        TRIAL(test);
        test.options.ttl = 4s; // prolonged by itself after a third of it
        auto &one = test.join();
        OK(test.takes(one));
        OK(test.takes(one));
        EVENTUALLY(test.environment.leaseLeft(test.name) < 3800ms);
        const auto before = test.environment.leaseLeft(test.name);
        OK(test.givesBack(one));
        const auto after = test.environment.leaseLeft(test.name);
        QVERIFY(before && after && *after <= 4s);
        // Redisson sets the whole lease again; it must not be shorter than what was left, whoever holds it.
        QVERIFY2(*after > *before, qPrintable(QString::number(after->count())));
        OK(test.knowsItIsMine(one));
    }
};

LOCKSCOPE_TEST(TestContractReentrancy)
#include "tst_contract_reentrancy.moc"
