// SPDX-License-Identifier: Apache-2.0
// The two locks for teaching on a real Redis: they do what they are said to do, flaws included.
#include "rediscontender.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;
using recipes::Loss;
using Fault = CountingRedis::Fault;

class TestRecipesTeaching : public RedisRecipeFixture {
    Q_OBJECT

    QByteArray stored() { return ask({"GET", m_key}).text; }
    qint64 nowMs() const
    {
        return std::chrono::duration_cast<std::chrono::milliseconds>(m_loop.wallNow().time_since_epoch()).count();
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
        m_recipe = "redis-setnx-expire";
        m_key = "the-lock";
    }
    void cleanup() { forgetContenders(); }

    void bothAreForTeachingOnly_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::newRow("setnx") << QByteArray("redis-setnx-expire");
        QTest::newRow("getset") << QByteArray("redis-getset");
    }
    void bothAreForTeachingOnly()
    {
        QFETCH(QByteArray, recipe);
        QVERIFY(recipes::findRecipe(recipe)->teachingOnly);
    }

    void releaseOfWhatIsNotHeld_data() { bothAreForTeachingOnly_data(); }
    void releaseOfWhatIsNotHeld()
    {
        QFETCH(QByteArray, recipe);
        m_recipe = recipe;
        auto &redis = process();
        auto &one = add(redis);
        one.release();
        QTRY_VERIFY(one.released);
        QCOMPARE(one.releaseCode(), code(ErrorCode::NotHeld));
        QCOMPARE(redis.requests(), 0);
        one.acquire();
        QTRY_VERIFY(one.holds());
        ask({"DEL", m_key});
        one.askWhether();
        QTRY_VERIFY(one.mine);
        QVERIFY(!**one.mine);
        one.release();
        QTRY_VERIFY(one.released);
        QCOMPARE(one.releaseCode(), code(ErrorCode::NotHeld));
    }

    void theLeaseIsNotProlonged_data() { bothAreForTeachingOnly_data(); }
    void theLeaseIsNotProlonged()
    {
        QFETCH(QByteArray, recipe);
        m_recipe = recipe;
        auto &one = add(process(), withTtl(1s));
        auto &other = add(process(), withTtl(30s));
        one.heed();
        one.acquire();
        QTRY_VERIFY(one.holds());
        other.acquire();
        QTRY_VERIFY(one.loss);
        QCOMPARE(*one.loss, Loss::LeaseOver);
        QTRY_VERIFY(other.holds());
        one.askWhether();
        QTRY_VERIFY(one.mine);
        QVERIFY(!**one.mine);
    }

    void setnxExpireRequests()
    {
        const auto *recipe = recipes::findRecipe(m_recipe);
        auto &redis = process();
        auto &one = add(redis, withTtl(20'001ms));
        one.acquire();
        QTRY_VERIFY(one.holds());
        QCOMPARE(redis.requests(), recipe->requestsAcquireFree.toInt());
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
        one.release();
        QTRY_VERIFY(one.gaveBack());
        QCOMPARE(redis.requests(), recipe->requestsRelease.toInt());
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
        one.acquire();
        QTRY_VERIFY(one.granted);
        QCOMPARE(one.acquireCode(), code(ErrorCode::UnknownOutcome));
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
        one.acquire();
        QTRY_VERIFY(one.granted);
        QCOMPARE(one.acquireCode(), code(ErrorCode::UnknownOutcome));
        QCOMPARE(ask({"PTTL", m_key}).integer, -1);
    }

    // Flaw: DEL does not ask whose key it is.
    void whoIsTooSlowReleasesTheNextOnes()
    {
        auto &one = add(process(), withTtl(1s));
        one.heed();
        one.acquire();
        QTRY_VERIFY(one.loss);
        auto &other = add(process());
        other.acquire();
        QTRY_VERIFY(other.holds());
        one.release();
        QTRY_VERIFY(one.gaveBack()); // as far as it knows
        QCOMPARE(keys(), QByteArrayList());
        other.release();
        QTRY_VERIFY(other.released);
        QCOMPARE(other.releaseCode(), code(ErrorCode::NotHeld));
    }

    void getsetRequests()
    {
        m_recipe = "redis-getset";
        const auto *recipe = recipes::findRecipe(m_recipe);
        auto &redis = process();
        auto &one = add(redis, withTtl(20s));
        const auto before = nowMs();
        one.acquire();
        QTRY_VERIFY(one.holds());
        QCOMPARE(redis.requests(), recipe->requestsAcquireFree.toInt());
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
        one.release();
        QTRY_VERIFY(one.gaveBack());
        QCOMPARE(redis.requests(), recipe->requestsRelease.toInt());
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
        one.acquire();
        QTRY_VERIFY(one.holds());
        QCOMPARE(redis.requests(), 3);
        QCOMPARE(redis.count("GETSET"), 1);
        QCOMPARE(stored(), one.id());
        QVERIFY(stored().toLongLong() > nowMs());
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
        winner.acquire();
        QTRY_VERIFY(winner.holds());
        redis.letThrough();
        QTRY_COMPARE(redis.count("GETSET"), 1);
        QTRY_VERIFY(redis.count("SETNX") >= 2);
        QVERIFY(!loser.granted);
        QVERIFY(stored().toLongLong() > winner.id().toLongLong());
        winner.askWhether();
        QTRY_VERIFY(winner.mine);
        QVERIFY(**winner.mine);
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
        one.release();
        QTRY_VERIFY(one.released);
        QCOMPARE(one.releaseCode(), code(ErrorCode::NotHeld));
        QCOMPARE(redis.count("DEL"), 0);
        QVERIFY(exists(m_key));
    }

    void getsetFindsWhatItSetWhenTheAnswerIsLost()
    {
        m_recipe = "redis-getset";
        auto &redis = process();
        redis.plan("SETNX", Fault::LoseReply);
        auto &one = add(redis);
        one.acquire();
        QTRY_VERIFY(one.holds());
        QCOMPARE(redis.count("SETNX"), 1);
        QCOMPARE(stored(), one.id());
    }
};

LOCKSCOPE_TEST(TestRecipesTeaching)
#include "tst_recipes_teaching.moc"
