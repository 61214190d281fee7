// SPDX-License-Identifier: Apache-2.0
// Redisson's RFairLock on a real Redis: the queue as Redisson keeps it, who is woken, and what becomes of
// the queue when somebody gives up, dies, or hears no answer.
#include "rediscontender.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;
using Fault = CountingRedis::Fault;

namespace {

const QByteArray fairEnter("redisson-fair-acquire");
const QByteArray fairLeave("redisson-fair-release");
const QByteArray giveUp("redisson-fair-leave");
const QByteArray queueKey("redisson_lock_queue:{orders}");
const QByteArray deadlinesKey("redisson_lock_timeout:{orders}");
const QByteArray fairChannel("redisson_lock__channel:{orders}");
const QByteArray strangerInLine("11111111-7c8e-4b6e-9a3e-2f5d1c4b3a29:2");

} // namespace

class TestRecipesRedissonFair : public RedisRecipeFixture {
    Q_OBJECT

    QByteArrayList held() { return list({"HGETALL", m_key}); }
    QByteArrayList queue() { return list({"LRANGE", queueKey, "0", "-1"}); }
    qint64 deadlineOf(const QByteArray &who) { return ask({"ZSCORE", deadlinesKey, who}).text.toLongLong(); }
    qint64 serverNow()
    {
        const auto time = list({"TIME"});
        return time[0].toLongLong() * 1000 + time[1].toLongLong() / 1000;
    }
    bool holdsNow(RedisContender &one)
    {
        one.acquire();
        return eventually([&] { return one.granted.has_value(); }) && one.holds();
    }
    // It stands in the queue, listens, and has tried again.
    bool queues(RedisContender &one, CountingRedis &redis, Deadline deadline = Deadline::never())
    {
        const int before = redis.count(fairEnter);
        one.acquire(deadline);
        return eventually([&] { return redis.count(fairEnter) == before + 2; });
    }

private slots:
    void initTestCase()
    {
        const auto why = startServer();
        if (!m_server)
            QSKIP(qPrintable(why));
        QVERIFY2(why.isEmpty(), qPrintable(why));
    }
    void init() { m_recipe = "redisson-fair-lock"; }
    void cleanup() { forgetContenders(); }

    void freeAcquireAndRelease()
    {
        const auto *recipe = recipes::findRecipe(m_recipe);
        QVERIFY(recipe->fair && recipe->reentrant);
        auto &redis = process();
        auto &one = add(redis);
        QVERIFY(holdsNow(one));
        QCOMPARE(redis.requests(), recipe->requestsAcquireFree.toInt());
        QCOMPARE(held(), (QByteArrayList{one.id(), "1"}));
        QCOMPARE(keys(), QByteArrayList{"orders"}); // nothing that an RLock has not
        redis.reset();
        one.release();
        QTRY_VERIFY(one.gaveBack());
        QCOMPARE(redis.count(fairLeave), 1);
        QCOMPARE(redis.count("DEL"), 1);
        QCOMPARE(redis.requests(), 2);
        QTRY_COMPARE(keys(), QByteArrayList());
    }

