// SPDX-License-Identifier: Apache-2.0
// Redisson's RLock and RFencedLock on a real Redis: byte-exact keys, channels and messages, who is woken,
// and what is left when answers are lost. The rest: tests/contract.
#include "rediscontender.h"
#include "tests/support/testmain.h"

#include <QRegularExpression>

using recipes::Loss;
using Fault = RequestFault;

namespace {

const QByteArray mutexEnter("redisson-acquire");
const QByteArray mutexLeave("redisson-release");
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

private slots:
    void init()
    {
        m_key = "orders";
        m_recipe = "redisson-lock";
        if (const auto *row = QTest::currentDataTag())
            m_recipe = QByteArray(row).startsWith("fenced") ? "redisson-fenced-lock" : "redisson-lock";
    }

    void freeAcquireAndRelease_data() { recipesAsRows(); }
    void freeAcquireAndRelease()
    {
        auto &redis = process();
        auto &one = add(redis);
        QVERIFY(one.takes());
        QCOMPARE(redis.count(mutexEnter), 1);
        static const QRegularExpression holder(
            QStringLiteral("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:1$"));
        QVERIFY2(holder.match(QString::fromLatin1(one.id())).hasMatch(), one.id());
        QCOMPARE(held(), (QByteArrayList{one.id(), "1"}));
        const auto ttl = ask({"PTTL", m_key}).integer;
        QVERIFY(ttl > 25'000 && ttl <= 30'000);
        QCOMPARE(keys(), QByteArrayList{"orders"} + leftOver());
        QVERIFY(one.takes()); // once more is one more in the server's count, too
        QCOMPARE(held(), (QByteArrayList{one.id(), "2"}));
        QVERIFY(one.givesBack());
        QCOMPARE(held(), (QByteArrayList{one.id(), "1"}));
        redis.reset();
        QVERIFY(one.givesBack());
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
            QVERIFY(each->takes());
            each->release();
            QTRY_VERIFY(each->gaveBack());
        }
        QCOMPARE(one.id().chopped(2), two.id().chopped(2));
        QCOMPARE(one.id().right(2) + two.id().right(2), QByteArray(":1:2"));
        QVERIFY(other.id().chopped(2) != one.id().chopped(2));
        const auto before = one.id();
        QVERIFY(one.takes());
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
        QVERIFY(one.takes());
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
        QVERIFY(one.takes());
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
        QVERIFY(one.takes());
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

    // One release costs one try per process that waits, not one per waiter.
    void aReleaseWakesOneWaiterOfEachProcess()
    {
        auto &holder = add(process());
        QVERIFY(holder.takes());
        std::array<CountingRedis *, 2> waiting{&process(), &process()};
        for (auto *redis : waiting) {
            for (int i = 0; i < 3; ++i)
                QVERIFY(waitsNow(add(*redis), *redis, mutexEnter));
            QCOMPARE(redis->count("SUBSCRIBE"), 1); // one for all three
        }
        QCOMPARE(listeners(mutexChannel), 2);
        for (auto *redis : waiting)
            redis->reset();
        holder.release();
        QTRY_COMPARE(waiting[0]->count(mutexEnter) + waiting[1]->count(mutexEnter), 2);
        QTRY_COMPARE(std::ranges::count_if(m_contenders, [](const auto &one) { return one->holds(); }), 2);
        const auto tries = [&] { return waiting[0]->count(mutexEnter) + waiting[1]->count(mutexEnter); };
        QVERIFY(!QTest::qWaitFor([&] { return tries() > 2; }, 100));
        QCOMPARE(waiting[0]->count(mutexEnter), 1);
        QCOMPARE(waiting[1]->count(mutexEnter), 1);
        QCOMPARE(listeners(mutexChannel), 2);
    }

    // Who was woken and is gone before it tried must not take the wake-up along.
    void theWakeUpOfOneWhoLeftGoesToTheNext()
    {
        auto &redis = process();
        auto &holder = add(process());
        QVERIFY(holder.takes());
        auto &first = add(redis);
        auto &second = add(redis);
        QVERIFY(waitsNow(first, redis, mutexEnter));
        QVERIFY(waitsNow(second, redis, mutexEnter));
        redis.plan(mutexEnter,
                   Fault::HoldReply); // the try of the one that is woken: it gets the lock and does not know
        holder.release();
        QTRY_COMPARE(held().size(), 2);
        first.cancelWaits();
        QTRY_VERIFY(second.holds());
        redis.letThrough();
        QCOMPARE(held(), (QByteArrayList{second.id(), "1"}));
    }

    // A first try whose answer was lost, and that landed after we looked and tried again: the server counts two holds
    // of ours, we have one, and its release leaves nothing.
    void aFreshHoldCountsOne()
    {
        auto &one = add(process());
        QVERIFY(one.takes());
        const auto id = one.id();
        QVERIFY(one.givesBack());
        QTRY_COMPARE(keys(), leftOver());
        ask({"HSET", m_key, id, "1"});
        QVERIFY(one.takes());
        QCOMPARE(held(), (QByteArrayList{id, "2"}));
        QCOMPARE(one.lock->holdCount(), 1);
        QVERIFY(one.givesBack());
        QTRY_VERIFY(!exists(m_key));
    }

