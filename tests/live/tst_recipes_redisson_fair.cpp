// SPDX-License-Identifier: Apache-2.0
// Redisson's RFairLock on a real Redis: the queue as Redisson keeps it, who is woken, and what becomes of
// the queue when somebody gives up, dies, or hears no answer.
#include "rediscontender.h"
#include "tests/support/testmain.h"

using Fault = RequestFault;

namespace {

const QByteArray fairEnter("redisson-fair-acquire");
const QByteArray giveUp("redisson-fair-leave");
const QByteArray queueKey("redisson_lock_queue:{orders}");
const QByteArray deadlinesKey("redisson_lock_timeout:{orders}");
const QByteArray fairChannel("redisson_lock__channel:{orders}");
const QByteArray strangerInLine("11111111-7c8e-4b6e-9a3e-2f5d1c4b3a29:2");

} // namespace

class TestRecipesRedissonFair : public RedisRecipeFixture {
    Q_OBJECT

    QByteArrayList queue() { return list({"LRANGE", queueKey, "0", "-1"}); }
    qint64 deadlineOf(const QByteArray &who) { return ask({"ZSCORE", deadlinesKey, who}).text.toLongLong(); }
    qint64 serverNow()
    {
        const auto time = list({"TIME"});
        return time[0].toLongLong() * 1000 + time[1].toLongLong() / 1000;
    }

private slots:
    void init() { m_recipe = "redisson-fair-lock"; }

    void theQueueIsRedissons()
    {
        auto &redis = process();
        auto &holder = add(redis);
        QVERIFY(holder.takes());
        QCOMPARE(keys(), QByteArrayList{"orders"}); // nothing that an RLock has not
        auto &second = process();
        auto &third = process();
        QVERIFY(waitsNow(add(second), second, fairEnter));
        QVERIFY(waitsNow(add(third), third, fairEnter));
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

    void waiterThatGivesUpLeavesTheQueue_data()
    {
        const Rows<QString> row("how");
        for (const auto *how : {"timeout", "acquire destroyed", "lock destroyed"})
            row(how, QString::fromLatin1(how));
    }
    void waiterThatGivesUpLeavesTheQueue()
    {
        QFETCH(QString, how);
        auto &holder = add(process());
        QVERIFY(holder.takes());
        auto &redis = process();
        auto &other = process();
        auto &one = add(redis);
        auto &behind = add(other);
        const bool byTime = how == QLatin1String("timeout");
        QVERIFY(waitsNow(one, redis, fairEnter, byTime ? Deadline::after(m_loop, 4s) : Deadline::never()));
        QVERIFY(waitsNow(behind, other, fairEnter));
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
        QVERIFY(holder.takes());
        auto &redis = process();
        auto &other = process();
        auto &one = add(redis);
        auto &behind = add(other);
        QVERIFY(waitsNow(one, redis, fairEnter));
        QVERIFY(waitsNow(behind, other, fairEnter));
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
        QVERIFY(one.takes());
        QCOMPARE(keys(), QByteArrayList{"orders"});
    }

    // Redisson's own unlock says "done" here and wakes the next; to whom it was ours it is not.
    void theKeyTakenAwayIsNoticedAndTheNextWoken()
    {
        auto &redis = process();
        auto &one = add(redis, withTtl(30s));
        auto &other = process();
        auto &waiter = add(other);
        QVERIFY(one.takes());
        QVERIFY(waitsNow(waiter, other, fairEnter));
        ask({"DEL", m_key});
        QCOMPARE(one.codeOfRelease(), code(ErrorCode::NotHeld));
        QTRY_VERIFY(waiter.holds());
        QCOMPARE(other.count(fairEnter), 3);
    }

    // Many who give up do not move the others' moments into the far future, or the past.
    void deadlinesDoNotDrift()
    {
        auto &holder = add(process());
        QVERIFY(holder.takes());
        auto &redis = process();
        for (int round = 0; round < 4; ++round) {
            for (int i = 0; i < 5; ++i)
                add(redis).acquireFor(150ms);
            QTRY_VERIFY(std::ranges::all_of(m_contenders, [](const auto &one) { return one->granted.has_value(); }));
        }
        QTRY_COMPARE(keys(), QByteArrayList{"orders"});
        auto &last = process();
        QVERIFY(waitsNow(add(last), last, fairEnter));
        const auto ahead = deadlineOf(queue()[0]) - serverNow();
        QVERIFY2(ahead > 300'000 && ahead <= 330'000, QByteArray::number(ahead).constData());
    }
};

LOCKSCOPE_TEST(TestRecipesRedissonFair)
#include "tst_recipes_redisson_fair.moc"
