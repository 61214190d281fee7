// SPDX-License-Identifier: Apache-2.0
// One row per rule of docs/layouts.md, "Rules for Redis", by its number: keys in, locks out.
//
// What lies beside a key is text too, a line each: "list KEY item…", "zset KEY member:score…",
// "string KEY value", "channel NAME subscribers".
#include "tests/support/testmain.h"
#include "znodetable.h"

#include "core/inspect/findings.h"
#include "core/inspect/redis/recognise.h"

#include <QTest>

using namespace lockscope;
using namespace lockscope::inspect;
using namespace lockscope::inspect::table;
using std::chrono::milliseconds;

namespace {

const ServerTime now{milliseconds(1700000000000)};
// A version 1 UUID made at that moment.
const QByteArray uuid1 = "04afc000833b11ee8000001122334455";

KeyView keyOf(const QByteArray &key, KeyType type, qint64 ttlMs, const QByteArray &content)
{
    KeyView view;
    view.key = RedisKey(key);
    view.type = type;
    if (ttlMs >= 0)
        view.ttl = milliseconds(ttlMs);
    if (type == KeyType::String)
        view.value = content;
    for (const auto &line : content.split('\n')) {
        const auto words = line.trimmed().split(' ');
        if (type == KeyType::Hash && words.size() == 2)
            view.fields.emplace_back(words[0], words[1]);
    }
    return view;
}

struct Beside {
    std::vector<KeyView> companions;
    RedisContext context;

    explicit Beside(const QByteArray &text)
    {
        context.connection = ConnectionName("redis");
        context.observed = now;
        for (const auto &line : text.split('\n')) {
            auto words = line.trimmed().split(' ');
            if (words.size() < 2)
                continue;
            const QByteArray kind = words.takeFirst();
            const QByteArray key = words.takeFirst();
            if (kind == "channel")
                context.subscribers[key] = words[0].toLongLong();
            else
                companions.push_back(read(kind, key, words));
        }
    }

private:
    static KeyView read(const QByteArray &kind, const QByteArray &key, const QByteArrayList &words)
    {
        if (kind == "string")
            return keyOf(key, KeyType::String, words.value(1, "-1").toLongLong(), words[0]);
        KeyView view = keyOf(key, kind == "list" ? KeyType::List : KeyType::SortedSet, -1, {});
        for (const auto &word : words) {
            if (kind == "list")
                view.items.push_back(word);
            else
                view.scored.emplace_back(word.left(word.lastIndexOf('=')),
                                         word.mid(word.lastIndexOf('=') + 1).toDouble());
        }
        return view;
    }
};

} // namespace

class TestRecogniseRedis : public QObject {
    Q_OBJECT

    static void columns()
    {
        QTest::addColumn<KeyView>("main");
        QTest::addColumn<QByteArray>("beside");
        QTest::addColumn<QByteArray>("expected");
    }
    static void row(const QByteArray &name, const KeyView &main, const QByteArray &beside, const QByteArray &expected)
    {
        QTest::newRow(name.constData()) << main << beside << expected;
    }
    static KeyView hash(const char *key, const char *fields, qint64 ttlMs = 30000)
    {
        return keyOf(key, KeyType::Hash, ttlMs, expand(fields));
    }
    static KeyView string(const char *key, const QByteArray &value, qint64 ttlMs = 30000)
    {
        return keyOf(key, KeyType::String, ttlMs, expand(value));
    }
    static KeyView missing(const char *key) { return keyOf(key, KeyType::None, -1, {}); }