    void fencingTokensGrow()
    {
        m_recipe = "redisson-fenced-lock";
        qint64 last = 0;
        auto &one = add(process());
        auto &two = add(process());
        for (auto *each : {&one, &two, &one}) {
            QVERIFY(each->takes());
            const auto token = (*each->granted)->fencingToken;
            QVERIFY(token && *token > last);
            last = *token;
            QCOMPARE(ask({"GET", "redisson_lock_token:{orders}"}).text, QByteArray::number(last));
            QVERIFY(each->takes()); // counts on the server, as Redisson's does
            ++last;
            each->release();
            QTRY_VERIFY(each->gaveBack());
            each->release();
            QTRY_VERIFY(each->gaveBack());
        }
    }

    void reentryOfWhatWasTakenAwayIsRefused_data()
    {
        addRows<bool>("isAnothers", {{"gone", false}, {"another's", true}});
    }
    void reentryOfWhatWasTakenAwayIsRefused()
    {
        QFETCH(bool, isAnothers);
        const QByteArray another("11111111-7c8e-4b6e-9a3e-2f5d1c4b3a29:2");
        auto &one = add(process());
        one.heed();
        QVERIFY(one.takes());
        ask({"DEL", m_key});
        if (isAnothers)
            ask({"HSET", m_key, another, "1"});
        QCOMPARE(one.codeOfAcquire(), code(ErrorCode::NotHeld));
        QTRY_VERIFY(one.loss);
        QCOMPARE(*one.loss, Loss::TakenAway);
        QTRY_COMPARE(held(), isAnothers ? (QByteArrayList{another, "1"}) : QByteArrayList());
    }

    void acquireReplyLost_data()
    {
        const Rows<int, int> row("fault", "tries");
        row("lock: reply lost", int(Fault::LoseReply), 1);
        row("lock: request lost", int(Fault::LoseRequest), 2);
        row("fenced: reply lost", int(Fault::LoseReply), 1);
        row("fenced: request lost", int(Fault::LoseRequest), 2);
    }
    void acquireReplyLost()
    {
        QFETCH(int, fault);
        QFETCH(int, tries);
        auto &redis = process();
        redis.plan(mutexEnter, Fault(fault));
        auto &one = add(redis);
        QVERIFY(one.takes());
        QCOMPARE(redis.count(mutexEnter), tries);
        QCOMPARE(held(), (QByteArrayList{one.id(), "1"})); // once, not twice
        if (m_recipe == "redisson-fenced-lock")
            QCOMPARE(*(*one.granted)->fencingToken, 1);
        redis.plan(mutexEnter, Fault(fault)); // the same once more inside
        QVERIFY(one.takes());
        QCOMPARE(held(), (QByteArrayList{one.id(), "2"}));
        for (int i = 0; i < 2; ++i) {
            QVERIFY(one.givesBack());
        }
        QTRY_COMPARE(keys(), leftOver());
    }

    void releaseReplyLost_data()
    {
        addRows<int>("fault", {{"reply lost", int(Fault::LoseReply)}, {"request lost", int(Fault::LoseRequest)}});
    }
    void releaseReplyLost()
    {
        QFETCH(int, fault);
        auto &redis = process();
        auto &one = add(redis);
        QVERIFY(one.takes());
        QVERIFY(one.takes());
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
        QVERIFY(one.takes());
        QVERIFY(one.takes());
        redis.plan(mutexLeave, Fault::LoseRequest, 1'000'000);
        one.release(120ms);
        QTRY_VERIFY(one.released);
        QCOMPARE(one.releaseCode(), code(ErrorCode::UnknownOutcome));
        QCOMPARE(one.lock->holdCount(), 1);
        redis.plan(mutexLeave, Fault::LoseRequest, 0);
        QVERIFY(one.givesBack());
        QTRY_COMPARE(keys(), QByteArrayList());
    }

    void aMessageLostWithTheConnectionIsMadeUpFor()
    {
        auto &redis = process();
        auto &holder = add(process());
        QVERIFY(holder.takes());
        auto &waiter = add(redis);
        QVERIFY(waitsNow(waiter, redis, mutexEnter));
        ask({"CLIENT", "KILL", "TYPE", "pubsub"});
        ask({"DEL", m_key}); // and nobody hears of it
        QTRY_VERIFY(waiter.holds());
    }

    void aKeyOfAnotherTypeIsAnError()
    {
        ask({"SET", m_key, "text"});
        auto &one = add(process());
        QCOMPARE(one.codeOfAcquire(), code(ErrorCode::Server));
        QCOMPARE(ask({"GET", m_key}).text, QByteArray("text"));
    }
};

LOCKSCOPE_TEST(TestRecipesRedisson)
#include "tst_recipes_redisson.moc"
