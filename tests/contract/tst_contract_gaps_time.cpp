// SPDX-License-Identifier: Apache-2.0
// H, second part: what time, others and the server do to holders and waiters.
#include "fixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::contract;

class TestContractGapsTime : public Fixture {
    Q_OBJECT

    std::map<QByteArray, std::vector<qint64>> m_tokens; // of a scene

    void noteToken(Trial &trial, Contender &who) { m_tokens[trial.recipe.id].push_back(*who.grant().fencingToken); }
    QString takesAndNotes(Trial &trial, Contender &who)
    {
        const QString wrong = trial.takes(who);
        if (wrong.isEmpty())
            noteToken(trial, who);
        return wrong;
    }
    // The holder releases while this request of the waiter, or its reply, is held back.
    QString releasedAtStep(Trial &trial, int step, Fate fate)
    {
        auto &holder = trial.join();
        auto &waiter = trial.join();
        QString wrong = trial.takes(holder);
        waiter.client().plan.at(step, fate);
        waiter.acquire();
        if (!eventually([&] { return waiter.client().plan.isOver(); }))
            return u"it has no such step"_s;
        // A statement that waits for the lock is answered only afterwards.
        eventually([&] { return waiter.client().held() > 0; }, 300ms);
        wrong += trial.givesBack(holder);
        waiter.client().letThrough();
        wrong += trial.comesToHold(waiter);
        wrong += trial.givesBack(waiter);
        wrong += trial.isClean();
        return wrong;
    }

private slots:
    void initTestCase()
    {
        OK(whatIsMissing('H', 5, behavioursUnder('H')));
        OK(startArenas());
    }
    void cleanupTestCase() { endScene(); }
    void elsewhere_data() { notHereRows("H"); }
    void elsewhere()
    {
        QFETCH(QString, reason);
        if (!reason.isEmpty())
            QSKIP(qPrintable(reason));
    }

    void H6_anyPermitWakesAWaiter_data() { rows("H6", {Need::Counted}); }
    void H6_anyPermitWakesAWaiter()
    {
        for (const size_t leaver : {0u, 1u, 2u}) {
            TRIAL(trial);
            trial.options.limit = 3;
            for (int i = 0; i < 3; ++i)
                OK(trial.takes(trial.join()));
            auto &waiter = trial.join();
            OK(trial.waits(waiter));
            OK(trial.givesBack(trial[leaver]));
            OK(trial.comesToHold(waiter));
        }
    }

    // Others come and go all the time, and wake the waiter: its time runs on.
    void H7_oneDeadlineHoweverOftenWoken_data() { rows("H7", {Need::Exclusive}); }
    void H7_oneDeadlineHoweverOftenWoken()
    {
        TRIAL(trial);
        OK(trial.takes(trial.join()));
        auto &waiter = trial.join();
        auto &restless = trial.join();
        waiter.client().resetCounts();
        waiter.acquire(after(500ms));
        restless.tryOnce();
        const bool ended = eventually([&] {
            if (waiter.granted)
                return true;
            if (restless.granted)
                restless.tryOnce();
            trial.arena.disturb(trial.name);
            return false;
        }, 10s);
        QVERIFY(ended);
        QVERIFY(!waiter.holds());
        if (trial.recipe.wakeupsPerRelease != u"0"_s)
            QVERIFY(waiter.client().wakeUps() > 2);
        QCOMPARE(waiter.granted->error().code, ErrorCode::TimedOut);
        EVENTUALLY(restless.granted);
    }

    void H8_theHolderCanTellThatItIsGone_data() { rows("H8", {Need::Record}); }
    void H8_theHolderCanTellThatItIsGone()
    {
        TRIAL(trial);
        trial.options.ttl = 900ms;
        auto &one = trial.join();
        OK(trial.takes(one));
        one.heed();
        OK(trial.knowsItIsMine(one));
        QVERIFY(trial.arena.takeAway(trial.name, one.grant()));
        OK(trial.knowsItIsMine(one, false));
        if (trial.recipe.renewed) {
            EVENTUALLY(one.loss); // asked or not, when it is to be prolonged
            QCOMPARE(*one.loss, recipes::Loss::TakenAway);
        }
    }

