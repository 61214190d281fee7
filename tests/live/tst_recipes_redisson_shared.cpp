// SPDX-License-Identifier: Apache-2.0
// What several hold at once on a real Redis: Redisson's RReadWriteLock and its semaphore with expiring
// permits. Byte-exact keys and messages, exact requests, and what one thread may hold
// together. The rest: tests/contract.
#include "core/recipes/redisson/scriptlock.h"
#include "rediscontender.h"
#include "tests/support/testmain.h"

using recipes::Loss;
using Fault = RequestFault;

namespace {

const QByteArray readEnter("redisson-read-acquire");
const QByteArray writeEnter("redisson-write-acquire");
const QByteArray rwChannel("redisson_rwlock:{orders}");
const QByteArray semaphoreChannel("redisson_sc:{orders}");
const QByteArray permitsKey("{orders}:timeout");
const QByteArray stranger("11111111-7c8e-4b6e-9a3e-2f5d1c4b3a29:2");

} // namespace

class TestRecipesRedissonShared : public RedisRecipeFixture {
    Q_OBJECT

    QByteArrayList m_heard;

    static recipes::AcquireOptions reading(std::chrono::milliseconds ttl = 30s)
    {
        auto options = withTtl(ttl);
        options.readMode = true;
        return options;
    }
    static recipes::AcquireOptions permits(int limit, std::chrono::milliseconds ttl = 30s)
    {
        auto options = withTtl(ttl);
        options.limit = limit;
        return options;
    }
    // A reader and a writer of the same thread, as one Redisson lock has them.
    std::pair<RedisContender *, RedisContender *> bothOfOneThread(CountingRedis &redis)
    {
        Random random(7);
        const auto thread = recipes::RedissonProcess::of(redis, random).newThread();
        const RedisKey key(m_key);
        auto *reader = &add(std::make_unique<recipes::ScriptLock>(
            redis, key, 30s, random, [key, thread] { return recipes::redissonReadLock(key, thread, 30s); }));
        auto *writer = &add(std::make_unique<recipes::ScriptLock>(
            redis, key, 30s, random, [key, thread] { return recipes::redissonWriteLock(key, thread, 30s); }));
        return {reader, writer};
    }
    // Field and count, sorted by field.
    std::map<QByteArray, QByteArray> held()
    {
        std::map<QByteArray, QByteArray> fields;
        const auto all = list({"HGETALL", m_key});
        for (qsizetype i = 0; i + 1 < all.size(); i += 2)
            fields[all[i]] = all[i + 1];
        return fields;
    }
    qint64 pttl(const QByteArray &key) { return ask({"PTTL", key}).integer; }
    QByteArray holdKey(const RedisContender &reader, int n) const
    {
        return "{orders}:" + reader.id() + ":rwlock_timeout:" + QByteArray::number(n);
    }
    Subscription listen(const QByteArray &channel)
    {
        m_heard.clear();
        auto subscription =
            m_admin->subscribe(channel, [this](const redis::Message &message) { m_heard << message.payload; });
        (void)answerOf(m_admin->subscriberId(Deadline::after(m_loop, 5s)));
        return subscription;
    }

private slots:
    void init() { m_recipe = "redisson-rwlock"; }

