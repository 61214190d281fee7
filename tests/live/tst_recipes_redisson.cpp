// SPDX-License-Identifier: Apache-2.0
// Redisson's RLock and RFencedLock on a real Redis: exact requests and wake-ups, byte-exact keys and
// channels, reentrancy, and what is left when answers are lost. The rest: tests/contract.
#include "rediscontender.h"
#include "tests/support/testmain.h"

#include <QRegularExpression>

using namespace lockscope;
using namespace lockscope::testing;
using recipes::Loss;
using Fault = CountingRedis::Fault;

namespace {

const QByteArray mutexEnter("redisson-acquire");
const QByteArray mutexLeave("redisson-release");
const QByteArray renew("redisson-renew");
const QByteArray takeAway("redisson-force-release");
const QByteArray mutexChannel("redisson_lock__channel:{orders}");

} // namespace

class TestRecipesRedisson : public RedisRecipeFixture {
    Q_OBJECT

    static void recipesAsRows()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::newRow("lock") << QByteArray("redisson-lock");
        QTest::newRow("fenced") << QByteArray("redisson-fenced-lock");
    }
    // Holder and count, as Redisson writes them.
    QByteArrayList held() { return list({"HGETALL", m_key}); }
    // The only keys that may be left: a fenced lock's counter.
    QByteArrayList leftOver() const
    {
        return m_recipe == "redisson-fenced-lock" ? QByteArrayList{"redisson_lock_token:{orders}"} : QByteArrayList();
    }
    bool holdsNow(RedisContender &one)
    {
        one.acquire();
        return eventually([&] { return one.granted.has_value(); }) && one.holds();
    }
    // It has tried, listened, and tried again.
    bool waitsNow(RedisContender &one, CountingRedis &redis)
    {
        const int before = redis.count(mutexEnter);
        one.acquire();
        return eventually([&] { return redis.count(mutexEnter) == before + 2; });
    }

