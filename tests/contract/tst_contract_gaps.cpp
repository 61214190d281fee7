// H: what the suites of other libraries do not ask.
#include "fixture.h"

#include <QRegularExpression>

using namespace lockscope;
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
    const int factor = match.captured(2).isEmpty() ? 0
        : match.captured(1).isEmpty()              ? 1
                                                   : match.captured(1).toInt();
    return factor * n + match.captured(3).toInt();
}

} // namespace

class TestContractGaps : public Fixture {
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
    // A holder and three waiters, in order.
    QString queueOfFour(Trial &trial)
    {
        QString wrong = trial.takes(trial.join());
        for (int i = 0; i < 3; ++i)
            wrong += trial.waits(trial.join());
        return wrong;
    }
    // The holder releases while this request of the waiter is held back; whether it had so many.
    QString releasedAtStep(Trial &trial, int step, Fate fate, bool *isThrough)
    {
        auto &holder = trial.join();
        auto &waiter = trial.join();
        QString wrong = trial.takes(holder);
        waiter.client().resetCounts();
        waiter.client().plan.at(step, fate);
        waiter.acquire();
        eventually([&] { return waiter.client().held() > 0 || waiter.client().requests() >= step + 1; }, 300ms);
        *isThrough = waiter.client().held() == 0;
        waiter.client().plan.forget();
        wrong += trial.givesBack(holder);
        waiter.client().letThrough();
        wrong += trial.comesToHold(waiter);
        wrong += trial.givesBack(waiter);
        wrong += trial.isClean();
        return wrong.isEmpty() ? wrong : u"step %1: "_s.arg(step) + wrong;
    }

private slots:
    void initTestCase()
    {
        OK(whatIsMissing("H"));
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

    void formulae()
    {
        QCOMPARE(valueOf(u"2"_s, 7), 2);
        QCOMPARE(valueOf(u"2N-1"_s, 4), 7);
        QCOMPARE(valueOf(u"N + 1"_s, 4), 5);
        QCOMPARE(valueOf(u"N"_s, 4), 4);
        QVERIFY(!valueOf(u"1 per try"_s, 4));
    }

    void H1_requestsOfAFreeLock_data() { rows("H1", {}); }
    void H1_requestsOfAFreeLock()
    {
        TRIAL(trial);
        const auto acquiring = valueOf(trial.recipe.requestsAcquireFree, 1);
        const auto releasing = valueOf(trial.recipe.requestsRelease, 1);
        if (!acquiring || !releasing)
            QSKIP("the catalogue says it in words: the recipe's own test counts");
        auto &one = trial.join();
        OK(trial.takes(one)); // makes what is made once
        OK(trial.givesBack(one));
        settle(one.client());
        for (int i = 0; i < 2; ++i) {
            one.client().resetCounts();
            OK(trial.takes(one));
            settle(one.client());
            QVERIFY2(one.client().requests() == *acquiring, one.client().spoken().constData());
            one.client().resetCounts();
            OK(trial.givesBack(one));
            settle(one.client());
            QVERIFY2(one.client().requests() == *releasing, one.client().spoken().constData());
        }
    }

    void H1_requestsOfTheLastOfFour_data() { rows("H1", {Need::Exclusive}); }
    void H1_requestsOfTheLastOfFour()
    {
        TRIAL(trial);
        const auto expected = valueOf(trial.recipe.requestsAcquireQueued, 4);
        if (!expected)
            QSKIP("the catalogue says it in words: the recipe's own test counts");
        OK(queueOfFour(trial));
        Contender *holder = &trial[0];
        for (int left = 3; left > 0; --left) {
            OK(trial.givesBack(*holder));
            Contender *next = nullptr;
            EVENTUALLY([&] {
                for (auto &contender : trial.contenders)
                    next = contender->holds() && contender->lock->holdCount() > 0 ? contender.get() : next;
                return next != nullptr;
            }());
            for (auto &contender : trial.contenders)
                settle(contender->client());
            holder = next;
        }
        // Whoever came last waited for all the others.
        QVERIFY2(holder->client().requests() == *expected, holder->client().spoken().constData());
    }

    void H1_wakeUpsOfARelease_data() { rows("H1", {Need::Exclusive}); }
    void H1_wakeUpsOfARelease()
    {
        TRIAL(trial);
        const auto expected = valueOf(trial.recipe.wakeupsPerRelease, 4);
        if (!expected)
            QSKIP("the catalogue says it in words: the recipe's own test counts");
        OK(queueOfFour(trial));
        for (auto &contender : trial.contenders)
            settle(contender->client()); // an arrival may have woken the others
        for (auto &contender : trial.contenders)
            contender->client().resetCounts();
        OK(trial.givesBack(trial[0]));
        EVENTUALLY(trial[1].holds() || trial[2].holds() || trial[3].holds());
        int woken = 0;
        for (auto &contender : trial.contenders) {
            settle(contender->client());
            woken += contender->client().wakeUps();
        }
        QCOMPARE(woken, *expected);
    }

    // Whoever stands before goes while the waiter is about to watch it: it keeps its place.
    void H2_thePredecessorVanishes_data() { rows("H2", {Need::Fair, Need::Exclusive, Need::Outlives}); }
    void H2_thePredecessorVanishes()
    {
        SKIP_ROWS_THAT_DO_NOT_APPLY;
        bool isThrough = false;
        for (int step = 2; step < mostSteps && !isThrough; ++step) {
            Trial trial(arenaOfRow(), recipeOfRow());
            OK(trial.takes(trial.join()));
            OK(trial.waits(trial.join()));
            auto &third = trial.join();
            auto &client = third.client();
            client.resetCounts();
            client.plan.at(step, Fate::HoldRequest);
            third.acquire();
            EVENTUALLY(client.requests() > 0);
            settle(client);
            isThrough = client.held() == 0;
            client.plan.forget();
            const auto queue = trial.claims().size();
            trial[1].lock.reset();
            EVENTUALLY(trial.claims().size() < queue);
            OK(trial.waits(trial.join())); // a fourth, behind
            client.letThrough();
            OK(trial.givesBack(trial[0]));
            OK(trial.comesToHold(third));
            QVERIFY(!trial[3].granted);
            OK(trial.givesBack(third));
            OK(trial.comesToHold(trial[3]));
        }
        QVERIFY(isThrough);
    }

    void H3_aLostReplyMakesNoSecondClaim_data() { rows("H3", {Need::Exclusive, Need::Outlives}); }
    void H3_aLostReplyMakesNoSecondClaim()
    {
        TRIAL(trial);
        auto &holder = trial.join();
        OK(trial.takes(holder));
        const auto held = trial.claims();
        auto &waiter = trial.join();
        OK(trial.waits(waiter));
        const auto queued = trial.claims().size();
        const int steps = waiter.client().requests();
        waiter.cancelWaits();
        EVENTUALLY(trial.claims() == held);
        for (int step = 1; step <= std::min(steps, mostSteps); ++step) {
            waiter.client().plan.at(step, Fate::LoseReply);
            waiter.acquire();
            eventually([&] { return waiter.client().plan.isOver() || waiter.granted; }, 300ms); // some are subscriptions
            waiter.client().plan.forget();
            settle(waiter.client());
            EVENTUALLY(trial.claims().size() == queued); // it is found again, not made again
            QVERIFY2(!waiter.holds(), qPrintable(waiter.outcome()));
            waiter.cancelWaits();
            EVENTUALLY(trial.claims() == held);
        }
        OK(trial.givesBack(holder));
        waiter.client().plan.at(1, Fate::LoseReply);
        OK(trial.takes(waiter));
        QCOMPARE(trial.claims().size(), held.size());
        OK(trial.givesBack(waiter));
        OK(trial.isClean());
    }

    void H4_aReleaseInTroubleIsFollowedUp_data() { rows("H4", {Need::Outlives}); }
    void H4_aReleaseInTroubleIsFollowedUp()
    {
        TRIAL(trial);
        trial.options.ttl = 5s;
        auto &one = trial.join();
        for (const auto fate : {Fate::LoseReply, Fate::LoseRequest}) {
            bool isThrough = false;
            for (int step = 1; step < mostSteps && !isThrough; ++step) {
                OK(trial.takes(one));
                one.client().plan.at(step, fate);
                one.release();
                EVENTUALLY(one.released);
                isThrough = !one.client().plan.isOver();
                one.client().plan.forget();
                if (!*one.released)
                    QCOMPARE(one.released->error().code, ErrorCode::UnknownOutcome);
                QCOMPARE(one.lock->holdCount(), 0); // whatever came of it, we do not hold it
                OK(trial.isClean());
            }
            QVERIFY(isThrough);
        }
        OK(trial.takes(one)); // and nothing old takes the new one away
        settle(one.client());
        OK(trial.isHeldBy(one));
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
        waiter.acquire(after(500ms));
        restless.tryOnce();
        const bool ended = eventually([&] {
            if (waiter.granted)
                return true;
            if (restless.granted)
                restless.tryOnce();
            return false;
        }, 10s);
        QVERIFY(ended);
        QVERIFY(!waiter.holds());
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
        if (trial.traits.isRenewed) {
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
        for (const auto fate : {Fate::HoldRequest, Fate::HoldReply}) {
            bool isThrough = false;
            for (int step = 1; step < 6 && !isThrough; ++step) {
                Trial trial(arenaOfRow(), recipeOfRow());
                trial.options.ttl = 2s;
                OK(releasedAtStep(trial, step, fate, &isThrough));
            }
        }
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
        QCOMPARE(tokens.size(), trial.traits.losesTokens ? 3u : 5u);
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
            if (t->traits.losesTokens)
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

QTEST_GUILESS_MAIN(TestContractGaps)
#include "tst_contract_gaps.moc"
