// SPDX-License-Identifier: Apache-2.0
// The two locks for teaching on a real Redis: they do what they are said to do, flaws included.
#include "rediscontender.h"
#include "tests/support/testmain.h"

using recipes::Loss;
using Fault = RequestFault;

class TestRecipesTeaching : public RedisRecipeFixture {
    Q_OBJECT

    QByteArray stored() { return ask({"GET", m_key}).text; }
    qint64 nowMs() const
    {
        return std::chrono::duration_cast<std::chrono::milliseconds>(m_loop.wallNow().time_since_epoch()).count();
    }

private slots:
    void init()
    {
        m_recipe = "redis-setnx-expire";
        m_key = "the-lock";
    }

    // Flaw: neither has a watchdog.
    void theLeaseIsNotProlonged_data()
    {
        const Rows<QByteArray> row("recipe");
        for (const auto *recipe : {"redis-setnx-expire", "redis-getset"})
            row(recipe, QByteArray(recipe));
    }
    void theLeaseIsNotProlonged()
    {
        QFETCH(QByteArray, recipe);
        QVERIFY(recipes::findRecipe(recipe)->teachingOnly);
        m_recipe = recipe;
        auto &one = add(process(), withTtl(1s));
        auto &other = add(process(), withTtl(30s));
        one.heed();
        QVERIFY(one.takes());
        other.acquire();
        QTRY_VERIFY(one.loss);
        QCOMPARE(*one.loss, Loss::LeaseOver);
        QTRY_VERIFY(other.holds());
        QVERIFY(one.saysItIsNotMine());
    }

