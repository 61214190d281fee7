// SPDX-License-Identifier: Apache-2.0
// H, first part: what is sent, and what becomes of it on the way. The rest: tst_contract_gaps_time.
#include "fixture.h"
#include "tests/support/testmain.h"

#include <QAbstractEventDispatcher>
#include <QRegularExpression>

using namespace lockscope::contract;

namespace {

constexpr int mostSteps = 20;

// "2N-1" for N contenders; empty when the catalogue says it in words.
std::optional<int> valueOf(const QString &formula, int n)
{
    static const QRegularExpression shape(u"^(?:(\\d*)(N))?([+-]?\\d+)?$"_s);
    const auto match = shape.match(QString(formula).remove(u' ').replace(u'−', u'-'));
    if (!match.hasMatch() || formula.isEmpty())
        return std::nullopt;
    const int factor = match.captured(2).isEmpty() ? 0 : match.captured(1).isEmpty() ? 1 : match.captured(1).toInt();
    return factor * n + match.captured(3).toInt();
}

} // namespace

class TestContractGaps : public Fixture {
    Q_OBJECT

public:
    TestContractGaps() : Fixture('H', 1, 4) {}

private:
    // A holder and three waiters, in order.
    QString queueOfFour(TestCase &test)
    {
        QString wrong = test.takes(test.join());
        for (int i = 0; i < 3; ++i)
            wrong += test.waits(test.join());
        return wrong;
    }
    // The one before it goes while this request of the third is held back.
    QString leftAtStep(TestCase &test, int step)
    {
        QString wrong = test.takes(test.join());
        wrong += test.waits(test.join());
        auto &third = test.join();
        auto &client = third.client();
        client.plan.at(step, RequestFault::HoldRequest);
        third.acquire();
        if (!eventually([&] { return client.plan.isOver(); }))
            return u"it has no such step"_s;
        settle(client);
        const auto queue = test.claims().size();
        test[1].lock.reset();
        if (!eventually([&] { return test.claims().size() < queue; }))
            wrong += u"the second does not leave"_s;
        wrong += test.waits(test.join()); // a fourth, behind
        client.letThrough();
        wrong += test.givesBack(test[0]);
        wrong += test.comesToHold(third);
        if (test[3].granted)
            wrong += u"the fourth overtook it"_s;
        wrong += test.givesBack(third);
        wrong += test.comesToHold(test[3]);
        return wrong;
    }

private slots:
    void formulae()
    {
        QCOMPARE(valueOf(u"2"_s, 7), 2);
        QCOMPARE(valueOf(u"2N-1"_s, 4), 7);
        QCOMPARE(valueOf(u"N + 1"_s, 4), 5);
        QCOMPARE(valueOf(u"N"_s, 4), 4);
        QVERIFY(!valueOf(u"1 per try"_s, 4));
    }

    // The tests look by asking, many times a second: if every look left a timer, waiting would make the loop spin.
    void looksLeaveNothingBehind()
    {
        const auto *dispatcher = QAbstractEventDispatcher::instance();
        const auto before = dispatcher->children().size();
        for (int i = 0; i < 10; ++i) {
            const Completion<bool> answer(m_loop);
            answer.completeAt(after(1ms), true);
            QVERIFY(testing::await(answer, false));
        }
        QCOMPARE(dispatcher->children().size(), before);
    }

    void H1_requestsOfAFreeLock_data() { rows("H1", {}); }
    void H1_requestsOfAFreeLock()
    {
        TRIAL(test);
        const auto acquiring = valueOf(test.recipe.counts.acquireFree, 1);
        const auto releasing = valueOf(test.recipe.counts.release, 1);
        if (!acquiring || !releasing)
            QSKIP("the catalogue says it in words: the recipe's own test counts");
        auto &one = test.join();
        OK(test.takes(one)); // makes what is made once
        OK(test.givesBack(one));
        settle(one.client());
        for (int i = 0; i < 2; ++i) {
            one.client().resetCounts();
            OK(test.takes(one));
            settle(one.client());
            QVERIFY2(one.client().requests() == *acquiring, one.client().spoken().constData());
            one.client().resetCounts();
            OK(test.givesBack(one));
            settle(one.client());
            QVERIFY2(one.client().requests() == *releasing, one.client().spoken().constData());
        }
    }

    void H1_requestsOfTheLastOfFour_data() { rows("H1", {Need::Exclusive}); }
    void H1_requestsOfTheLastOfFour()
    {
        TRIAL(test);
        const auto expected = valueOf(test.recipe.counts.acquireQueued, 4);
        if (!expected)
            QSKIP("the catalogue says it in words: the recipe's own test counts");
        OK(queueOfFour(test));
        Contender *holder = &test[0];
        for (int left = 3; left > 0; --left) {
            OK(test.givesBack(*holder));
            Contender *next = nullptr;
            EVENTUALLY([&] {
                for (auto &contender : test.contenders)
                    next = contender->holds() && contender->lock->holdCount() > 0 ? contender.get() : next;
                return next != nullptr;
            }());
            for (auto &contender : test.contenders)
                settle(contender->client());
            holder = next;
        }
        // Whoever came last waited for all the others.
        QVERIFY2(holder->client().requests() == *expected, holder->client().spoken().constData());
    }

