// SPDX-License-Identifier: Apache-2.0
// What is said of a lock of Redis beyond its row in tst_recognise_redis: by what its holder is told from the next
// one, since when and until when it holds, and which keys belong to it.
#include "tests/support/testmain.h"
#include "rediskeytable.h"

#include "core/inspect/findings.h"

using namespace lockscope::inspect;
using namespace lockscope::inspect::table;

class TestRecogniseHolders : public QObject {
    Q_OBJECT
private slots:
    // The next holder writes the same value: what tells them apart is when the key ends, if the server says it.
    void aConstantIsCalledByItsExpiry()
    {
        auto key = keyOf("orders-lock", KeyType::String, 30000, "1");
        const auto holder = [&key] { return recognise(key, {}, Beside("").context)->contenders.at(0); };
        QVERIFY(holder().guard.redis().comesAgain); // a server before Redis 7
        QCOMPARE(holder().id, QByteArray("1"));
        key.expiresAt = ServerTime(milliseconds(1700000030000));
        QVERIFY(!holder().guard.redis().comesAgain);
        QCOMPARE(holder().id, QByteArray("1@1700000030000"));
        QCOMPARE(holder().guard.redis().value, QByteArray("1"));
        QCOMPARE(holder().guard.redis().expiryMs, std::optional<qint64>(1700000030000));
        QCOMPARE(holder().expiresAt, key.expiresAt);
        // A random token needs no more, however often it is prolonged.
        key.value = uuid1;
        QCOMPARE(holder().id, uuid1);
        QVERIFY(!holder().guard.redis().comesAgain && !holder().guard.redis().expiryMs);
        // Endless, and a moment, can be anybody's.
        RedisContext context{.observed = ServerTime(milliseconds(1700000000000))};
        QVERIFY(recognise(keyOf("lock.orders", KeyType::String, -1, "1700000060000"), {}, context)
                    ->contenders[0]
                    .guard.redis()
                    .comesAgain);
        QVERIFY(recognise(keyOf("orders-lock", KeyType::String, -1, "1"), {}, context)
                    ->contenders[0]
                    .guard.redis()
                    .comesAgain);
    }

    void rslockWritesBytes()
    {
        Beside beside("");
        const QByteArray bytes("\xff\x80\x81 sixteen bytes mo", 20);
        const auto lock = recognise(string("orders-lock", bytes), {}, beside.context);
        QCOMPARE(lock->recipe, QByteArray("redis-set-nx"));
        QCOMPARE(lock->client, QStringLiteral("rslock"));
        QCOMPARE(lock->contenders[0].guard.redis().value, bytes);
    }

