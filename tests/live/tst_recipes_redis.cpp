// SPDX-License-Identifier: Apache-2.0
// redis-set-nx on a real Redis: how its waiters poll, a server that hangs, keys of another type. What it
// owes as a lock like any other is held in tests/contract.
#include "rediscontender.h"
#include "tests/support/testmain.h"

using recipes::Loss;
using Fault = RequestFault;

class TestRecipesRedis : public RedisRecipeFixture {
    Q_OBJECT

    QByteArray stored() { return ask({"GET", m_key}).text; }

private slots:
    void init() { m_recipe = "redis-set-nx"; }

    void waitersPollOneRequestPerTry()
    {
        auto &redis = process();
        auto &holder = add(process());
        QVERIFY(holder.takes());
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
        QVERIFY(one.takes());
        m_server->pause();
        QTRY_VERIFY(one.loss);
        m_server->resume();
        QCOMPARE(*one.loss, Loss::LeaseOver);
        QTRY_VERIFY(ask({"GET", m_key}).isNil() || stored() == one.id());
    }

    void waitsForTheConnection()
    {
        auto late = redis::openConnection(m_loop, optionsFor(m_server->address()));
        CountingRedis redis(*late);
        RedisContender one(m_loop, std::move(*recipes::makeLock(m_recipe, redis, RedisKey(m_key), {}, Random(99))));
        QCOMPARE(redis.state(), redis::ConnectionState::Connecting);
        QVERIFY(one.takes());
    }

    void aKeyOfAnotherTypeIsTaken()
    {
        auto &redis = process();
        ask({"LPUSH", m_key, "a", "b"});
        auto &one = add(redis);
        QCOMPARE(one.codeOfAcquire(Deadline::at(m_loop.now())), int(ErrorCode::TimedOut));
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
