// SPDX-License-Identifier: Apache-2.0
// H, second part: what time, others and the server do to holders and waiters.
#include "fixture.h"
#include "tests/support/testmain.h"

using namespace lockscope::contract;

class TestContractGapsTime : public Fixture {
    Q_OBJECT

public:
    TestContractGapsTime() : Fixture('H', 5) {}

private:
    std::map<QByteArray, std::vector<qint64>> m_tokens; // of a scene

    void noteToken(TestCase &test, Contender &who) { m_tokens[test.recipe.id].push_back(*who.grant().fencingToken); }
    QString takesAndNotes(TestCase &test, Contender &who)
    {
        const QString wrong = test.takes(who);
        if (wrong.isEmpty())
            noteToken(test, who);
        return wrong;
    }
    // The holder releases while this request of the waiter, or its reply, is held back.
    QString releasedAtStep(TestCase &test, int step, RequestFault fate)
    {
        auto &holder = test.join();
        auto &waiter = test.join();
        QString wrong = test.takes(holder);
        waiter.client().plan.at(step, fate);
        waiter.acquire();
        if (!eventually([&] { return waiter.client().plan.isOver(); }))
            return u"it has no such step"_s;
        // A statement that waits for the lock is answered only afterwards.
        eventually([&] { return waiter.client().held() > 0; }, 300ms);
        wrong += test.givesBack(holder);
        waiter.client().letThrough();
        wrong += test.comesToHold(waiter);
        wrong += test.givesBack(waiter);
        wrong += test.isClean();
        return wrong;
    }

private slots:
    void H6_anyPermitWakesAWaiter_data() { rows("H6", {Need::Counted}); }
    void H6_anyPermitWakesAWaiter()
    {
        for (const size_t leaver : {0u, 1u, 2u}) {
            TRIAL(test);
            test.options.limit = 3;
            for (int i = 0; i < 3; ++i)
                OK(test.takes(test.join()));
            auto &waiter = test.join();
            OK(test.waits(waiter));
            OK(test.givesBack(test[leaver]));
            OK(test.comesToHold(waiter));
        }
    }

    // Others come and go all the time, and wake the waiter: its time runs on.
    void H7_oneDeadlineHoweverOftenWoken_data() { rows("H7", {Need::Exclusive}); }
    void H7_oneDeadlineHoweverOftenWoken()
    {
        TRIAL(test);
        OK(test.takes(test.join()));
        auto &waiter = test.join();
        auto &restless = test.join();
        // Long enough for several of them, however slow the server is just now.
        const auto began = std::chrono::steady_clock::now();
        test.environment.disturb(test.name);
        const auto one = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
        waiter.client().resetCounts();
        waiter.acquire(after(std::clamp<std::chrono::milliseconds>(10 * one, 500ms, 5s)));
        restless.tryOnce();
        const bool ended = eventually(
            [&] {
                if (waiter.granted)
                    return true;
                if (restless.granted)
                    restless.tryOnce();
                test.environment.disturb(test.name);
                return false;
            },
            10s);
        QVERIFY(ended);
        QVERIFY(!waiter.holds());
        if (test.recipe.counts.wakeUps != u"0"_s)
            QVERIFY(waiter.client().wakeUps() > 2);
        QCOMPARE(waiter.granted->error().code, ErrorCode::TimedOut);
        EVENTUALLY(restless.granted);
    }

    void H8_theHolderCanTellThatItIsGone_data() { rows("H8", {Need::Record}); }
    void H8_theHolderCanTellThatItIsGone()
    {
        TRIAL(test);
        test.options.ttl = 900ms;
        auto &one = test.join();
        OK(test.takes(one));
        one.heed();
        OK(test.knowsItIsMine(one));
        QVERIFY(test.environment.takeAway(test.name, one.grant()));
        OK(test.knowsItIsMine(one, false));
        if (test.recipe.renewed) {
            EVENTUALLY(one.loss); // asked or not, when it is to be prolonged
            QCOMPARE(*one.loss, recipes::Loss::TakenAway);
        }
    }

