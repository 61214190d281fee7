// SPDX-License-Identifier: Apache-2.0
// What of a Redis looks like a claim and is no lock by any rule: which values and keys, how it is told, and what
// asking for it costs. And the keys that frameworks name in their own ways, with names beside them that are no locks.
#include "core/inspect/redis/recognise.h"
#include "rediskeytable.h"
#include "tests/support/testmain.h"
#include "tests/unit/quietredis.h"

using namespace lockscope::inspect;
using namespace lockscope::inspect::table;
using lockscope::testing::NoSink;
using lockscope::testing::QuietRedis;

namespace {

KeyView members(KeyView view, const std::vector<QByteArray> &names)
{
    for (const auto &name : names) {
        view.items.push_back(expand(name));
        view.scored.emplace_back(expand(name), 1);
    }
    view.size = view.membersRead();
    if (view.type == KeyType::Set)
        view.scored.clear();
    else
        view.items.clear();
    view.size = view.membersRead();
    return view;
}

QStringList linesOf(const Claims &claims)
{
    QStringList all;
    for (const auto &group : claims.groups())
        all << group.text + u": "_s + QString::fromUtf8(group.example);
    return all;
}

} // namespace

class TestRedisClaims : public QObject {
    Q_OBJECT

private slots:
    void values_data()
    {
        const Rows<QByteArray, bool> row("value", "isClaim");
        row("a UUID", "{u7}", true);
        row("32 hex digits", "{h7}", true);
        row("16 random letters and digits", "aZ3kQ9xW1bT7pL0s", true);
        row("a process on its host", "web-7d9c|12", true);
        row("a process behind a colon", "ip-10-0-0-1.internal:4711", true);
        row("a JVM", "12@web-7d9c", true);
        row("a process of Sidekiq", "web-7d9c:4711:abcdef012345", true);
        row("an object of Kubernetes' kind", R"({"holderIdentity":"pod-7f","leaseDurationSeconds":15})", true);
        row("a revision", "orders:4711:abcdef012345", false);
        row("host, process and UUID", "web1:12:{u7}", true);
        row("JSON", "\"{u7}\"", true);
        row("PHP", "s:16:\"aZ3kQ9xW1bT7pL0s\";", true);
        row("igbinary",
            QByteArray("\x00\x00\x00\x02\x11\x10"
                       "aZ3kQ9xW1bT7pL0s",
                       22),
            true);
        row("LZ4",
            QByteArray("\xef\x10\x00\x00\x00\xf0\x01"
                       "aZ3kQ9xW1bT7pL0s",
                       23),
            true);
        row("pickle", QByteArray("\x80\x04\x95\x28\x00\x00\x00\x00\x00\x00\x00\x8c\x24", 13) + "{u7}\x94.", true);
        row("Java", QByteArray("\xac\xed\x00\x05t\x00\x24", 7) + "{u7}", true);
        row("an object with its owner", R"({"lockedBy":"web1","at":17})", true);
        row("nothing", "", false);
        row("a number", "1700000000", false);
        row("a word", "enabled", false);
        row("a title", "TheQuickBrownFox", false);
        row("one of a kind", "order:17", false);
        row("an address", "10.0.0.7:6379", false);
        row("mail", "12345@mail-1.example", false);
        row("a file", "{u7}.webp", false);
        row("a path", "/uploads/{u7}", false);
        row("a packed word", "s:5:\"hello\";", false);
        row("a packed sentence", QByteArray("\x80\x04\x8c\x05hello\x94.", 11), false);
        row("a result", R"({"status":"SUCCESS","task_id":"{u7}"})", false);
        row("a visitor", R"({"owner":"ann","theme":"dark"})", false);
    }
    void values()
    {
        QFETCH(QByteArray, value);
        QFETCH(bool, isClaim);
        QCOMPARE(looksLikeClaim(expand(value), now), isClaim);
    }