    void setnxExpireRequests()
    {
        auto &redis = process();
        auto &one = add(redis, withTtl(20'001ms));
        QVERIFY(one.takes());
        QCOMPARE(redis.count("SETNX"), 1);
        QCOMPARE(redis.count("EXPIRE"), 1);
        QCOMPARE(stored(), QByteArray("1"));
        QCOMPARE(one.id(), QByteArray("1"));
        const auto ttl = ask({"PTTL", m_key}).integer;
        QVERIFY2(ttl > 20'001 && ttl <= 21'000, QByteArray::number(ttl).constData()); // whole seconds only
        auto &other = process();
        auto &waiter = add(other);
        waiter.acquire();
        QTRY_VERIFY(other.count("SETNX") >= 3);
        QCOMPARE(other.requests(), other.count("SETNX"));
        redis.reset();
        QVERIFY(one.givesBack());
        QCOMPARE(redis.count("DEL"), 1);
        QTRY_VERIFY(waiter.holds());
        QCOMPARE(other.requests(), other.count("SETNX") + 1);
    }

    // Flaw: between the two commands.
    void aCrashBeforeExpireLocksForEver()
    {
        auto &redis = process();
        redis.plan("EXPIRE", Fault::LoseRequest);
        auto &one = add(redis);
        QCOMPARE(one.codeOfAcquire(), code(ErrorCode::UnknownOutcome));
        QCOMPARE(ask({"PTTL", m_key}).integer, -1);
        one.acquireFor(100ms);
        QTRY_VERIFY(one.granted);
        QCOMPARE(one.acquireCode(), code(ErrorCode::TimedOut));
        QCOMPARE(ask({"PTTL", m_key}).integer, -1);
    }
    void aLostAnswerLocksForEver()
    {
        auto &redis = process();
        redis.plan("SETNX", Fault::LoseReply);
        auto &one = add(redis);
        QCOMPARE(one.codeOfAcquire(), code(ErrorCode::UnknownOutcome));
        QCOMPARE(ask({"PTTL", m_key}).integer, -1);
    }

    // Flaw: DEL does not ask whose key it is.
    void lateHolderReleasesTheNextHoldersLock()
    {
        auto &one = add(process(), withTtl(1s));
        one.heed();
        one.acquire();
        QTRY_VERIFY(one.loss);
        auto &other = add(process());
        QVERIFY(other.takes());
        one.release();
        QTRY_VERIFY(one.gaveBack()); // as far as it knows
        QCOMPARE(keys(), QByteArrayList());
        QCOMPARE(other.codeOfRelease(), code(ErrorCode::NotHeld));
    }

    void getsetRequests()
    {
        m_recipe = "redis-getset";
        auto &redis = process();
        auto &one = add(redis, withTtl(20s));
        const auto before = nowMs();
        QVERIFY(one.takes());
        QCOMPARE(redis.count("SETNX"), 1);
        QCOMPARE(stored(), one.id());
        const auto stamp = stored().toLongLong();
        QVERIFY(stamp >= before + 20'000 && stamp <= nowMs() + 20'000);
        QCOMPARE(ask({"PTTL", m_key}).integer, -1);
        auto &other = process();
        auto &waiter = add(other);
        waiter.acquire();
        QTRY_VERIFY(other.count("GET") >= 3);
        QTRY_COMPARE(other.requests(), 2 * other.count("SETNX"));
        redis.reset();
        QVERIFY(one.givesBack());
        QCOMPARE(redis.count("GET"), 1);
        QCOMPARE(redis.count("DEL"), 1);
        QTRY_VERIFY(waiter.holds());
        QCOMPARE(other.count("GETSET"), 0);
    }

    void getsetTakesOverWhatIsPast()
    {
        m_recipe = "redis-getset";
        ask({"SET", m_key, QByteArray::number(nowMs() - 1000)});
        auto &redis = process();
        auto &one = add(redis);
        QVERIFY(one.takes());
        QCOMPARE(redis.requests(), 3);
        QCOMPARE(redis.count("GETSET"), 1);
        QCOMPARE(stored(), one.id());
        QVERIFY(stored().toLongLong() > nowMs());
    }

    // Only a time in milliseconds is this recipe's: a time in seconds would seem long past, and so would a count.
    void getsetLeavesOtherNumbers_data()
    {
        const Rows<QByteArray> row("value");
        const auto seconds = nowMs() / 1000;
        row("seconds, ahead", QByteArray::number(seconds + 3600));
        row("seconds, gone by", QByteArray::number(seconds - 100));
        row("a fraction", QByteArray::number(seconds - 100) + ".5");
        row("a count", "2");
        row("a counter at rest", "0");
        row("a counter below zero", "-1");
        row("days ago", QByteArray::number(nowMs() - 3 * 86'400'000LL));
    }
    void getsetLeavesOtherNumbers()
    {
        QFETCH(QByteArray, value);
        m_recipe = "redis-getset";
        ask({"SET", m_key, value});
        auto &redis = process();
        auto &one = add(redis);
        QCOMPARE(one.codeOfAcquire(), code(ErrorCode::Refused));
        QCOMPARE(redis.count("GET"), 1);
        QCOMPARE(stored(), value);
    }
    void getsetReleaseLeavesOtherNumbers()
    {
        m_recipe = "redis-getset";
        auto &redis = process();
        auto &one = add(redis, withTtl(20s));
        QVERIFY(one.takes());
        ask({"SET", m_key, "2"});
        QVERIFY(one.saysItIsNotMine());
        QCOMPARE(one.codeOfRelease(), code(ErrorCode::NotHeld));
        QCOMPARE(redis.count("DEL"), 0);
        QCOMPARE(stored(), QByteArray("2"));
    }

    // Flaw: the loser's time stands there, and the winner cannot know.
    void aLoserOverwritesTheWinnersTime()
    {
        m_recipe = "redis-getset";
        ask({"SET", m_key, QByteArray::number(nowMs() - 1000)});
        auto &redis = process();
        redis.plan("GET", Fault::HoldReply);
        auto &loser = add(redis, withTtl(60s));
        loser.acquire();
        QTRY_COMPARE(redis.count("GET"), 1);
        auto &winner = add(process(), withTtl(30s));
        QVERIFY(winner.takes());
        redis.letThrough();
        QTRY_COMPARE(redis.count("GETSET"), 1);
        QTRY_VERIFY(redis.count("SETNX") >= 2);
        QVERIFY(!loser.granted);
        QVERIFY(stored().toLongLong() > winner.id().toLongLong());
        QVERIFY(winner.saysItIsMine());
    }

    void getsetReleaseLeavesWhatIsPast()
    {
        m_recipe = "redis-getset";
        auto &redis = process();
        auto &one = add(redis, withTtl(100ms));
        one.heed();
        one.acquire();
        QTRY_VERIFY(one.loss);
        QTRY_VERIFY(stored().toLongLong() < nowMs());
        QCOMPARE(one.codeOfRelease(), code(ErrorCode::NotHeld));
        QCOMPARE(redis.count("DEL"), 0);
        QVERIFY(exists(m_key));
    }
};

LOCKSCOPE_TEST(TestRecipesTeaching)
#include "tst_recipes_teaching.moc"