    void aReadersKeys()
    {
        const auto *recipe = recipes::findRecipe(m_recipe);
        const auto subscription = listen(rwChannel);
        auto &redis = process();
        auto &one = add(redis, reading());
        QVERIFY(one.takes());
        QCOMPARE(redis.requests(), recipe->counts.acquireFree.toInt());
        QCOMPARE(held(), (std::map<QByteArray, QByteArray>{{"mode", "read"}, {one.id(), "1"}}));
        QCOMPARE(keys(), (QByteArrayList{"orders", holdKey(one, 1)}));
        QCOMPARE(ask({"GET", holdKey(one, 1)}).text, QByteArray("1"));
        QVERIFY(pttl(holdKey(one, 1)) > 25'000);
        QVERIFY(pttl(m_key) > 25'000);
        QVERIFY(one.takes()); // once more
        QCOMPARE(held()[one.id()], QByteArray("2"));
        QCOMPARE(keys(), (QByteArrayList{"orders", holdKey(one, 1), holdKey(one, 2)}));
        redis.reset();
        QVERIFY(one.givesBack());
        QCOMPARE(redis.requests(), 2);
        QCOMPARE(redis.count("DEL"), 1);
        QTRY_COMPARE(keys(), (QByteArrayList{"orders", holdKey(one, 1)}));
        QCOMPARE(m_heard, QByteArrayList());
        QVERIFY(one.givesBack());
        QTRY_COMPARE(keys(), QByteArrayList());
        QTRY_COMPARE(m_heard, QByteArrayList{"0"});
    }

    void aWritersKeys()
    {
        const auto subscription = listen(rwChannel);
        auto &redis = process();
        auto &one = add(redis);
        QVERIFY(one.takes());
        QCOMPARE(redis.requests(), 1);
        QVERIFY(one.id().endsWith(":1:write"));
        QCOMPARE(held(), (std::map<QByteArray, QByteArray>{{"mode", "write"}, {one.id(), "1"}}));
        QCOMPARE(keys(), QByteArrayList{"orders"});
        QVERIFY(one.takes());
        QCOMPARE(held()[one.id()], QByteArray("2"));
        QVERIFY(pttl(m_key) > 50'000); // Redisson adds the lease to what is left
        QVERIFY(one.givesBack());
        QVERIFY(pttl(m_key) <= 30'000);
        QCOMPARE(m_heard, QByteArrayList());
        redis.reset();
        QVERIFY(one.givesBack());
        QCOMPARE(redis.requests(), 2);
        QTRY_COMPARE(keys(), QByteArrayList());
        QTRY_COMPARE(m_heard, QByteArrayList{"1"});
    }

    void aWritersReleaseWakesAll()
    {
        auto &writer = add(process());
        QVERIFY(writer.takes());
        std::array<CountingRedis *, 2> waiting{&process(), &process()};
        for (auto *redis : waiting) {
            for (int i = 0; i < 10; ++i)
                QVERIFY(waitsNow(add(*redis, reading()), *redis, readEnter));
            QCOMPARE(redis->count("SUBSCRIBE"), 1);
            redis->reset();
        }
        QVERIFY(writer.givesBack());
        QTRY_COMPARE(std::ranges::count_if(m_contenders, [](const auto &one) { return one->holds(); }), 21);
        QCOMPARE(waiting[0]->count(readEnter), 10); // each tries once
        QCOMPARE(waiting[1]->count(readEnter), 10);
    }

    void theLastReadersReleaseWakesOneOfEachProcess()
    {
        auto &reader = add(process(), reading());
        QVERIFY(reader.takes());
        auto &redis = process();
        for (int i = 0; i < 3; ++i)
            QVERIFY(waitsNow(add(redis), redis, writeEnter));
        redis.reset();
        QVERIFY(reader.givesBack());
        QTRY_COMPARE(std::ranges::count_if(m_contenders, [](const auto &one) { return one->holds(); }), 2);
        QVERIFY(!QTest::qWaitFor([&] { return redis.count(writeEnter) > 1; }, 100));
    }

    void aWriterMayBeginToRead()
    {
        const auto both = bothOfOneThread(process());
        auto &reader = *both.first;
        auto &writer = *both.second;
        QVERIFY(writer.takes());
        QVERIFY(reader.takes());
        QCOMPARE(held(),
                 (std::map<QByteArray, QByteArray>{{"mode", "write"}, {reader.id(), "1"}, {writer.id(), "1"}}));
        auto &other = add(process(), reading());
        other.tryOnce();
        QTRY_VERIFY(other.granted);
        QCOMPARE(other.acquireCode(), code(ErrorCode::TimedOut));
        const auto subscription = listen(rwChannel);
        QVERIFY(writer.givesBack());
        QCOMPARE(held(), (std::map<QByteArray, QByteArray>{{"mode", "read"}, {reader.id(), "1"}}));
        QVERIFY(other.takes()); // a reader, too
        QVERIFY(other.givesBack());
        QCOMPARE(m_heard, QByteArrayList()); // as Redisson: nobody is told
        QVERIFY(reader.givesBack());
        QTRY_COMPARE(keys(), QByteArrayList());
    }

    void aReaderThatBeginsToWriteTimesOut()
    {
        const auto both = bothOfOneThread(process());
        QVERIFY(both.first->takes());
        both.second->acquireFor(150ms);
        QTRY_VERIFY(both.second->granted);
        QCOMPARE(both.second->acquireCode(), code(ErrorCode::TimedOut));
        QVERIFY(both.first->givesBack());
    }

    void theWatchdogKeepsBoth_data() { addRows<bool>("isReader", {{"reader", true}, {"writer", false}}); }
    void theWatchdogKeepsBoth()
    {
        QFETCH(bool, isReader);
        const QByteArray renew = isReader ? "redisson-read-renew" : "redisson-renew";
        auto &redis = process();
        auto &one = add(redis, isReader ? reading(900ms) : withTtl(900ms));
        one.heed();
        QVERIFY(one.takes());
        QVERIFY(one.takes());
        QTRY_VERIFY(redis.count(renew) >= 7);
        QVERIFY(!one.loss);
        QCOMPARE(held()[one.id()], QByteArray("2"));
        QCOMPARE(keys().size(), isReader ? 3 : 1);
        ask({"DEL", m_key});
        QTRY_VERIFY(one.loss);
        QCOMPARE(*one.loss, Loss::TakenAway);
        QCOMPARE(one.codeOfRelease(), code(ErrorCode::NotHeld));
    }

    void aWriterWaitsForTheLongestReader()
    {
        auto &one = add(process(), reading(30s));
        QVERIFY(one.takes());
        ask({"HSET", m_key, stranger, "1"}); // a reader with little time left, of another client
        ask({"SET", "{orders}:" + stranger + ":rwlock_timeout:1", "1", "PX", "3000"});
        QVERIFY(one.givesBack());
        QVERIFY(pttl(m_key) > 0 && pttl(m_key) <= 3000);
        auto &writer = add(process());
        QVERIFY(writer.takes());
        QCOMPARE(held().size(), size_t(2));
    }

    void repliesLost_data()
    {
        const Rows<bool, int> row("isReader", "fault");
        row("reader: reply", true, int(Fault::LoseReply));
        row("reader: request", true, int(Fault::LoseRequest));
        row("writer: reply", false, int(Fault::LoseReply));
        row("writer: request", false, int(Fault::LoseRequest));
    }
    void repliesLost()
    {
        QFETCH(bool, isReader);
        QFETCH(int, fault);
        auto &redis = process();
        auto &one = add(redis, isReader ? reading() : withTtl(30s));
        redis.plan(isReader ? readEnter : writeEnter, Fault(fault));
        QVERIFY(one.takes());
        QCOMPARE(held()[one.id()], QByteArray("1"));
        QVERIFY(one.takes());
        for (int i = 0; i < 2; ++i) {
            redis.plan(isReader ? "redisson-read-release" : "redisson-write-release", Fault(fault));
            QVERIFY(one.givesBack());
        }
        QTRY_COMPARE(keys(), QByteArrayList());
    }

    // --- the semaphore ---

    void aPermitsKeys()
    {
        m_recipe = "redisson-semaphore";
        const auto *recipe = recipes::findRecipe(m_recipe);
        const auto subscription = listen(semaphoreChannel);
        auto &redis = process();
        auto &one = add(redis, permits(3));
        QVERIFY(one.takes());
        QCOMPARE(redis.requests(), recipe->counts.acquireFree.toInt());
        QCOMPARE(ask({"GET", m_key}).text, QByteArray("2"));
        QCOMPARE(pttl(m_key), -1);
        const auto out = list({"ZRANGE", permitsKey, "0", "-1", "WITHSCORES"});
        QCOMPARE(out.size(), 2);
        QCOMPARE(out[0].size(), 16);
        QCOMPARE(one.id(), out[0].toHex());
        const auto time = list({"TIME"});
        const auto left = out[1].toLongLong() - time[0].toLongLong() * 1000 - time[1].toLongLong() / 1000;
        QVERIFY2(left > 25'000 && left <= 30'000, QByteArray::number(left).constData());
        QCOMPARE(keys(), (QByteArrayList{"orders", permitsKey}));
        QVERIFY(one.saysItIsMine());
        redis.reset();
        QVERIFY(one.givesBack());
        QCOMPARE(redis.requests(), recipe->counts.release.toInt());
        QCOMPARE(ask({"GET", m_key}).text, QByteArray("3"));
        QCOMPARE(keys(), QByteArrayList{"orders"});
        QTRY_COMPARE(m_heard, (QByteArrayList{"3", "3"})); // made, and given back
        const auto before = one.id();
        QVERIFY(one.takes());
        QVERIFY(one.id() != before); // another permit every time
        one.acquire();
        QTRY_VERIFY(one.granted);
        QCOMPARE(one.acquireCode(), code(ErrorCode::BadInput)); // not reentrant
    }

    // Its answer was lost, so it was sent again: one permit, not two.
    void takenTwiceAPermitIsOne()
    {
        const auto moves = recipes::redissonPermit(RedisKey(m_key), "0123456789abcdef", {3}, 30s);
        for (int i = 0; i < 2; ++i) {
            const auto taken = valueOf(m_admin->script(redis::loadScript(moves.enter.script), moves.enter.keys,
                                                       moves.enter.args, Deadline::after(m_loop, 10s)));
            QCOMPARE(taken.items.front().integer, 1);
            QCOMPARE(ask({"GET", m_key}).text, QByteArray("2"));
        }
        QCOMPARE(list({"ZRANGE", permitsKey, "0", "-1"}), QByteArrayList{"0123456789abcdef"});
        ask({"FLUSHALL"});
    }
};

LOCKSCOPE_TEST(TestRecipesRedissonShared)
#include "tst_recipes_redisson_shared.moc"
