// SPDX-License-Identifier: Apache-2.0
// redis-set-nx on a real Redis: exact requests, lost replies, a server that hangs, keys of another type. What it
// owes as a lock like any other is held in tests/contract.
#include "rediscontender.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;
using recipes::Loss;
using Fault = CountingRedis::Fault;

class TestRecipesRedis : public RedisRecipeFixture {
    Q_OBJECT

    QByteArray stored() { return ask({"GET", m_key}).text; }

private slots:
    void initTestCase()
    {
        const auto why = startServer();
        if (!m_server)
            QSKIP(qPrintable(why));
        QVERIFY2(why.isEmpty(), qPrintable(why));
        m_recipe = "redis-set-nx";
    }
    void cleanup() { forgetContenders(); }

    void freeAcquireAndRelease()
    {
        auto &redis = process();
        const auto *recipe = recipes::findRecipe("redis-set-nx");
        auto &one = add(redis);
        one.acquire();
        QTRY_VERIFY(one.holds());
        QCOMPARE(redis.requests(), recipe->requestsAcquireFree.toInt());
        QCOMPARE(stored(), one.id());
        QVERIFY(!(*one.granted)->fencingToken);
        const auto ttl = ask({"PTTL", m_key}).integer;
        QVERIFY(ttl > 0 && ttl <= 30'000);
        redis.reset();
        one.release();
        QTRY_VERIFY(one.released);
        QVERIFY(*one.released);
        QCOMPARE(redis.count("compare-and-delete"), recipe->requestsRelease.toInt());
        QCOMPARE(redis.requests(), 1);
        QVERIFY(ask({"GET", m_key}).isNil());
    }

    void waitersPollOneRequestPerTry()
    {
        auto &redis = process();
        auto &holder = add(process());
        holder.acquire();
        QTRY_VERIFY(holder.holds());
        auto &waiter = add(redis);
        waiter.acquire();
        QTRY_VERIFY(redis.count("SET") >= 3);
        QCOMPARE(redis.requests(), redis.count("SET"));
        QVERIFY(!waiter.granted);
        holder.release();
        QTRY_VERIFY(waiter.holds());
        QCOMPARE(redis.requests(), redis.count("SET"));
        QCOMPARE(stored(), waiter.id());
    }

    void theLeaseEndsOnTimeWhenTheServerHangs()
    {
        auto &redis = process();
        auto &one = add(redis, withTtl(400ms));
        one.heed();
        one.acquire();
        QTRY_VERIFY(one.holds());
        m_server->pause();
        QTRY_VERIFY(one.loss);
        m_server->resume();
        QCOMPARE(*one.loss, Loss::LeaseOver);
        QTRY_VERIFY(ask({"GET", m_key}).isNil() || stored() == one.id());
    }

    void setReplyLost_data()
    {
        QTest::addColumn<int>("fault");
        QTest::addColumn<int>("sets");
        QTest::newRow("reply lost") << int(Fault::LoseReply) << 1;
        QTest::newRow("request lost") << int(Fault::LoseRequest) << 2;
    }
    void setReplyLost()
    {
        QFETCH(int, fault);
        QFETCH(int, sets);
        auto &redis = process();
        redis.plan("SET", Fault(fault));
        auto &one = add(redis);
        one.acquire();
        QTRY_VERIFY(one.holds());
        QCOMPARE(redis.count("SET"), sets);
        QCOMPARE(redis.count("GET"), 1);
        QCOMPARE(stored(), one.id());
        one.askWhether();
        QTRY_VERIFY(one.mine);
        QVERIFY(**one.mine);
    }

    void waitsForTheConnection()
    {
        auto late = redis::openConnection(m_loop, optionsFor(m_server->address()));
        CountingRedis redis(*late);
        RedisContender one(m_loop, std::move(*recipes::makeLock(m_recipe, redis, RedisKey(m_key), {}, Random(99))));
        QCOMPARE(redis.state(), redis::ConnectionState::Connecting);
        one.acquire();
        QTRY_VERIFY(one.holds());
    }

    void aKeyOfAnotherTypeIsTaken()
    {
        auto &redis = process();
        ask({"LPUSH", m_key, "a", "b"});
        auto &one = add(redis);
        one.acquire(Deadline::at(m_loop.now()));
        QTRY_VERIFY(one.granted);
        QCOMPARE(one.granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(ask({"TYPE", m_key}).text, QByteArray("list"));
    }

    void refusesWhatItCannotDo()
    {
        recipes::AcquireOptions options;
        const auto codeWith = [&](const QByteArray &recipe, const RedisKey &name) {
            const auto made = recipes::makeLock(recipe, *m_admin, name, options, Random(1));
            return made ? -1 : code(made.error().code);
        };
        const RedisKey key("k");
        QCOMPARE(codeWith("redis-set-nx", key), -1);
        QCOMPARE(codeWith("redis-set-nx", RedisKey()), code(ErrorCode::BadInput));
        QCOMPARE(codeWith("redlock", key), code(ErrorCode::BadInput)); // one Redis is no set
        QCOMPARE(codeWith("zk-mutex", key), code(ErrorCode::BadInput));
        QCOMPARE(codeWith("nonsense", key), code(ErrorCode::BadInput));
        options.readMode = true;
        QCOMPARE(codeWith("redis-set-nx", key), code(ErrorCode::BadInput));
        options = {};
        options.limit = 2;
        QCOMPARE(codeWith("redis-set-nx", key), code(ErrorCode::BadInput));
        options = {};
        options.ttl = 0ms;
        QCOMPARE(codeWith("redis-set-nx", key), code(ErrorCode::BadInput));
    }
};

LOCKSCOPE_TEST(TestRecipesRedis)
#include "tst_recipes_redis.moc"
