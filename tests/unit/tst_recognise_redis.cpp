// SPDX-License-Identifier: Apache-2.0
// One row per rule of docs/layouts.md, "Rules for Redis", by its number: keys in, locks out.
#include "tests/support/testmain.h"
#include "rediskeytable.h"

using namespace lockscope::inspect;
using namespace lockscope::inspect::table;

class TestRecogniseRedis : public QObject {
    Q_OBJECT

    static void columns() { addColumns<KeyView, QByteArray, QByteArray>("main", "beside", "expected"); }
    static void row(const QByteArray &name, const KeyView &main, const QByteArray &beside, const QByteArray &expected)
    {
        QTest::newRow(name.constData()) << main << beside << expected;
    }
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
        row("2b the first in the queue has no subscriber, the lock is free", missing("orders"), R"(
            list redisson_lock_queue:{orders} {u3}:1 {u2}:9
            zset redisson_lock_timeout:{orders} {u3}:1=1700000200000 {u2}:9=1700000300000
            channel redisson_lock__channel:{orders}:{u3}:1 0)",
            R"(
            orders redisson-fair-lock high free (Redisson) !lost-wakeup
            {u3}:1 waits exclusive 0
            {u2}:9 waits exclusive 1)");
        row("2b the first in the queue has no subscriber, the lock is held", hash("orders", "{u1}:5 1"), R"(
            list redisson_lock_queue:{orders} {u3}:1
            zset redisson_lock_timeout:{orders} {u3}:1=1700000200000
            channel redisson_lock__channel:{orders}:{u3}:1 0)",
            R"(
            orders redisson-fair-lock high contended (Redisson) !lost-wakeup
            {u1}:5 holds exclusive 0
            {u3}:1 waits exclusive 1)");
        row("2b the first in the queue has a subscriber", missing("orders"), R"(
            list redisson_lock_queue:{orders} {u3}:1 {u2}:9
            zset redisson_lock_timeout:{orders} {u3}:1=1700000200000 {u2}:9=1700000300000
            channel redisson_lock__channel:{orders}:{u3}:1 1)",
            R"(
            orders redisson-fair-lock high free (Redisson)
            {u3}:1 waits exclusive 0
            {u2}:9 waits exclusive 1)");
        row("2b a fair lock whose name has braces", missing("{a}:b"), R"(
            list redisson_lock_queue:{a}:b {u3}:1
            zset redisson_lock_timeout:{a}:b {u3}:1=1700000200000
            channel redisson_lock__channel:{a}:b:{u3}:1 0)",
            R"(
            {a}:b redisson-fair-lock high free (Redisson) !lost-wakeup
            {u3}:1 waits exclusive 0)");
        row("2b leftovers: the queue without its lock", missing("orders"), R"(
            list redisson_lock_queue:{orders} {u3}:1
            zset redisson_lock_timeout:{orders} {u3}:1=1600000000000)",
            R"(
            orders redisson-fair-lock high free (Redisson) !stale-queue !leftover-keys
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
            sem redisson-semaphore high contended (Redisson) !leftover-keys
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
        row("celery-singleton", string("SINGLETONLOCK_1077c8ee1ad7fd5f5cf016b63729cc46", "{u7}", -1), "", R"(
            SINGLETONLOCK_1077c8ee1ad7fd5f5cf016b63729cc46 redis-set-nx medium held (celery-singleton) !no-ttl
            {u7} holds exclusive -)");
        row("Laravel's schedule",
            string("app:framework/schedule-bad0552359181e1a787a47daa08c9100e45011fa", "aB3dE5fG7hI9jK1l", 86'400'000),
            "",
            R"(
            app:framework/schedule-bad0552359181e1a787a47daa08c9100e45011fa redis-set-nx medium held (Laravel)
            aB3dE5fG7hI9jK1l holds exclusive -)");
        row("Laravel's schedule before it had tokens",
            string("app:framework/schedule-bad0552359181e1a787a47daa08c9100e45011fa", "b:1;", 86'400'000), "",
            R"(
            app:framework/schedule-bad0552359181e1a787a47daa08c9100e45011fa redis-setnx-expire medium held (Laravel)
            b:1; holds exclusive -)");
        row("Laravel's mark that a task ran",
            string("app:framework/schedule-bad0552359181e1a787a47daa08c9100e45011fa1405", "aB3dE5fG7hI9jK1l",
                   3'600'000),
            "", "");
        row("a token packed by PHP", string("bill-lock", "s:16:\"aB3dE5fG7hI9jK1l\";"), "", R"(
            bill-lock redis-set-nx medium held
            s:16:"aB3dE5fG7hI9jK1l"; holds exclusive -)");
        row("a token in quotes", string("bill-lock", "\"{h7}\""), "", R"(
            bill-lock redis-set-nx medium held (node-redlock)
            "{h7}" holds exclusive -)");
        row("a length that is wrong", string("bill-lock", "s:15:\"aB3dE5fG7hI9jK1l\";"), "", "");
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
        row("19 a key that tutorials call so", string("lockkey", "1", -1), "", R"(
            lockkey redis-setnx-expire medium held !no-ttl
            1 holds exclusive -)");
        row("19 a counter at rest is held by nobody", string("orders-lock", "0", -1), "", "");
        row("19 a counter below zero is held by nobody", string("orders-lock", "-1", -1), "", "");
        row("19 a process on a host", string("PHPREDIS_SESSION:k3f0_LOCK", "web-7d9c|12", -1), "", R"(
            PHPREDIS_SESSION:k3f0_LOCK redis-setnx-expire medium held (phpredis session) !no-ttl
            web-7d9c|12 holds exclusive -)");
        row("19 what is about locks is none", string("lock:settings", "1", -1), "", "");
        row("19 a count of locks", string("user:5:lock_count", "3", -1), "", "");
        row("19 an address that is let", string("dhcp:lease:10.0.0.7", "00:1a:2b:3c:4d:5e", 3'600'000), "", "");
        row("19 a file of packages' versions", string("cache:composer.lock", "abc123", -1), "", "");
        row("19 such a file in a folder", string("web/yarn.lock", "7f3a9", 300'000), "", "");
        row("19 its checksum", string("app/package-lock.json", "{h7}", -1), "", "");
        row("19 a lock on such a file", string("lock:composer.lock", "web-1|12", 30'000), "", R"(
            lock:composer.lock redis-setnx-expire medium held
            web-1|12 holds exclusive -)");
        row("19 what only ends so", string("decomposer.lock", "1", 30'000), "", R"(
            decomposer.lock redis-setnx-expire medium held
            1 holds exclusive -)");
        row("19 a contract's lease", string("lease:contract:77", "signed-2", 300'000), "", "");
        row("19 a tenant's", string("tenant:lease:9", "4711-a", 300'000), "", "");
        row("19 a lease that stays", string("lease:78", "{u7}", -1), "", "");
        row("19 a lease that ends", string("lease:job-7", "web-1|12", 30'000), "", R"(
            lease:job-7 redis-setnx-expire medium held
            web-1|12 holds exclusive -)");
        row("19 a lock on a contract", string("lock:contract:77", "web-1|12", 30'000), "", R"(
            lock:contract:77 redis-setnx-expire medium held
            web-1|12 holds exclusive -)");
        row("19 a document is no lock", string("lock:config", QByteArray(300, 'x')), "", "");
        row("a plain value", string("orders", "1"), "", "");
        row("a moment under a plain name", string("last-seen", "1700000060", -1), "", "");
        row("not read (a type we do not know)", keyOf("orders-lock", KeyType::Stream, -1, {}), "", "");
        row("a list named lock", keyOf("lock:list", KeyType::List, -1, {}), "", "");
    }
    void naive() { check(); }

    void readersAndWriters_data()
    {
        columns();
        const QByteArray one = "web1_4711_{h1}";
        const QByteArray two = "web1_4711_{h2}";
        row(".NET: readers, and a writer that waits", missing("catalogue"),
            "set catalogue.readers " + one + ' ' + two + "\nstring catalogue.writer web1_9_{h3}_WRITERWAITING 60000",
            R"(
            catalogue redis-rwlock high contended (DistributedLock (.NET)) !no-ttl
            web1_4711_{h1} holds read -
            web1_4711_{h2} holds read -
            web1_9_{h3} waits write -)");
        row(".NET: a writer", missing("catalogue"), "string catalogue.writer web1_9_{h3} 60000", R"(
            catalogue redis-rwlock high held (DistributedLock (.NET))
            web1_9_{h3} holds write -)");
        row(".NET: a writer that is about to have it is no holder", missing("catalogue"),
            "string catalogue.writer web1_9_{h3}_WRITERWAITING 60000", R"(
            catalogue redis-rwlock high contended (DistributedLock (.NET))
            web1_9_{h3} waits write -)");
        row("readers of a blog", missing("blog"), "set blog.readers ann bob", "");
        row("a writer of books", missing("book"), "string book.writer ann", "");
        const auto *file = "inst/lockfiles/39b1b1dd24f88308dadb938d2a7907e9";
        row("Nextcloud, exclusive", string(file, "\"exclusive\""), "",
            QByteArray(file) + R"( redis-rwlock high held (Nextcloud)
            exclusive hold holds exclusive -)");
        row("Nextcloud, shared", string(file, "2"), "", QByteArray(file) + R"( redis-rwlock high held (Nextcloud)
            shared hold 1 holds read -
            shared hold 2 holds read -)");
        row("Nextcloud, free", string(file, "0"), "", "");
        row("Nextcloud, broken", string(file, "-1"), "",
            QByteArray(file) + " redis-rwlock high contended (Nextcloud) !leftover-keys");
        row("Nextcloud's name, another's value", string(file, "1x"), "", "");
    }
    void readersAndWriters() { check(); }

    void withAll_data()
    {
        columns();
        row("token", string("session:7", "{h7}"), "", R"(
            session:7 redis-set-nx low held (node-redlock)
            {h7} holds exclusive -)");
        row("moment", string("last-seen", "1700000060", -1), "", R"(
            last-seen redis-getset low held
            1700000060 holds exclusive -)");
        row("a plain value that ends", string("orders", "1"), "", R"(
            orders redis-setnx-expire low held
            1 holds exclusive -)");
        row("a plain value that stays", string("orders", "1", -1), "", "");
        row("a count that ends", string("orders", "2"), "", "");
        row("19 a count of holds, or who holds it", string("orders-lock", "2", -1), "", R"(
            orders-lock redis-setnx-expire low held
            2 holds exclusive -)");
    }
    void withAll()
    {
        QFETCH(QByteArray, expected);
        QCOMPARE(drawn(true), lines(expected));
    }
};

LOCKSCOPE_TEST(TestRecogniseRedis)
#include "tst_recognise_redis.moc"