    static QByteArray drawn(bool includeLow)
    {
        const auto *main = static_cast<KeyView *>(QTest::qData("main", QMetaType::fromType<KeyView>().id()));
        const auto *text = static_cast<QByteArray *>(QTest::qData("beside", QMetaType::QByteArray));
        Beside beside(expand(*text));
        beside.context.includeLowConfidence = includeLow;
        const auto lock = recognise(*main, beside.companions, beside.context);
        return lock ? draw(std::vector<LockSnapshot>{*lock}) : QByteArray();
    }
    static void check()
    {
        QFETCH(QByteArray, expected);
        QCOMPARE(drawn(false), lines(expected));
    }

private slots:
    void redisson_data()
    {
        columns();
        row("1 read lock, writers wait", hash("rw", "mode read\n{u1}:5 2\n{u2}:7 1"),
            "channel redisson_rwlock:{rw} 2", R"(
            rw redisson-rwlock high contended (Redisson)
            {u1}:5 holds read -
            {u2}:7 holds read -
            subscriber 1 waits write -
            subscriber 2 waits write -)");
        row("1 write lock with a read of its own", hash("rw", "{u1}:5 1\nmode write\n{u1}:5:write 1"), "", R"(
            rw redisson-rwlock high held (Redisson)
            {u1}:5:write holds write -
            {u1}:5 holds read -)");
        row("2a fenced", hash("f", "{u1}:5 1"), "string redisson_lock_token:{f} 42", R"(
            f redisson-fenced-lock high held (Redisson)
            {u1}:5 holds exclusive -)");
        row("2b fair, contended: the list is the queue", hash("orders", "{u1}:5 1"), R"(
            list redisson_lock_queue:{orders} {u3}:1 {u2}:9
            zset redisson_lock_timeout:{orders} {u2}:9=1700000300000 {u3}:1=1700000200000)",
            R"(
            orders redisson-fair-lock high contended (Redisson)
            {u1}:5 holds exclusive 0
            {u3}:1 waits exclusive 1
            {u2}:9 waits exclusive 2)");
        row("2b a queue entry without a deadline, one past it", hash("orders", "{u1}:5 1"), R"(
            list redisson_lock_queue:{orders} {u3}:1 {u2}:9 {u4}:4
            zset redisson_lock_timeout:{orders} {u2}:9=1699999999999 {u4}:4=1700000009000)",
            R"(
            orders redisson-fair-lock high contended (Redisson) !stale-queue
            {u1}:5 holds exclusive 0
            {u3}:1 waits exclusive 1
            {u2}:9 waits exclusive 2
            {u4}:4 waits exclusive 3)");
        row("2b leftovers: the queue without its lock", missing("orders"), R"(
            list redisson_lock_queue:{orders} {u3}:1
            zset redisson_lock_timeout:{orders} {u3}:1=1600000000000)",
            R"(
            orders redisson-fair-lock high free (Redisson) !stale-queue !litter
            {u3}:1 waits exclusive 0)");
        row("2a a fenced lock that nobody holds", missing("f"), "string redisson_lock_token:{f} 42", R"(
            f redisson-fenced-lock high free (Redisson))");
        row("2c lock, waiters by their number only", hash("orders", "{u1}:5 3"),
            "channel redisson_lock__channel:{orders} 2", R"(
            orders redisson-lock medium contended (Redisson)
            {u1}:5 holds exclusive -
            subscriber 1 waits exclusive -
            subscriber 2 waits exclusive -)");
        row("2c lock without expiry", hash("orders", "{u1}:5 1", -1), "channel redisson_lock__channel:{orders} 0", R"(
            orders redisson-lock medium held (Redisson) !no-ttl
            {u1}:5 holds exclusive -)");
        row("2c a name with braces of its own", hash("{a}b", "{u1}:-7 1"), "channel redisson_lock__channel:{a}b 1",
            R"(
            {a}b redisson-lock medium contended (Redisson)
            {u1}:-7 holds exclusive -
            subscriber 1 waits exclusive -)");
        row("3 a group of locks",
            hash("group", "YWJj {u1}:5\nYWJj:{u1}:5:expire_time 1700000009000\n"
                          "YWJj:{u1}:5:lock_count 2"),
            "", R"(
            group redisson-lock high held (Redisson)
            YWJj:{u1}:5 holds exclusive -)");
        row("4 semaphore with permits", string("sem", "1", -1),
            "zset {sem}:timeout 0123456789abcdef=1700000009000 fedcba9876543210=922337203685477 "
            "expired-expired-=1600000000000\nchannel redisson_sc:{sem} 1",
            R"(
            sem redisson-semaphore high contended (Redisson) !litter
            30313233343536373839616263646566 holds permit -
            66656463626139383736353433323130 holds permit -
            subscriber 1 waits permit -)");
        row("5 semaphore by its channel", string("sem", "0", -1), "channel redisson_sc:{sem} 1", R"(
            sem redisson-semaphore high contended (Redisson)
            subscriber 1 waits permit -)");
        row("5 an integer alone is nothing", string("sem", "0", -1), "", "");
        row("6 count-down latch", string("my-lock", "3", -1), "channel redisson_countdownlatch__channel__{my-lock} 1",
            "");
        row("7 unlock latch", string("redisson_unlock_latch:{orders}:{h1}", "1"), "", "");
        row("7 queue key", keyOf("redisson_lock_queue:{orders}", KeyType::List, -1, {}), "", "");
        row("2 nobody shares an RLock", hash("basket:7", "{u1}:1 1\n{u2}:2 1\n{u3}:3 1", 10000), "", "");
        row("another hash", hash("user:7", "name x\nage 7"), "", "");
        row("a hash of counts with one stranger", hash("orders-lock", "{u1}:5 1\nnote x"), "", "");
        row("an empty hash", hash("orders-lock", ""), "", "");
    }
    void redisson() { check(); }

    void tokens_data()
    {
        columns();
        row("8 ShedLock", string("job-lock:default:report", "ADDED:2023-11-14T22:13:19.000Z@host-a"), "", R"(
            job-lock:default:report redis-set-nx high held (ShedLock)
            ADDED:2023-11-14T22:13:19.000Z@host-a holds exclusive -)");
        row("9 pottery or RedLock.net", string("redlock:orders", "{u7}"), "", R"(
            redlock:orders redis-set-nx medium held (pottery or RedLock.net)
            {u7} holds exclusive -)");
        row("10 python-redis-lock by its value", string("lock:orders", "abcdefghijklmnopqrstuvwx"), "", R"(
            lock:orders redis-set-nx high held (python-redis-lock)
            abcdefghijklmnopqrstuvwx holds exclusive -)");
        row("10 python-redis-lock by its signal", string("lock:orders", "me"), "list lock-signal:orders 1", R"(
            lock:orders redis-set-nx high held (python-redis-lock)
            me holds exclusive -)");
        row("11 redis-py", string("orders-lock", uuid1), "", R"(
            orders-lock redis-set-nx high held (redis-py)
            04afc000833b11ee8000001122334455 holds exclusive -)");
        row("11 redis-py without timeout", string("orders-lock", uuid1, -1), "", R"(
            orders-lock redis-set-nx high held (redis-py) !no-ttl
            04afc000833b11ee8000001122334455 holds exclusive -)");
        row("12 node-redlock", string("orders-lock", "{h7}"), "", R"(
            orders-lock redis-set-nx medium held (node-redlock)
            {h7} holds exclusive -)");
        row("12 a version digit without a plausible moment", string("orders-lock", "{h1}"), "", R"(
            orders-lock redis-set-nx medium held (node-redlock)
            {h1} holds exclusive -)");
        row("13 redsync", string("orders-lock", "abcdefghijklmnopqrstuv=="), "", R"(
            orders-lock redis-set-nx medium held (redsync)
            abcdefghijklmnopqrstuv== holds exclusive -)");
        row("14 redlock-cpp", string("orders-lock", "0123456789ABCDEF0123456789ABCDEF01234567"), "", R"(
            orders-lock redis-set-nx medium held (redlock-cpp)
            0123456789ABCDEF0123456789ABCDEF01234567 holds exclusive -)");
        row("16 a UUID", string("orders-lock", "{u7}"), "", R"(
            orders-lock redis-set-nx medium held
            {u7} holds exclusive -)");
        row("17 DistributedLock for .NET", string("orders-lock", "MACHINE_77_{h7}"), "", R"(
            orders-lock redis-set-nx medium held (DistributedLock (.NET))
            MACHINE_77_{h7} holds exclusive -)");
        row("redis-plus-plus", string("orders-lock", "aB3dE5fG7hI9jK1lM2nO"), "", R"(
            orders-lock redis-set-nx medium held (redis-plus-plus)
            aB3dE5fG7hI9jK1lM2nO holds exclusive -)");
        row("Laravel", string("laravel_cache:orders-lock", "aB3dE5fG7hI9jK1l"), "", R"(
            laravel_cache:orders-lock redis-set-nx medium held (Laravel)
            aB3dE5fG7hI9jK1l holds exclusive -)");
        row("go-zero, or another", string("app_lock:orders", "aB3dE5fG7hI9jK1l"), "", R"(
            app_lock:orders redis-set-nx medium held
            aB3dE5fG7hI9jK1l holds exclusive -)");
        row("32 letters and digits", string("orders-lock", "aB3dE5fG7hI9jK1laB3dE5fG7hI9jK1l"), "", R"(
            orders-lock redis-set-nx medium held
            aB3dE5fG7hI9jK1laB3dE5fG7hI9jK1l holds exclusive -)");
        row("BullMQ", string("bull:mail:7:lock", "{u7}:3"), "", R"(
            bull:mail:7:lock redis-set-nx high held (BullMQ)
            {u7}:3 holds exclusive -)");
        row("a token that ends within a minute, under a name of nothing else", string("account:1", "{h7}"), "", R"(
            account:1 redis-set-nx medium held (node-redlock)
            {h7} holds exclusive -)");
        row("one that lives longer", string("account:1", "{h7}", 300'000), "", "");
        row("one under a random name", string("account:5d41402abc4b2a76b9719d911017c592", "{h7}"), "", "");
        row("19 how many locks somebody has", string("user:5:locks", "3", -1), "", "");
        row("Spring's registry, by its channel", string("app:orders", "{u7}", 300'000), "channel app-channel 1", R"(
            app:orders redis-set-nx high held (Spring Integration)
            {u7} holds exclusive -)");
        row("bsm/redislock", string("orders-lock", "aB3dE5fG7hI9jK1lM2n-_Q"), "", R"(
            orders-lock redis-set-nx medium held (bsm/redislock)
            aB3dE5fG7hI9jK1lM2n-_Q holds exclusive -)");
        row("sixteen letters of a word are no token", string("orders-lock", "productionserver"), "", R"(
            orders-lock redis-setnx-expire medium held
            productionserver holds exclusive -)");
        row("a token under a name that says nothing", string("session:7", "{h7}"), "", "");
        row("block, clock and release say nothing", string("block:clock:release", "{h7}", 300'000), "", "");
    }
    void tokens() { check(); }

    // By chance each sixteenth other value in base64 begins as this token could: what follows decides.
    void metadata_data()
    {
        columns();
        const QByteArrayList metadata{R"({"worker":1})", "{worker}", "host=a",        "nightly job 7", "worker",
                                      "WEB01",           "w@b",      "10.0.3.7:4711", "web-6c5d7f-x2x"};
        for (const auto &each : metadata) {
            // A token of letters only is as good: each fortieth is one.
            for (const QByteArray token : {"aB3dE5fG7hI9jK1lM2n-_Q", "aBcdEefGghIijKklMmn-_w"}) {
                const auto value = token + each;
                const auto held = [&value](const QByteArray &key) {
                    return key + " redis-set-nx medium held (bsm/redislock)\n" + value + " holds exclusive -";
                };
                row("jobs:7 " + value, string("jobs:7", value), "", held("jobs:7"));
                row("lock:jobs " + value, string("lock:jobs", value, 300'000), "", held("lock:jobs"));
                row("of many minutes " + value, string("jobs:7", value, 300'000), "", "");
            }
        }
        const QByteArrayList others{
            "eyJhbGciOiJIUzI1NiIsIQ.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",            // a JWT
            "BAh7CEkiD3Nlc3Npb25faQ==--0123456789abcdef0123456789abcdef0123", // what Rails signs
            "aB3dE5fG7hI9jK1lM2n-_QxY7pL2mN9",                                // longer base64
            "aB3dE5fG7hI9jK1lM2n-_QxY7pL2mN9:1a2b3c:c2ln",                    // what Django signs
            "aB3dE5fG7hI9jK1lM2n-_Rhost=a",                                   // more than 16 bytes
            "0g1WFaBLzQ5bM0JqTPzwSgTQeb9",
            "aB3dE5fG7hI9jK1lM2n-_Q==",
            "the-quick-brown-fox-jg: a sentence"};
        for (const auto &value : others)
            row("not " + value, string("jobs:7", value), "", "");
    }
    void metadata() { check(); }
    void metadataIsWhatTheHolderSaysOfItself()
    {
        const auto lock = recognise(string("jobs:7", "aB3dE5fG7hI9jK1lM2n-_Qhost=a"), {}, Beside({}).context);
        QVERIFY(lock);
        QCOMPARE(lock->contenders.front().identity, QByteArray("host=a"));
    }

    void naive_data()
    {
        columns();
        row("18 timestamp, to come", string("lock.orders", "1700000060", -1), "", R"(
            lock.orders redis-getset medium held
            1700000060 holds exclusive -)");
        row("18 timestamp in ms", string("lock.orders", "1700000000001", -1), "", R"(
            lock.orders redis-getset medium held
            1700000000001 holds exclusive -)");
        row("18 timestamp with a fraction, gone by", string("lock.orders", "1699999990.5", -1), "", R"(
            lock.orders redis-getset medium free !expired-value)");
        row("18 a number far from now", string("lock.orders", "1600000000", -1), "", R"(
            lock.orders redis-setnx-expire medium held !no-ttl
            1600000000 holds exclusive -)");
        row("18 a moment with an expiry is SETNX and EXPIRE", string("lock.orders", "1700000060"), "", R"(
            lock.orders redis-setnx-expire medium held
            1700000060 holds exclusive -)");
        row("19 SETNX and EXPIRE", string("orders-lock", "1"), "", R"(
            orders-lock redis-setnx-expire medium held
            1 holds exclusive -)");
        row("19 the EXPIRE never came", string("mutex:orders", "host-7:4711", -1), "", R"(
            mutex:orders redis-setnx-expire medium held !no-ttl
            host-7:4711 holds exclusive -)");
        row("19 what is about locks is none", string("lock:settings", "1", -1), "", "");
        row("19 a count of locks", string("user:5:lock_count", "3", -1), "", "");
        row("19 an address that is let", string("dhcp:lease:10.0.0.7", "00:1a:2b:3c:4d:5e", 3'600'000), "", "");
        row("19 a document is no lock", string("lock:config", QByteArray(300, 'x')), "", "");
        row("a plain value", string("orders", "1"), "", "");
        row("a moment under a plain name", string("last-seen", "1700000060", -1), "", "");
        row("not read (a type we do not know)", keyOf("orders-lock", KeyType::Stream, -1, {}), "", "");
        row("a list named lock", keyOf("lock:list", KeyType::List, -1, {}), "", "");
    }
    void naive() { check(); }

    // The next holder writes the same value: what tells them apart is when the key ends, if the server says it.
    void aConstantIsCalledByItsExpiry()
    {
        auto key = keyOf("orders-lock", KeyType::String, 30000, "1");
        const auto holder = [&key] { return recognise(key, {}, RedisContext())->contenders.at(0); };
        QVERIFY(holder().guard.comesAgain); // a server before Redis 7
        QCOMPARE(holder().id, QByteArray("1"));
        key.expiresAt = ServerTime(milliseconds(1700000030000));
        QVERIFY(!holder().guard.comesAgain);
        QCOMPARE(holder().id, QByteArray("1@1700000030000"));
        QCOMPARE(holder().guard.value, QByteArray("1"));
        QCOMPARE(holder().guard.expiryMs, std::optional<qint64>(1700000030000));
        QCOMPARE(holder().expiresAt, key.expiresAt);
        // A random token needs no more, however often it is prolonged.
        key.value = uuid1;
        QCOMPARE(holder().id, uuid1);
        QVERIFY(!holder().guard.comesAgain && !holder().guard.expiryMs);
        // Endless, and a moment, can be anybody's.
        RedisContext context;
        context.observed = ServerTime(milliseconds(1700000000000));
        QVERIFY(recognise(keyOf("lock.orders", KeyType::String, -1, "1700000060000"), {}, context)
                    ->contenders[0]
                    .guard.comesAgain);
        QVERIFY(recognise(keyOf("orders-lock", KeyType::String, -1, "1"), {}, RedisContext())
                    ->contenders[0]
                    .guard.comesAgain);
    }

    void rslockWritesBytes()
    {
        Beside beside("");
        const QByteArray bytes("\xff\x80\x81 sixteen bytes mo", 20);
        const auto lock = recognise(string("orders-lock", bytes), {}, beside.context);
        QCOMPARE(lock->recipe, QByteArray("redis-set-nx"));
        QCOMPARE(lock->client, QStringLiteral("rslock"));
        QCOMPARE(lock->contenders[0].guard.value, bytes);
    }

    void whatWasGivenMoreTimeIsNoLockInItsLastMinute()
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
        QVERIFY(lock->contenders[0].guard.comesAgain);
    }

    void withAll_data()
    {
        columns();
        row("token", string("session:7", "{h7}"), "", R"(
            session:7 redis-set-nx low held (node-redlock)
            {h7} holds exclusive -)");
        row("moment", string("last-seen", "1700000060", -1), "", R"(
            last-seen redis-getset low held
            1700000060 holds exclusive -)");
        row("plain value", string("orders", "1"), "", "");
    }
    void withAll()
    {
        QFETCH(QByteArray, expected);
        QCOMPARE(drawn(true), lines(expected));
    }

    // Who asks for a key by its name may know that it is an RSemaphore; among all keys it is a counter.
    void aSmallNumberIsASemaphoreWhereItIsAskedFor()
    {
        Beside beside("");
        beside.context.includeLowConfidence = true;
        QVERIFY(!recognise(string("plainsem", "2", -1), {}, beside.context));
        beside.context.isAskedFor = true;
        const auto lock = recognise(string("plainsem", "2", -1), {}, beside.context);
        QVERIFY(lock);
        QCOMPARE(lock->recipe, QByteArray("redisson-semaphore"));
        QVERIFY(lock->confidence == Confidence::Low && lock->state == LockState::Free);
        QVERIFY2(lock->why.contains(QStringLiteral("2 permits left")), qPrintable(lock->why));
        QVERIFY(lock->findings.empty() && lock->contenders.empty());
        QVERIFY(recognise(string("plainsem", "0", -1), {}, beside.context)->state == LockState::Held);
        QVERIFY(!recognise(string("plainsem", "2"), {}, beside.context)); // one that ends
        QVERIFY(!recognise(string("plainsem", "1234567", -1), {}, beside.context));
        QVERIFY(!recognise(string("plainsem", "two", -1), {}, beside.context));
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
        QCOMPARE(held(py).guard.value, uuid1);
        beside.context.firstSeen[py.key] = now - milliseconds(70);
        QCOMPARE(*held(py).heldSince, now - milliseconds(70));
        QVERIFY(!held(py).heldAtMost);
        QVERIFY(!held(string("other-lock", "1")).heldSince);
        const auto shed = held(string("job-lock:default:report", "ADDED:2023-11-14T22:13:19.000Z@host-a"));
        QCOMPARE(*shed.heldSince, now - milliseconds(1000));
        QCOMPARE(shed.identity, QByteArray("host-a"));
        QCOMPARE(held(string("lock.orders", "1700000060", -1)).expiresAt, now + milliseconds(60000));
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
        const auto group =
            recognise(hash("g", "YWJj {u1}:5\nYWJj:{u1}:5:expire_time 1700000009000\nYWJj:{u1}:5:lock_count 2"), {},
                      Beside("").context);
        QCOMPARE(group->contenders[0].reentry, 2);
        QCOMPARE(group->contenders[0].identity, expand("{u1}:5"));
        QCOMPARE(group->contenders[0].guard.group, QByteArray("YWJj"));
        QCOMPARE(group->contenders[0].guard.value, expand("{u1}:5"));
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
        companion("{sem}:timeout", "sem");
        companion("sem:timeout", "");
        companion("lock-signal:orders", "lock:orders");
        companion("orders", "");
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

LOCKSCOPE_TEST(TestRecogniseRedis)
#include "tst_recognise_redis.moc"