    // All at once: released right after it was acquired, when prolonging has just begun.
    void H9_releasedAsItsRenewalStarts_data() { rows("H9", {Need::Renewed}); }
    void H9_releasedAsItsRenewalStarts()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene(
            [](Trial &t) {
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
        OK(trial.problem);
        QVERIFY2(trial.claims().isEmpty(), trial.claims().join(' ').constData());
        OK(trial.isClean());
    }

    // The release falls between any two steps of the waiter, before or after the server has read it.
    void H10_noWakeUpIsMissed_data() { rows("H10", {Need::Exclusive}); }
    void H10_noWakeUpIsMissed()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        const int steps = std::min(stepsOfAWaiter(1), 6);
        QVERIFY(steps > 0);
        for (const auto fate : {Fate::HoldRequest, Fate::HoldReply}) {
            for (int step = 1; step <= steps; ++step) {
                Trial trial(arenaOfRow(), recipeOfRow());
                const auto wrong = releasedAtStep(trial, step, fate);
                const auto what = fate == Fate::HoldRequest ? u"request"_s : u"reply"_s;
                QVERIFY2(wrong.isEmpty(), qPrintable(u"%1 %2 of %3: "_s.arg(what).arg(step).arg(steps) + wrong));
            }
        }
    }

    // The message of the release is lost: then the waiter looks when the lease it knows of is over.
    void H10_aLostMessageCostsALease_data() { rows("H10", {Need::Exclusive, Need::Redis, Need::Woken}); }
    void H10_aLostMessageCostsALease()
    {
        TRIAL(trial);
        trial.options.ttl = 900ms;
        auto &holder = trial.join();
        OK(trial.takes(holder));
        auto &waiter = trial.joinMortal(); // its client hears nothing for the rest of its life
        OK(trial.waits(waiter));
        waiter.client().deafen();
        waiter.client().resetCounts();
        OK(trial.givesBack(holder));
        OK(trial.comesToHold(waiter));
        QCOMPARE(waiter.client().wakeUps(), 0);
    }

    // All at once: after an expiry, a removal by force, a restart and new directories.
    void H11_tokensGrowThroughEverything_data() { rows("H11", {Need::Token}); }
    void H11_tokensGrowThroughEverything()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        auto &trial = scene([this](Trial &t) { return takesAndNotes(t, t.joinMortal()); },
                            [this] { return tokensThroughEverything(); });
        OK(trial.problem);
        const auto &tokens = m_tokens[trial.recipe.id];
        QCOMPARE(tokens.size(), trial.recipe.losesTokensWithData ? 3u : 5u);
        for (size_t i = 1; i < tokens.size(); ++i)
            QVERIFY2(tokens[i] > tokens[i - 1], QByteArray::number(qint64(i)).constData());
    }

    // Those who try and fail do not keep a dead holder's lock alive.
    void H13_losersDoNotProlongIt_data() { rows("H13", {Need::Lease, Need::Exclusive}); }
    void H13_losersDoNotProlongIt()
    {
        TRIAL(trial);
        auto &dead = trial.joinMortal();
        OK(trial.takes(dead));
        dead.client().cut();
        trial.options.ttl = 10s;
        auto &loser = trial.join();
        auto &another = trial.join();
        loser.tryOnce();
        another.tryOnce();
        const bool entered = eventually([&] {
            for (auto *each : {&loser, &another}) {
                if (each->granted && !each->holds())
                    each->tryOnce();
            }
            return loser.holds() || another.holds();
        }, 8s);
        QVERIFY(entered);
    }

private:
    QString tokensThroughEverything()
    {
        for (auto *t : sceneTrials())
            (*t)[0].client().cut();
        for (auto *t : sceneTrials()) {
            t->problem = takesAndNotes(*t, t->join());
            if (!t->problem.isEmpty())
                continue;
            t->arena.takeAway(t->name, (*t)[1].grant());
            t->problem = takesAndNotes(*t, t->join());
            t->problem += t->givesBack((*t)[2]);
        }
        for (auto *arena : sceneArenas()) {
            const auto restarted = arena->restart();
            if (!restarted)
                return restarted.error().message;
        }
        for (auto *t : sceneTrials()) {
            if (t->recipe.losesTokensWithData)
                continue;
            auto &after = t->join();
            t->problem = takesAndNotes(*t, after);
            t->problem += t->givesBack(after);
            t->problem += t->isClean();
            if (!t->arena.clear(t->name))
                t->problem += u"its directories cannot be removed"_s;
            t->problem += takesAndNotes(*t, after);
        }
        return {};
    }
};

LOCKSCOPE_TEST(TestContractGapsTime)
#include "tst_contract_gaps_time.moc"