    // All at once: released right after it was acquired, when prolonging has just begun.
    void H9_releasedAsItsRenewalStarts_data() { rows("H9", {Need::Renewed}); }
    void H9_releasedAsItsRenewalStarts()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene(
            [](TestCase &t) {
                t.options.ttl = 900ms;
                QString wrong;
                auto &one = t.join();
                for (int i = 0; i < 5; ++i) {
                    wrong += t.takes(one);
                    linger(75ms * i); // the moment of the first renewal, too
                    wrong += t.givesBack(one);
                }
                return wrong;
            },
            [] {
                linger(1100ms);
                return QString();
            });
        OK(test.problem);
        QVERIFY2(test.claims().isEmpty(), test.claims().join(' ').constData());
        OK(test.isClean());
    }

    // The release falls between any two steps of the waiter, before or after the server has read it.
    void H10_noWakeUpIsMissed_data() { rows("H10", {Need::Exclusive}); }
    void H10_noWakeUpIsMissed()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        const int steps = std::min(stepsOfAWaiter(1), 6);
        QVERIFY(steps > 0);
        for (const auto fate : {RequestFault::HoldRequest, RequestFault::HoldReply}) {
            for (int step = 1; step <= steps; ++step) {
                TestCase test(environmentOfRow(), recipeOfRow());
                const auto wrong = releasedAtStep(test, step, fate);
                const auto what = fate == RequestFault::HoldRequest ? u"request"_s : u"reply"_s;
                QVERIFY2(wrong.isEmpty(), qPrintable(u"%1 %2 of %3: "_s.arg(what).arg(step).arg(steps) + wrong));
            }
        }
    }

    // The message of the release is lost: then the waiter looks when the lease it knows of is over.
    void H10_aLostMessageCostsALease_data() { rows("H10", {Need::Exclusive, Need::Redis, Need::Woken}); }
    void H10_aLostMessageCostsALease()
    {
        TRIAL(test);
        test.options.ttl = 900ms;
        auto &holder = test.join();
        OK(test.takes(holder));
        auto &waiter = test.joinMortal(); // its client hears nothing for the rest of its life
        OK(test.waits(waiter));
        waiter.client().deafen();
        waiter.client().resetCounts();
        OK(test.givesBack(holder));
        OK(test.comesToHold(waiter));
        QCOMPARE(waiter.client().wakeUps(), 0);
    }

    // All at once: after an expiry, a removal by force, a restart and new directories.
    void H11_tokensGrowThroughEverything_data() { rows("H11", {Need::Token}); }
    void H11_tokensGrowThroughEverything()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &test = scene([this](TestCase &t) { return takesAndNotes(t, t.joinMortal()); },
                           [this] { return tokensThroughEverything(); });
        OK(test.problem);
        const auto &tokens = m_tokens[test.recipe.id];
        QCOMPARE(tokens.size(), test.recipe.losesTokensWithData ? 3u : 5u);
        for (size_t i = 1; i < tokens.size(); ++i)
            QVERIFY2(tokens[i] > tokens[i - 1], QByteArray::number(qint64(i)).constData());
    }

    // Those who try and fail do not keep a dead holder's lock alive.
    void H13_losersDoNotProlongIt_data() { rows("H13", {Need::Lease, Need::Exclusive}); }
    void H13_losersDoNotProlongIt()
    {
        TRIAL(test);
        auto &dead = test.joinMortal();
        OK(test.takes(dead));
        dead.client().cut();
        test.options.ttl = 10s;
        auto &loser = test.join();
        auto &another = test.join();
        loser.tryOnce();
        another.tryOnce();
        const bool entered = eventually(
            [&] {
                for (auto *each : {&loser, &another}) {
                    if (each->granted && !each->holds())
                        each->tryOnce();
                }
                return loser.holds() || another.holds();
            },
            8s);
        QVERIFY(entered);
    }

private:
    QString tokensThroughEverything()
    {
        for (auto *t : sceneTests())
            (*t)[0].client().cut();
        for (auto *t : sceneTests()) {
            t->problem = takesAndNotes(*t, t->join());
            if (!t->problem.isEmpty())
                continue;
            t->environment.takeAway(t->name, (*t)[1].grant());
            t->problem = takesAndNotes(*t, t->join());
            t->problem += t->givesBack((*t)[2]);
        }
        for (auto *environment : sceneEnvironments()) {
            const auto restarted = environment->restart();
            if (!restarted)
                return restarted.error().message;
        }
        for (auto *t : sceneTests()) {
            if (t->recipe.losesTokensWithData)
                continue;
            auto &after = t->join();
            t->problem = takesAndNotes(*t, after);
            t->problem += t->givesBack(after);
            t->problem += t->isClean();
            if (!t->environment.clear(t->name))
                t->problem += u"its directories cannot be removed"_s;
            t->problem += takesAndNotes(*t, after);
        }
        return {};
    }
};

LOCKSCOPE_TEST(TestContractGapsTime)
#include "tst_contract_gaps_time.moc"