private slots:
    void initTestCase()
    {
        const auto why = startServer();
        if (!m_server)
            QSKIP(qPrintable(why));
        QVERIFY2(why.isEmpty(), qPrintable(why));
    }
    void init()
    {
        m_key = "orders";
        m_recipe = "redisson-lock";
        if (const auto *row = QTest::currentDataTag())
            m_recipe = QByteArray(row).startsWith("fenced") ? "redisson-fenced-lock" : "redisson-lock";
    }
    void cleanup() { forgetContenders(); }

    void freeAcquireAndRelease_data() { recipesAsRows(); }
    void freeAcquireAndRelease()
    {
        const auto *recipe = recipes::findRecipe(m_recipe);
        auto &redis = process();
        auto &one = add(redis);
        QVERIFY(holdsNow(one));
        QCOMPARE(redis.requests(), recipe->requestsAcquireFree.toInt());
        QCOMPARE(redis.count(mutexEnter), 1);
        static const QRegularExpression holder(
            QStringLiteral("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:1$"));
        QVERIFY2(holder.match(QString::fromLatin1(one.id())).hasMatch(), one.id());
        QCOMPARE(held(), (QByteArrayList{one.id(), "1"}));
        const auto ttl = ask({"PTTL", m_key}).integer;
        QVERIFY(ttl > 25'000 && ttl <= 30'000);
        QCOMPARE(keys(), QByteArrayList{"orders"} + leftOver());
        one.askWhether();
        QTRY_VERIFY(one.mine);
        QVERIFY(**one.mine);
        redis.reset();
        one.release();
        QTRY_VERIFY(one.gaveBack());
        QCOMPARE(redis.count(mutexLeave), 1);
        QCOMPARE(redis.count("DEL"), 1); // of the latch; the release does not wait for it
        QCOMPARE(redis.requests(), 2);
        QTRY_COMPARE(keys(), leftOver());
        QCOMPARE(listeners(mutexChannel), 0);
    }

    void everyThreadOfAProcessHasItsNumber()
    {
        auto &redis = process();
        auto &one = add(redis);
        auto &two = add(redis);
        auto &other = add(process());
        for (auto *each : {&one, &two, &other}) {
            QVERIFY(holdsNow(*each));
            each->release();
            QTRY_VERIFY(each->gaveBack());
        }
        QCOMPARE(one.id().chopped(2), two.id().chopped(2));
        QCOMPARE(one.id().right(2) + two.id().right(2), QByteArray(":1:2"));
        QVERIFY(other.id().chopped(2) != one.id().chopped(2));
        const auto before = one.id();
        QVERIFY(holdsNow(one));
        QCOMPARE(one.id(), before); // the same thread comes again
    }

    void theMessageIsRedissons_data() { recipesAsRows(); }
    void theMessageIsRedissons()
    {
        QByteArrayList heard;
        const auto subscription =
            m_admin->subscribe(mutexChannel, [&heard](const redis::Message &message) { heard << message.payload; });
        QVERIFY(answerOf(m_admin->subscriberId(Deadline::after(m_loop, 5s))));
        auto &one = add(process());
        QVERIFY(holdsNow(one));
        one.release();
        QTRY_COMPARE(heard, QByteArrayList{"0"});
    }

    void aNameWithATagKeepsIt_data() { recipesAsRows(); }
    void aNameWithATagKeepsIt()
    {
        m_key = "{shop}:orders";
        auto &redis = process();
        auto &one = add(redis);
        auto &waiter = add(process());
        QVERIFY(holdsNow(one));
        waiter.acquire();
        QTRY_COMPARE(listeners("redisson_lock__channel:{shop}:orders"), 1);
        one.release();
        QTRY_VERIFY(waiter.holds());
        const bool isFenced = m_recipe == "redisson-fenced-lock";
        QTRY_COMPARE(keys(), isFenced ? (QByteArrayList{"redisson_lock_token:{shop}:orders", "{shop}:orders"})
                                      : QByteArrayList{"{shop}:orders"});
    }

    // The latch lets the same request be sent twice and count once.
    void theLatchIsThereWhileTheAnswerIsOut()
    {
        auto &redis = process();
        auto &one = add(redis);
        QVERIFY(holdsNow(one));
        redis.plan(mutexLeave, Fault::HoldReply);
        one.release(20s);
        QTRY_VERIFY(!exists(m_key));
        const auto latch = keys().value(0);
        static const QRegularExpression form(QStringLiteral("^redisson_unlock_latch:\\{orders\\}:[0-9a-f]{32}$"));
        QVERIFY2(form.match(QString::fromLatin1(latch)).hasMatch(), latch);
        QCOMPARE(ask({"GET", latch}).text, QByteArray("1"));
        const auto ttl = ask({"PTTL", latch}).integer;
        QVERIFY(ttl > 0 && ttl <= 13'500);
        redis.letThrough();
        QTRY_VERIFY(one.gaveBack());
        QTRY_COMPARE(keys(), QByteArrayList());
    }

    void queuedAcquire_data() { recipesAsRows(); }
    void queuedAcquire()
    {
        auto &holder = add(process());
        auto &redis = process();
        auto &waiter = add(redis);
        QVERIFY(holdsNow(holder));
        QVERIFY(waitsNow(waiter, redis));
        QCOMPARE(redis.count("SUBSCRIBE"), 1);
        QCOMPARE(redis.requests(), 3);
        QCOMPARE(listeners(mutexChannel), 1);
        holder.release();
        QTRY_VERIFY(waiter.holds());
        QCOMPARE(redis.count(mutexEnter), 3);
        QCOMPARE(redis.requests(), 4); // and UNSUBSCRIBE: N + 3 for N = 2
        QTRY_COMPARE(listeners(mutexChannel), 0);
        QCOMPARE(held(), (QByteArrayList{waiter.id(), "1"}));
    }

    // The last of four, each in a process of its own: one try for every release.
    void theLastOfMany()
    {
        std::vector<RedisContender *> queue;
        for (int i = 0; i < 4; ++i) {
            queue.push_back(&add(process()));
            QVERIFY(i == 0 ? holdsNow(*queue[0]) : waitsNow(*queue.back(), *m_processes.back()));
        }
        size_t holder = 0;
        std::set<size_t> waiting{1, 2, 3};
        for (int released = 1; released < 4; ++released) {
            queue[holder]->release();
            QTRY_VERIFY(std::ranges::any_of(waiting, [&](size_t i) { return queue[i]->holds(); }));
            // Everybody who waited has tried: two at the beginning, one for each release.
            for (const auto i : waiting)
                QTRY_COMPARE(m_processes[i]->count(mutexEnter), 2 + released);
            holder = *std::ranges::find_if(waiting, [&](size_t i) { return queue[i]->holds(); });
            waiting.erase(holder);
        }
        QCOMPARE(m_processes[holder]->requests() + 1, 4 + 3); // N + 3, with UNSUBSCRIBE
    }

    // One release costs one try per process that waits, not one per waiter.
    void aReleaseWakesOneWaiterOfEachProcess()
    {
        auto &holder = add(process());
        QVERIFY(holdsNow(holder));
        std::array<CountingRedis *, 2> waiting{&process(), &process()};
        for (auto *redis : waiting) {
            for (int i = 0; i < 3; ++i)
                QVERIFY(waitsNow(add(*redis), *redis));
            QCOMPARE(redis->count("SUBSCRIBE"), 1); // one for all three
        }
        QCOMPARE(listeners(mutexChannel), 2);
        for (auto *redis : waiting)
            redis->reset();
        holder.release();
        QTRY_COMPARE(waiting[0]->count(mutexEnter) + waiting[1]->count(mutexEnter), 2);
        QTRY_COMPARE(std::ranges::count_if(m_contenders, [](const auto &one) { return one->holds(); }), 2);
        QTest::qWait(100);
        QCOMPARE(waiting[0]->count(mutexEnter), 1);
        QCOMPARE(waiting[1]->count(mutexEnter), 1);
        QCOMPARE(listeners(mutexChannel), 2);
    }

    // Who was woken and is gone before it tried must not take the wake-up along.
    void theWakeUpOfOneWhoLeftGoesToTheNext()
    {
        auto &redis = process();
        auto &holder = add(process());
        QVERIFY(holdsNow(holder));
        auto &first = add(redis);
        auto &second = add(redis);
        QVERIFY(waitsNow(first, redis));
        QVERIFY(waitsNow(second, redis));
        redis.plan(mutexEnter,
                   Fault::HoldReply); // the try of the one that is woken: it gets the lock and does not know
        holder.release();
        QTRY_COMPARE(held().size(), 2);
        first.cancelWaits();
        QTRY_VERIFY(second.holds());
        redis.letThrough();
        QCOMPARE(held(), (QByteArrayList{second.id(), "1"}));
    }

    void reentry_data() { recipesAsRows(); }
    void reentry()
    {
        auto &redis = process();
        auto &one = add(redis);
        QVERIFY(holdsNow(one));
        const auto first = **one.granted;
        redis.reset();
        QVERIFY(holdsNow(one));
        QCOMPARE(redis.requests(), 1);
        QCOMPARE(one.id(), first.id);
        QCOMPARE((*one.granted)->fencingToken, first.fencingToken); // the same hold
        QCOMPARE(one.lock->holdCount(), 2);
        QCOMPARE(held(), (QByteArrayList{one.id(), "2"}));
        auto &other = add(redis); // another thread of the same process
        other.tryOnce();
        QTRY_VERIFY(other.granted);
        QCOMPARE(other.acquireCode(), code(ErrorCode::TimedOut));
        ask({"PEXPIRE", m_key, "5000"});
        one.release();
        QTRY_VERIFY(one.gaveBack());
        QCOMPARE(one.lock->holdCount(), 1);
        QCOMPARE(held(), (QByteArrayList{one.id(), "1"}));
        QVERIFY(ask({"PTTL", m_key}).integer > 25'000); // a full lease again
        one.release();
        QTRY_VERIFY(one.gaveBack());
        QCOMPARE(one.lock->holdCount(), 0);
        QTRY_COMPARE(keys(), leftOver());
    }

    // A first try whose answer was lost, and that landed after we looked and tried again: the server counts two holds
    // of ours, we have one, and its release leaves nothing.
    void aFreshHoldCountsOne()
    {
        auto &one = add(process());
        QVERIFY(holdsNow(one));
        const auto id = one.id();
        one.release();
        QTRY_VERIFY(one.gaveBack());
        QTRY_COMPARE(keys(), leftOver());
        ask({"HSET", m_key, id, "1"});
        QVERIFY(holdsNow(one));
        QCOMPARE(held(), (QByteArrayList{id, "2"}));
        QCOMPARE(one.lock->holdCount(), 1);
        one.release();
        QTRY_VERIFY(one.gaveBack());
        QTRY_VERIFY(!exists(m_key));
    }

    void fencingTokensGrow()
    {
        m_recipe = "redisson-fenced-lock";
        qint64 last = 0;
        auto &one = add(process());
        auto &two = add(process());
        for (auto *each : {&one, &two, &one}) {
            QVERIFY(holdsNow(*each));
            const auto token = (*each->granted)->fencingToken;
            QVERIFY(token && *token > last);
            last = *token;
            QCOMPARE(ask({"GET", "redisson_lock_token:{orders}"}).text, QByteArray::number(last));
            QVERIFY(holdsNow(*each)); // counts on the server, as Redisson's does
            ++last;
            each->release();
            QTRY_VERIFY(each->gaveBack());
            each->release();
            QTRY_VERIFY(each->gaveBack());
        }
        QVERIFY(holdsNow(one));
        ask({"DEL", m_key}); // taken away by force: the counter stays
        QVERIFY(holdsNow(two));
        QVERIFY(*(*two.granted)->fencingToken > *(*one.granted)->fencingToken);
    }

    // A release while the renewal's answer is out leaves no key that lives for ever.
    void aReleaseRacingTheWatchdogLeavesNothing()
    {
        auto &redis = process();
        auto &one = add(redis, withTtl(3s));
        redis.plan(renew, Fault::HoldReply, 1'000'000);
        QVERIFY(holdsNow(one));
        QTRY_VERIFY(redis.count(renew) == 1);
        one.release();
        QTRY_VERIFY(one.gaveBack());
        redis.letThrough();
        QTest::qWait(300);
        QCOMPARE(keys(), QByteArrayList());
        QCOMPARE(redis.count(renew), 1);
    }

    void reentryOfWhatWasTakenAwayIsRefused_data()
    {
        QTest::addColumn<bool>("isAnothers");
        QTest::newRow("gone") << false;
        QTest::newRow("another's") << true;
    }
    void reentryOfWhatWasTakenAwayIsRefused()
    {
        QFETCH(bool, isAnothers);
        const QByteArray another("11111111-7c8e-4b6e-9a3e-2f5d1c4b3a29:2");
        auto &one = add(process());
        one.heed();
        QVERIFY(holdsNow(one));
        ask({"DEL", m_key});
        if (isAnothers)
            ask({"HSET", m_key, another, "1"});
        one.acquire();
        QTRY_VERIFY(one.granted);
        QCOMPARE(one.acquireCode(), code(ErrorCode::NotHeld));
        QTRY_VERIFY(one.loss);
        QCOMPARE(*one.loss, Loss::TakenAway);
        QTRY_COMPARE(held(), isAnothers ? (QByteArrayList{another, "1"}) : QByteArrayList());
    }

    void acquireReplyLost_data()
    {
        QTest::addColumn<int>("fault");
        QTest::addColumn<int>("tries");
        QTest::newRow("lock: reply lost") << int(Fault::LoseReply) << 1;
        QTest::newRow("lock: request lost") << int(Fault::LoseRequest) << 2;
        QTest::newRow("fenced: reply lost") << int(Fault::LoseReply) << 1;
        QTest::newRow("fenced: request lost") << int(Fault::LoseRequest) << 2;
    }
    void acquireReplyLost()
    {
        QFETCH(int, fault);
        QFETCH(int, tries);
        auto &redis = process();
        redis.plan(mutexEnter, Fault(fault));
        auto &one = add(redis);
        QVERIFY(holdsNow(one));
        QCOMPARE(redis.count(mutexEnter), tries);
        QCOMPARE(held(), (QByteArrayList{one.id(), "1"})); // once, not twice
        if (m_recipe == "redisson-fenced-lock")
            QCOMPARE(*(*one.granted)->fencingToken, 1);
        redis.plan(mutexEnter, Fault(fault)); // the same once more inside
        QVERIFY(holdsNow(one));
        QCOMPARE(held(), (QByteArrayList{one.id(), "2"}));
        for (int i = 0; i < 2; ++i) {
            one.release();
            QTRY_VERIFY(one.gaveBack());
        }
        QTRY_COMPARE(keys(), leftOver());
    }

    void releaseReplyLost_data()
    {
        QTest::addColumn<int>("fault");
        QTest::newRow("reply lost") << int(Fault::LoseReply);
        QTest::newRow("request lost") << int(Fault::LoseRequest);
    }
    void releaseReplyLost()
    {
        QFETCH(int, fault);
        auto &redis = process();
        auto &one = add(redis);
        QVERIFY(holdsNow(one));
        QVERIFY(holdsNow(one));
        for (const int left : {1, 0}) {
            redis.plan(mutexLeave, Fault(fault));
            one.release();
            QTRY_VERIFY(one.gaveBack()); // sent again: it counts once
            QCOMPARE(held(), left > 0 ? (QByteArrayList{one.id(), "1"}) : QByteArrayList());
        }
        QCOMPARE(redis.count(mutexLeave), 4);
        QTRY_COMPARE(keys(), QByteArrayList());
    }

    // The server counts one more than we do: the last release sees it and takes the rest away.
    void anInnerReleaseThatNeverArrivedIsMadeUpFor()
    {
        auto &redis = process();
        auto &one = add(redis);
        QVERIFY(holdsNow(one));
        QVERIFY(holdsNow(one));
        redis.plan(mutexLeave, Fault::LoseRequest, 1'000'000);
        one.release(120ms);
        QTRY_VERIFY(one.released);
        QCOMPARE(one.releaseCode(), code(ErrorCode::UnknownOutcome));
        QCOMPARE(one.lock->holdCount(), 1);
        redis.plan(mutexLeave, Fault::LoseRequest, 0);
        one.release();
        QTRY_VERIFY(one.gaveBack());
        QTRY_COMPARE(keys(), QByteArrayList());
    }

    void aReleaseWithoutAnAnswerIsFollowedUp()
    {
        auto &redis = process();
        auto &one = add(redis);
        QVERIFY(holdsNow(one));
        redis.plan(mutexLeave, Fault::LoseRequest, 1'000'000);
        one.release(120ms);
        QTRY_VERIFY(one.released);
        QCOMPARE(one.releaseCode(), code(ErrorCode::UnknownOutcome));
        QTRY_COMPARE(keys(), QByteArrayList());
        QCOMPARE(redis.count(takeAway), 1);
        // What follows is another thread's, so that nothing late can hit it.
        const auto before = one.id();
        QVERIFY(holdsNow(one));
        QVERIFY(one.id() != before);
    }

    void destroyingTheHolderReleasesAndWakes_data() { recipesAsRows(); }
    void destroyingTheHolderReleasesAndWakes()
    {
        auto &one = add(process());
        auto &redis = process();
        auto &waiter = add(redis);
        QVERIFY(holdsNow(one));
        QVERIFY(holdsNow(one)); // twice
        QVERIFY(waitsNow(waiter, redis));
        one.lock.reset();
        QTRY_VERIFY(waiter.holds());
        QCOMPARE(redis.count(mutexEnter), 3);
    }

    void aMessageLostWithTheConnectionIsMadeUpFor()
    {
        auto &redis = process();
        auto &holder = add(process());
        QVERIFY(holdsNow(holder));
        auto &waiter = add(redis);
        QVERIFY(waitsNow(waiter, redis));
        ask({"CLIENT", "KILL", "TYPE", "pubsub"});
        ask({"DEL", m_key}); // and nobody hears of it
        QTRY_VERIFY(waiter.holds());
    }

    void aKeyOfAnotherTypeIsAnError()
    {
        ask({"SET", m_key, "text"});
        auto &one = add(process());
        one.acquire();
        QTRY_VERIFY(one.granted);
        QCOMPARE(one.acquireCode(), code(ErrorCode::Server));
        QCOMPARE(ask({"GET", m_key}).text, QByteArray("text"));
    }
};

LOCKSCOPE_TEST(TestRecipesRedisson)
#include "tst_recipes_redisson.moc"