    void H1_wakeUpsOfARelease_data() { rows("H1", {Need::Exclusive}); }
    void H1_wakeUpsOfARelease()
    {
        TRIAL(test);
        const auto expected = valueOf(test.recipe.counts.wakeUps, 4);
        if (!expected)
            QSKIP("the catalogue says it in words: the recipe's own test counts");
        OK(queueOfFour(test));
        for (auto &contender : test.contenders)
            settle(contender->client()); // an arrival may have woken the others
        for (auto &contender : test.contenders)
            contender->client().resetCounts();
        OK(test.givesBack(test[0]));
        EVENTUALLY(test[1].holds() || test[2].holds() || test[3].holds());
        // Of those that are woken; what the new holder hears once it is in wakes nobody.
        const auto woken = [&test] {
            int all = 0;
            for (auto &contender : test.contenders) {
                const int heard = contender->client().wakeUps();
                all += contender->holds() ? std::min(heard, 1) : heard;
            }
            return all;
        };
        EVENTUALLY(woken() >= *expected);
        for (auto &contender : test.contenders)
            settle(contender->client()); // and nobody else
        QCOMPARE(woken(), *expected);
    }

    // Whoever stands before goes while the waiter is about to watch it: it keeps its place.
    void H2_thePredecessorVanishes_data() { rows("H2", {Need::Fair, Need::Exclusive, Need::Outlives}); }
    void H2_thePredecessorVanishes()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        const int steps = std::min(stepsOfAWaiter(2), mostSteps);
        QVERIFY(steps > 1);
        // Before the second it does not queue; of etcd before the third, as a lease comes first.
        const int first = recipeOfRow().shape == recipes::Shape::Leases ? 3 : 2;
        for (int step = first; step <= steps; ++step) {
            TestCase test(environmentOfRow(), recipeOfRow());
            const auto wrong = leftAtStep(test, step);
            QVERIFY2(wrong.isEmpty(), qPrintable(u"step %1 of %2: "_s.arg(step).arg(steps) + wrong));
        }
    }

    void H3_aLostReplyMakesNoSecondClaim_data() { rows("H3", {Need::Exclusive, Need::Outlives}); }
    void H3_aLostReplyMakesNoSecondClaim()
    {
        TRIAL(test);
        auto &holder = test.join();
        OK(test.takes(holder));
        const auto held = test.claims();
        auto &waiter = test.join();
        OK(test.waits(waiter));
        const auto queued = test.claims().size();
        const int steps = std::min(waiter.client().plan.passed(), mostSteps);
        waiter.cancelWaits();
        EVENTUALLY(test.claims() == held);
        for (int step = 1; step <= steps; ++step) {
            waiter.client().plan.at(step, RequestFault::LoseReply);
            waiter.acquire();
            EVENTUALLY(waiter.client().plan.isOver());
            settle(waiter.client());
            EVENTUALLY(test.claims().size() == queued);              // it is found again, not made again
            QVERIFY2(!waiter.granted, qPrintable(waiter.outcome())); // and it goes on waiting
            waiter.cancelWaits();
            EVENTUALLY(test.claims() == held);
        }
        OK(test.givesBack(holder));
        waiter.client().plan.at(1, RequestFault::LoseReply);
        OK(test.takes(waiter));
        QCOMPARE(test.claims().size(), held.size());
        OK(test.givesBack(waiter));
        OK(test.isClean());
    }

    void H4_aReleaseInTroubleIsFollowedUp_data() { rows("H4", {Need::Outlives}); }
    void H4_aReleaseInTroubleIsFollowedUp()
    {
        TRIAL(test);
        test.options.ttl = 5s;
        auto &one = test.join();
        for (const auto fate : {RequestFault::LoseReply, RequestFault::LoseRequest}) {
            bool isThrough = false;
            for (int step = 1; step < mostSteps && !isThrough; ++step) {
                OK(test.takes(one));
                one.client().plan.at(step, fate);
                one.release();
                EVENTUALLY(one.released);
                isThrough = !one.client().plan.isOver();
                one.client().plan.forget();
                if (!*one.released)
                    QCOMPARE(one.released->error().code, ErrorCode::UnknownOutcome);
                QCOMPARE(one.lock->holdCount(), 0); // whatever came of it, we do not hold it
                OK(test.isClean());
            }
            QVERIFY(isThrough);
        }
        OK(test.takes(one)); // and nothing old takes the new one away
        settle(one.client());
        OK(test.isHeldBy(one));
    }
};

LOCKSCOPE_TEST(TestContractGaps)
#include "tst_contract_gaps.moc"