    void keys_data()
    {
        const Rows<KeyView, bool> row("key", "isClaim");
        const auto of = [](const char *key, KeyType type, qint64 ttlMs = 30'000) {
            return keyOf(key, type, ttlMs, {});
        };
        row("a token that never ends", string("orders:7", "{u7}", -1), true);
        row("a name that says what it is", string("user:7:session", "{u7}", -1), false);
        row("Celery's result", string("celery-task-meta-{u7}", "{u7}", -1), false);
        row("a lock's counter at rest", string("lock:7", "0", -1), false);
        row("permits, or a setting", string("app:semaphore", "3", -1), true);
        row("a lock's name, and a document", string("orders-lock", QByteArray(300, 'x'), -1), true);
        row("members that are tokens", members(of("slots", KeyType::Set), {"{u1}", "{u2}"}), true);
        row("a leader, by any name", string("ingestion:leader", "pod-x2x4q", 15'000), true);
        row("a leader who stays", string("team:leader", "ann", -1), false);
        row("a score", string("game:leader", "1200", 15'000), false);
        row("a board of leaders", string("leaderboard", "ann", 15'000), false);
        row("a list called a lock", members(of("lock:free", KeyType::List, -1), {"1"}), true);
        row("they last", members(of("slots", KeyType::Set, -1), {"{u1}", "{u2}"}), false);
        row("members that are words", members(of("slots", KeyType::Set), {"{u1}", "blue"}), false);
        row("by a score", members(of("slots", KeyType::SortedSet), {"{h1}", "{h2}"}), true);
        row("fields that are tokens", hash("slots", "{u1}:x 1\n{u2}:y 1"), true);
        row("values that are", hash("slots", "a {u1}\nb {u2}"), true);
        row("one of many fields", hash("slots", "a {u1}\nb 3"), false);
        row("resque-loner's mark", string("resque:loners:queue:a:job:{h7}", "{u7}", -1), false);
        row("what a worker of Dramatiq fetched", members(of("dramatiq:__acks__.{u1}.mail", KeyType::Set), {"{u1}"}),
            false);
        row("huey's lock among its results", hash("huey.results.shop", "shop.lock.nightly 1", -1), true);
        row("a row with its version", hash("user:7", "name ann\nlock_version 3", -1), false);
        row("a session that nobody has", hash("sess_1", "data x\nlock 0\nwait 0\npid web1|2"), false);
        row("a contract, called a lease", hash("lease:78", "status active\nuntil 2027", -1), false);
        row("a lock called a lease, too", hash("lease-lock:78", "status active\nuntil 2027", -1), true);
        row("a file of packages' versions", string("composer.lock", "{}", -1), false);
        row("nothing there", missing("orders:7"), false);
    }
    void keys()
    {
        QFETCH(KeyView, key);
        QFETCH(bool, isClaim);
        QCOMPARE(looksLikeClaim(key, now), isClaim);
    }

    void groupsAreOfTheLastSweep()
    {
        Claims claims;
        claims.note(string("orders:7", "{u7}", -1), false, now, 1);
        claims.note(string("orders:8", "{u8}", -1), false, now, 1);
        claims.note(string("account:8", "{u8}", -1), true, now, 1);
        QVERIFY(claims.groups().empty());
        claims.sweepEnds(1);
        QCOMPARE(linesOf(claims),
                 QStringList(u"2 keys like orders:* look like claims, and no rule says what they are: orders:7"_s));
        claims.met("orders:8", 2); // the other is gone
        claims.sweepEnds(2);
        QCOMPARE(linesOf(claims), QStringList(u"1 key looks like a claim, and no rule says what it is: orders:8"_s));
        claims.note(string("orders:8", "{u8}", -1), true, now, 3);
        claims.sweepEnds(3);
        QVERIFY(claims.groups().empty());
    }

    // A few of each kind of name, once: what never ends is not read as a whole.
    void fewKeysOfEachUnknownNameAreRead()
    {
        const auto questionsWith = [](const QByteArray &value, QStringList &groups) {
            VirtualLoop loop;
            QuietRedis server{loop};
            NoSink sink;
            for (int i = 0; i < 3000; ++i)
                server.keys.push_back("stock:" + QByteArray::number(i));
            for (int i = 0; i < 3000; ++i)
                server.keys.push_back("user:" + QByteArray::number(i) + ":profile");
            std::ranges::sort(server.keys);
            server.token = value;
            RedisObserver observer{server, ConnectionName("redis"), ObserverOptions{}, sink};
            observer.start();
            loop.advance(20s);
            const auto coverage = observer.coverage();
            for (const auto &one : coverage.front().unexplained)
                groups << one.text;
            loop.advance(10min);
            return std::pair(server.counts["MEMORY"], server.counts["GETRANGE"]);
        };
        QStringList groups;
        const auto [sizes, reads] = questionsWith("17", groups);
        QCOMPARE(groups, QStringList());
        QCOMPARE(sizes, 8);
        QCOMPARE(reads, 8);
        (void)questionsWith("0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11", groups);
        QCOMPARE(groups.size(), 2);
        for (const auto *kind : {"4 keys like stock:*", "4 keys like user:*:profile"})
            QVERIFY2(std::ranges::any_of(
                         groups, [kind](const auto &text) { return text.startsWith(QLatin1StringView(kind)); }),
                     qPrintable(groups.join(u'\n')));
        QVERIFY2(groups.front().contains(u"a sample of 8 was read"), qPrintable(groups.front()));
    }

    // Keys of frameworks whose names say no lock in words, and such as are named alike.
    void frameworks_data()
    {
        const Rows<KeyView, QByteArray> row("key", "expected");
        const QByteArray digest(32, 'a');
        row("celery-singleton", string("SINGLETONLOCK_1077c8ee1ad7fd5f5cf016b63729cc46", "{u7}", 60'000),
            "redis-set-nx celery-singleton");
        row("celery-once", string("qo_shop.tasks.bill_id-7", uuid1, 3'600'000), "redis-set-nx celery-once");
        row("a setting", string("qo_settings", "dark", 3'600'000), "");
        row("a task's flag", string("qo_shop.tasks.bill", "on", 3'600'000), "");
        row("activejob-uniqueness", string("activejob_uniqueness:bill_job:no_arguments", "{u7}", 86'400'000),
            "redis-set-nx activejob-uniqueness");
        row("Sidekiq's leader", string("dear-leader", "web-1:4711:abcdef012345", 60'000),
            "redis-set-nx Sidekiq Enterprise");
        row("arq", string("arq:in-progress:17", "1", 300'000), "redis-setnx-expire arq");
        row("arq's job", string("arq:job:17", "1", 300'000), "");
        row("arq's tries", string("arq:retry:17", "1", 300'000), "");
        row("Laravel", string("laravel_database_laravel_cache:foo", "aZ3kQ9xW1bT7pL0s", 600'000),
            "redis-set-nx Laravel");
        row("Laravel, since 10", string("laravel_cache_foo", "aZ3kQ9xW1bT7pL0s", 600'000), "redis-set-nx Laravel");
        row("a text that it caches", string("laravel_cache:foo", "s:16:\"aZ3kQ9xW1bT7pL0s\";", 600'000), "");
        row("Laravel's scheduler",
            string("laravel_cache_:framework/schedule-bad0552359181e1a787a47daa08c9100e45011fa", "aZ3kQ9xW1bT7pL0s",
                   600'000),
            "redis-set-nx Laravel");
        row("a task that ran",
            string("laravel_cache_:framework/schedule-bad0552359181e1a787a47daa08c9100e45011fa1405",
                   "aZ3kQ9xW1bT7pL0s", 600'000),
            "");
        row("Resque's scheduler", string("resque:resque_scheduler_master_lock", "sched-1", 180'000),
            "redis-setnx-expire resque-scheduler");
        row("Resque's count", string("resque:stat:processed", "17", -1), "");
        row("sidekiq-unique-jobs",
            hash(("uniquejobs:" + digest + ":LOCKED").constData(), "aaaaaaaaaaaaaaaaaaaaaaaa 1699999990"),
            "redis-semaphore sidekiq-unique-jobs");
        row("its versions 4 and 5", string(("uniquejobs:" + digest).constData(), "aaaaaaaaaaaaaaaaaaaaaaaa", 30'000),
            "redis-set-nx sidekiq-unique-jobs");
        row("a job that does not end", string(("uniquejobs:" + digest).constData(), "aaaaaaaaaaaaaaaaaaaaaaaa", -1),
            "");
        row("what runs there until a time",
            string(("uniquejobs:" + digest + ":run").constData(), "1700000060", 30'000), "");
        row("Magento", hash("sess_1", "data x\nlock 57\nwait 2\npid web1|5583"),
            "redis-session Cm_RedisSession (Magento)");
        row("a session that nobody has", hash("sess_1", "data x\nlock 0\nwait 0\npid web1|5583"), "");
        row("another session", hash("sess_1", "data x\nuser 7"), "");
        row("phpredis", string("PHPREDIS_SESSION:abc_LOCK", "web-7d9c|12", 30'000),
            "redis-setnx-expire phpredis session");
        row("a process under another name", string("job_LOCK", "web-7d9c|12", 30'000), "redis-setnx-expire ");
        row("phpredis with another value", string("PHPREDIS_SESSION:abc_LOCK", "web-7d9c", 30'000),
            "redis-setnx-expire ");
        row("its session", string("PHPREDIS_SESSION:abc", "cart|i:3;", 30'000), "");
        row("Nextcloud", string("x/lockfiles/39b1b1dd24f88308dadb938d2a7907e9", "2", 30'000),
            "redis-rwlock Nextcloud");
        row("another file", string("x/files/39b1b1dd24f88308dadb938d2a7907e9", "2", 30'000), "");
        row("rueidis", string("rueidislock:0:orders", QByteArray("\xff\xfe\x00\x80 abcdefghijklmnopqrs", 24), 5'000),
            "redis-set-nx rueidis");
        row("rueidis with another value", string("rueidislock:0:orders", "17,5", 5'000), "");
        row("GitLab's lease", string("gitlab:exclusive_lease:pool_repository:5", "{u7}", 600'000), "redis-set-nx ");
        row("RedLock.net", string("redlock:invoice-7", "{u7}", 30'000), "redis-set-nx pottery or RedLock.net");
        row("huey: several locks are one key", hash("huey.results.shop", "shop.lock.nightly 1", -1), "");
        row("huey, a key for each", string("huey.r.shop.shop.lock.nightly", "1", -1), "redis-setnx-expire huey");
        row("huey's result", string("huey.r.shop.{u7}", "1", 86'400'000), "");
        row("resque-loner's mark of a job",
            string("resque:loners:queue:mail:job:5ac5a005253450606aa9bc3b3d52ea5b", "1", -1), "");
        row("resque-lock", string("resque:lock:SendMail-7", "true", -1), "redis-setnx-expire ");
        row("RQ's mark of a cleaned queue", string("rq:clean_registries:mail", "1", 30'000), "");
        row("RQ's scheduler", string("rq:scheduler-lock:mail", "4711", 60'000), "redis-setnx-expire ");
        row("a job of arq named as a lock", string("arq:job:lock:{u7}", "{u7}", 30'000), "");
        row("arq's tries of such a job", string("arq:retry:lock:7", "1", 30'000), "");
        row("redbeat", string("redbeat::lock", uuid1, 60'000), "redis-set-nx redis-py");
        row("a cached value of Django",
            string(":1:views.decorators.cache.cache_page..d41d.en-us.UTC", "gAR9cQAu", 30'000), "");
        row("Celery's result", string("celery-task-meta-{u7}", "{\"status\":\"SUCCESS\"}", 86'400'000), "");
    }
    void frameworks()
    {
        QFETCH(KeyView, key);
        QFETCH(QByteArray, expected);
        const Beside beside("");
        const auto lock = recognise(key, {}, beside.context);
        QCOMPARE(lock ? lock->recipe + ' ' + lock->client.value_or(QString()).toUtf8() : QByteArray(), expected);
        if (lock)
            QVERIFY(isSuspect(key.key, key.type, key.ttl, false) || isWorthMeasuring(key.key, key.type, key.ttl));
    }

    void aSessionsLockHasAHolderAndNamelessWaiters()
    {
        Beside beside("");
        const auto key = hash("sess_1", "data x\nlock 57\nwait 2\npid web1|5583\nreq /cart", 21'600'000);
        const auto lock = recognise(key, {}, beside.context);
        QVERIFY(lock.has_value());
        QCOMPARE(draw(std::vector{*lock}), lines(R"(
            sess_1 redis-session high contended (Cm_RedisSession (Magento))
            web1|5583 holds exclusive -
            request 1 waits exclusive -
            request 2 waits exclusive -)"));
        QCOMPARE(lock->contenders[0].identity, QByteArray("web1|5583 /cart"));
        QVERIFY2(!lock->contenders[0].expiresAt, "the time to live is the session's");
        QVERIFY(lock->findings.empty());
    }
};

LOCKSCOPE_TEST(TestRedisClaims)
#include "tst_redis_claims.moc"