    void theQueueIsRedissons()
    {
        auto &redis = process();
        auto &holder = add(redis);
        QVERIFY(holdsNow(holder));
        auto &second = process();
        auto &third = process();
        QVERIFY(queues(add(second), second));
        QVERIFY(queues(add(third), third));
        const auto waiting = queue();
        QCOMPARE(waiting.size(), 2);
        QCOMPARE(keys(), (QByteArrayList{"orders", queueKey, deadlinesKey}));
        QCOMPARE(ask({"PTTL", queueKey}).integer, -1);
        QCOMPARE(ask({"PTTL", deadlinesKey}).integer, -1);
        QCOMPARE(list({"ZRANGE", deadlinesKey, "0", "-1"}), waiting);
        // The first may wait for the lease and the time of one waiter, the second for one more.
        const auto first = deadlineOf(waiting[0]) - serverNow();
        QVERIFY2(first > 320'000 && first <= 330'000, QByteArray::number(first).constData());
        QCOMPARE(deadlineOf(waiting[1]) - deadlineOf(waiting[0]), 300'000);
        for (const auto &who : waiting)
            QCOMPARE(listeners(fairChannel + ':' + who), 1);
        QCOMPARE(listeners(fairChannel), 0);
        const auto before = deadlineOf(waiting[1]);
        holder.release();
        QTRY_VERIFY(m_contenders[1]->holds());
        QCOMPARE(m_contenders[1]->id(), waiting[0]);
        QCOMPARE(queue(), QByteArrayList{waiting[1]});
        QCOMPARE(deadlineOf(waiting[1]), before - 300'000); // one waiter less before it
    }

    void firstComeFirstServed()
    {
        const auto *recipe = recipes::findRecipe(m_recipe);
        constexpr int n = 5;
        for (int i = 0; i < n; ++i) {
            auto &redis = process();
            auto &one = add(redis);
            QVERIFY(i == 0 ? holdsNow(one) : queues(one, redis));
        }
        for (int i = 0; i + 1 < n; ++i) {
            m_contenders[size_t(i)]->release();
            QTRY_VERIFY(m_contenders[size_t(i) + 1]->holds());
            QCOMPARE(std::ranges::count_if(m_contenders, [](const auto &one) { return one->holds(); }), i + 2);
        }
        // One wake-up for each, and only its own: three tries, SUBSCRIBE and UNSUBSCRIBE.
        for (int i = 1; i < n; ++i) {
            QCOMPARE(m_processes[size_t(i)]->count(fairEnter), 3);
            const int besides = i + 1 < n ? 2 : 0; // its release
            QTRY_COMPARE(m_processes[size_t(i)]->requests() + 1 - besides, recipe->requestsAcquireQueued.toInt());
        }
        m_contenders.back()->release();
        QTRY_COMPARE(keys(), QByteArrayList());
        QCOMPARE(list({"PUBSUB", "CHANNELS"}), QByteArrayList());
    }

    void whoGivesUpLeavesTheQueue_data()
    {
        QTest::addColumn<QString>("how");
        for (const auto *how : {"timeout", "acquire destroyed", "lock destroyed"})
            QTest::newRow(how) << QString::fromLatin1(how);
    }
    void whoGivesUpLeavesTheQueue()
    {
        QFETCH(QString, how);
        auto &holder = add(process());
        QVERIFY(holdsNow(holder));
        auto &redis = process();
        auto &other = process();
        auto &one = add(redis);
        auto &behind = add(other);
        const bool byTime = how == QLatin1String("timeout");
        QVERIFY(queues(one, redis, byTime ? Deadline::after(m_loop, 4s) : Deadline::never()));
        QVERIFY(queues(behind, other));
        const auto waiting = queue();
        QCOMPARE(waiting.size(), 2);
        const auto before = deadlineOf(waiting[1]);
        if (how == QLatin1String("lock destroyed"))
            one.lock.reset();
        else if (!byTime)
            one.cancelWaits();
        QTRY_COMPARE(queue(), QByteArrayList{waiting[1]});
        QCOMPARE(list({"ZRANGE", deadlinesKey, "0", "-1"}), QByteArrayList{waiting[1]});
        // As much less as it was given: what it said that it would wait, or Redisson's default.
        const auto given = before - deadlineOf(waiting[1]);
        QVERIFY2(byTime ? given > 1'000 && given <= 4'000 : given == 300'000, QByteArray::number(given).constData());
        QTRY_COMPARE(listeners(fairChannel + ':' + waiting[0]), 0);
        QCOMPARE(redis.count(giveUp), 1);
        if (byTime) {
            QTRY_VERIFY(one.granted);
            QCOMPARE(one.acquireCode(), code(ErrorCode::TimedOut));
        }
        holder.release();
        QTRY_VERIFY(behind.holds());
    }

    // It was told of the release, and left before it made use of it.
    void theWakeUpOfOneWhoLeftGoesToTheNext()
    {
        auto &holder = add(process());
        QVERIFY(holdsNow(holder));
        auto &redis = process();
        auto &other = process();
        auto &one = add(redis);
        auto &behind = add(other);
        QVERIFY(queues(one, redis));
        QVERIFY(queues(behind, other));
        redis.plan(fairEnter, Fault::LoseRequest, 1'000'000); // it never gets to try
        redis.plan("HGET", Fault::LoseRequest, 1'000'000);
        holder.release();
        QTRY_VERIFY(redis.count(fairEnter) >= 3);
        QVERIFY(!exists(m_key));
        QVERIFY(!behind.granted);
        one.cancelWaits();
        QTRY_VERIFY(behind.holds());
        QTRY_COMPARE(keys(), QByteArrayList{"orders"});
    }

    void aWaiterThatDiedIsDroppedWhenItsTimeIsUp()
    {
        ask({"RPUSH", queueKey, strangerInLine});
        ask({"ZADD", deadlinesKey, QByteArray::number(serverNow() + 2500), strangerInLine});
        auto &redis = process();
        auto &one = add(redis);
        one.acquire();
        QTRY_COMPARE(queue().size(), 2);
        QVERIFY(!one.granted);
        QTRY_VERIFY(one.holds());
        QCOMPARE(redis.count(fairEnter), 3); // it waited for that moment, and did not poll
        QCOMPARE(keys(), QByteArrayList{"orders"});
    }

    void anEntryWithoutATimeDoesNotBlockForEver()
    {
        ask({"RPUSH", queueKey, strangerInLine});
        auto &one = add(process());
        QVERIFY(holdsNow(one));
        QCOMPARE(keys(), QByteArrayList{"orders"});
    }

    // Redisson's own unlock says "done" here and wakes the next; to whom it was ours it is not.
    void theKeyTakenAwayIsNoticedAndTheNextWoken()
    {
        auto &redis = process();
        auto &one = add(redis, withTtl(30s));
        auto &other = process();
        auto &waiter = add(other);
        QVERIFY(holdsNow(one));
        QVERIFY(queues(waiter, other));
        ask({"DEL", m_key});
        one.release();
        QTRY_VERIFY(one.released);
        QCOMPARE(one.releaseCode(), code(ErrorCode::NotHeld));
        QTRY_VERIFY(waiter.holds());
        QCOMPARE(other.count(fairEnter), 3);
    }

    void releaseReplyLost()
    {
        auto &redis = process();
        auto &one = add(redis);
        auto &other = process();
        auto &waiter = add(other);
        QVERIFY(holdsNow(one));
        QVERIFY(queues(waiter, other));
        redis.plan(fairLeave, Fault::LoseReply);
        one.release();
        QTRY_VERIFY(one.gaveBack());
        QTRY_VERIFY(waiter.holds());
        QCOMPARE(redis.count(fairLeave), 2);
        QCOMPARE(held(), (QByteArrayList{waiter.id(), "1"}));
    }

    // Many who give up do not move the others' moments into the far future, or the past.
    void deadlinesDoNotDrift()
    {
        auto &holder = add(process());
        QVERIFY(holdsNow(holder));
        auto &redis = process();
        for (int round = 0; round < 4; ++round) {
            for (int i = 0; i < 5; ++i)
                add(redis).acquireFor(150ms);
            QTRY_VERIFY(std::ranges::all_of(m_contenders, [](const auto &one) { return one->granted.has_value(); }));
        }
        QTRY_COMPARE(keys(), QByteArrayList{"orders"});
        auto &last = process();
        QVERIFY(queues(add(last), last));
        const auto ahead = deadlineOf(queue()[0]) - serverNow();
        QVERIFY2(ahead > 300'000 && ahead <= 330'000, QByteArray::number(ahead).constData());
    }
};

LOCKSCOPE_TEST(TestRecipesRedissonFair)
#include "tst_recipes_redisson_fair.moc"