    void longLivedKeyIsNotALockNearItsEnd()
    {
        Beside beside("");
        const auto key = string("account:1", "{h7}", 20'000);
        QVERIFY(recognise(key, {}, beside.context));
        beside.context.behaviour[key.key].lifetime = std::chrono::minutes(10);
        QVERIFY(!recognise(key, {}, beside.context));
    }

    // The moment of taking it, not of its end: whoever wrote it holds it.
    void aMomentThatSaysSinceWhenIsNotOver()
    {
        Beside beside("");
        const auto key = string("lock:orders", "1699999990", -1);
        QVERIFY(recognise(key, {}, beside.context)->find(FindingCode::ExpiredValue));
        beside.context.behaviour[key.key].momentOfTaking = true;
        const auto lock = recognise(key, {}, beside.context);
        QCOMPARE(lock->state, LockState::Held);
        QVERIFY(!lock->find(FindingCode::ExpiredValue));
        QCOMPARE(lock->contenders[0].heldSince, now - milliseconds(10'000));
        QVERIFY(lock->contenders[0].guard.redis().comesAgain);
    }

    // A number proves no semaphore, whoever asks for the key: it may be a counter, or a lock.
    void aBareNumberIsNotUnderstood()
    {
        Beside beside("");
        beside.context.includeLowConfidence = beside.context.isAskedFor = true;
        for (const auto *value : {"2", "1", "0", "-1"}) {
            const auto key = string("plainsem", value, -1);
            QVERIFY2(!recognise(key, {}, beside.context), value);
            QVERIFY2(!notUnderstoodReason(key).isEmpty(), value);
        }
        QVERIFY(notUnderstoodReason(string("plainsem", "two", -1)).isEmpty());
        QVERIFY(notUnderstoodReason(missing("plainsem")).isEmpty());
        QVERIFY(notUnderstoodReason(hash("sess_73fps", "data x\nlock 57\npid web1|5583")).contains(u"hash"));
        QVERIFY(notUnderstoodReason(hash("huey.results.shop", "shop.lock.nightly 1")).contains(u"hash"));
        QVERIFY(notUnderstoodReason(hash("user:7", "name x")).isEmpty());
    }

    // What redis-setnx-expire writes, under a name that says nothing.
    void aMarkThatEndsIsALockWhereItIsAskedFor()
    {
        Beside beside("");
        const auto shortLived = string("orders", "1", 30'000);
        const auto longLived = string("orders", "1", 7'200'000);
        QVERIFY(!recognise(shortLived, {}, beside.context));
        beside.context.includeLowConfidence = true;
        QCOMPARE(recognise(shortLived, {}, beside.context)->recipe, QByteArray("redis-setnx-expire"));
        QVERIFY(!recognise(longLived, {}, beside.context));
        beside.context.isAskedFor = true;
        const auto lock = recognise(longLived, {}, beside.context);
        QVERIFY(lock && lock->confidence == Confidence::Low && lock->state == LockState::Held);
    }

    // Nothing says who holds it, and a command needs an id for it all the same.
    void anEmptyValueIsAHolderThatIsUnknown()
    {
        auto key = keyOf("UserCache~lock", KeyType::String, -1, "");
        auto lock = recognise(key, {}, Beside("").context);
        QVERIFY(lock);
        QVERIFY(lock->confidence == Confidence::Medium && lock->state == LockState::Held);
        QCOMPARE(lock->client, QStringLiteral("Spring Data Redis cache"));
        QCOMPARE(lock->contenders[0].id, QByteArray("unknown"));
        QVERIFY(!lock->contenders[0].guard.redis().value.isNull()
                && lock->contenders[0].guard.redis().value.isEmpty());
        QCOMPARE(lock->find(FindingCode::NoTtl)->severity, Severity::Critical);
        key.ttl = milliseconds(30'000);
        key.expiresAt = ServerTime(milliseconds(1700000030000));
        lock = recognise(key, {}, Beside("").context);
        QCOMPARE(lock->contenders[0].id, QByteArray("unknown@1700000030000"));
        QVERIFY(!lock->find(FindingCode::NoTtl));
    }

    // EXPIRE took a time since 1970 for a span.
    void aTimeToLiveOfDecadesIsNone()
    {
        Beside beside("");
        const qint64 decades = 1700003600LL * 1000;
        const auto held = recognise(string("lock.orders", "1700003600", decades), {}, beside.context);
        QCOMPARE(held->recipe, QByteArray("redis-getset"));
        QCOMPARE(held->contenders[0].expiresAt, now + std::chrono::hours(1));
        QVERIFY(!held->find(FindingCode::NoTtl));
        const auto over = recognise(string("lock.orders", "1699999990", decades), {}, beside.context);
        QVERIFY(over->state == LockState::Free && over->find(FindingCode::ExpiredValue));
        const auto token = recognise(string("orders-lock", "{u7}", decades), {}, beside.context);
        QVERIFY(!token->contenders[0].expiresAt);
        QVERIFY(token->find(FindingCode::NoTtl)->message.contains(QStringLiteral("53 years")));
        // Of a value that ends later than the key, the key's end counts.
        const auto ends = recognise(string("lock.orders", "1700003600", 30'000), {}, beside.context);
        QCOMPARE(ends->contenders[0].expiresAt, now + milliseconds(30'000));
        const auto days = recognise(string("lock.orders", "1700259200", -1), {}, beside.context);
        QCOMPARE(days->contenders[0].expiresAt, now + std::chrono::days(3));
        QVERIFY(days->findings.empty());
    }

    void agesAndLeases()
    {
        Beside beside("");
        const auto held = [&beside](const KeyView &key) {
            return recognise(key, beside.companions, beside.context)->contenders[0];
        };
        const KeyView py = string("orders-lock", uuid1, 5000);
        QCOMPARE(*held(py).heldSince, now);
        QVERIFY(held(py).heldAtMost);
        QCOMPARE(*held(py).expiresAt, now + milliseconds(5000));
        QCOMPARE(held(py).guard.redis().value, uuid1);
        beside.context.firstSeen[py.key] = now - milliseconds(70);
        QCOMPARE(*held(py).heldSince, now - milliseconds(70));
        QVERIFY(!held(py).heldAtMost);
        QVERIFY(!held(string("other-lock", "1")).heldSince);
        const auto shed = held(string("job-lock:default:report", "ADDED:2023-11-14T22:13:19.000Z@host-a"));
        QCOMPARE(*shed.heldSince, now - milliseconds(1000));
        QCOMPARE(shed.identity, QByteArray("host-a"));
        QCOMPARE(held(string("lock.orders", "1700000060", -1)).expiresAt, now + milliseconds(60000));
        const auto jedis = string("my-lock", "{u1}:1700000060000", -1);
        QCOMPARE(held(jedis).expiresAt, now + milliseconds(60000));
        QVERIFY(!recognise(jedis, {}, Beside("").context)->find(FindingCode::NoTtl));
        QVERIFY(recognise(string("my-lock", "{u1}:7", -1), {}, Beside("").context)->find(FindingCode::NoTtl));
    }

    void redissonHolds()
    {
        Beside beside(
            expand("string {rw}:{u1}:5:rwlock_timeout:1 1 4000\nstring {rw}:{u1}:5:rwlock_timeout:2 1 9000"));
        const auto lock = recognise(hash("rw", "mode read\n{u1}:5 2"), beside.companions, beside.context);
        QCOMPARE(lock->contenders[0].reentry, 2);
        QCOMPARE(*lock->contenders[0].expiresAt, now + milliseconds(9000));
        QCOMPARE(lock->companions.size(), size_t(2));
        QVERIFY2(!lock->waitersKnown, "the channel was not counted");
        // Of the other reader nothing but its field is left.
        const auto readers = hash("rw", "mode read\n{u1}:5 1\n{u2}:7 1");
        const auto shared = recognise(readers, beside.companions, beside.context);
        QCOMPARE(shared->holderCount(), 1);
        QCOMPARE(shared->contenders[0].id, expand("{u1}:5"));
        QVERIFY(shared->find(FindingCode::LeftoverKeys));
        QCOMPARE(recognise(readers, {}, beside.context)->holderCount(), 2); // the hash keeps others out
        const auto group =
            recognise(hash("g", "YWJj {u1}:5\nYWJj:{u1}:5:expire_time 1700000009000\nYWJj:{u1}:5:lock_count 2"), {},
                      Beside("").context);
        QCOMPARE(group->contenders[0].reentry, 2);
        QCOMPARE(group->contenders[0].identity, expand("{u1}:5"));
        QCOMPARE(group->contenders[0].guard.redis().counterpart, QByteArray("YWJj"));
        QCOMPARE(group->contenders[0].guard.redis().value, expand("{u1}:5"));
    }

    void companions_data()
    {
        QTest::addColumn<QByteArray>("key");
        QTest::addColumn<QByteArray>("main"); // empty: no companion
        const auto companion = [](const char *key, const char *main) {
            QTest::newRow(key) << expand(key) << QByteArray(main);
        };
        companion("redisson_lock_queue:{orders}", "orders");
        companion("redisson_lock_queue:{a}:b", "{a}:b");
        companion("redisson_lock_timeout:{orders}", "orders");
        companion("redisson_lock_token:{orders}", "orders");
        companion("redisson_unlock_latch:{orders}:{h1}", "orders");
        companion("redisson_unlock_latch:{orders}:x", "");
        companion("{rw}:{u1}:5:rwlock_timeout:1", "rw");
        companion("{a}b:{u1}:5:rwlock_timeout:1", "{a}b");
        companion("{rw}:x:5:rwlock_timeout:1", "");
        companion("{rw}:{u1}:5:rwlock_timeout:120", "rw");
        companion("{rw}:{u1}:5:rwlock_timeout:", "");
        companion("{rw}:{u1}:5:rwlock_timeout:1x", "");
        companion("120", "");
        companion("{sem}:timeout", "sem");
        companion("sem:timeout", "");
        companion("lock-signal:orders", "lock:orders");
        companion("orders", "");
        companion("catalogue.readers", "catalogue");
        companion("catalogue.writer", "catalogue");
        companion(".writer", "");
        companion("redisson_lock_queue:", "");
    }
    void companions()
    {
        QFETCH(QByteArray, key);
        QFETCH(QByteArray, main);
        QCOMPARE(companionOf(RedisKey(key)).value_or(RedisKey()).bytes(), main);
    }

    void companionsBelongToWhatTheyAreReadFor()
    {
        const std::vector<KeyView> mains{hash("orders", "{u1}:5 1"), hash("rw", "mode read\n{u1}:5 2"),
                                         hash("{a}b", "mode read\n{u1}:5 1"), string("lock:orders", "1"),
                                         missing("orders")};
        for (const auto &main : mains) {
            const auto keys = companionsToRead(main);
            QVERIFY(!keys.empty());
            for (const auto &key : keys)
                QVERIFY2(companionOf(key) == main.key, key.bytes().constData());
        }
        QCOMPARE(companionsToRead(mains[1]).size(), size_t(2));
        QVERIFY2(companionsToRead(hash("rw", "mode read\n{u1}:5 999999999")).size() < 100, "a stranger's number");
        QCOMPARE(channelsToCount(mains[0]), std::vector<QByteArray>{"redisson_lock__channel:{orders}"});
        QCOMPARE(channelsToCount(mains[1]), std::vector<QByteArray>{"redisson_rwlock:{rw}"});
        QCOMPARE(channelsToCount(string("n", "7")),
                 (std::vector<QByteArray>{"redisson_sc:{n}", "redisson_countdownlatch__channel__{n}"}));
        QVERIFY(channelsToCount(string("n", "x")).empty());
        KeyView queue{.key = RedisKey("redisson_lock_queue:{orders}"), .type = KeyType::List};
        queue.items = {"a:1", "b:2"};
        QCOMPARE(channelsToCount(mains[0], {queue}).back(), "redisson_lock__channel:{orders}:a:1");
        QCOMPARE(channelsToCount(mains[0], {}), channelsToCount(mains[0]));
    }

    void springIsSeenTogether()
    {
        Beside beside("");
        std::vector<LockSnapshot> locks;
        for (const char *key : {"app-lock:a", "app-lock:b", "other-lock:c"})
            locks.push_back(*recognise(string(key, "{u7}"), {}, beside.context));
        locks.push_back(*recognise(string("app-lock:d", "{u8}"), {}, beside.context));
        attributeToRegistries(locks);
        QCOMPARE(locks[0].client, QStringLiteral("Spring Integration"));
        QCOMPARE(locks[1].confidence, Confidence::High);
        QVERIFY(!locks[2].client);
        QVERIFY(!locks[3].client);
    }
};

LOCKSCOPE_TEST(TestRecogniseHolders)
#include "tst_recognise_holders.moc"
