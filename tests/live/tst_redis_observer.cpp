// SPDX-License-Identifier: Apache-2.0
// The Redis observer against a real redis-server: what it finds, and how soon it sees a change.
#include "tests/live/redisobserved.h"
#include "tests/support/testmain.h"

#include "core/async/scope.h"
#include "core/inspect/findings.h"

using namespace lockscope::inspect;
using redis::ConnectionState;

class TestRedisObserver : public RedisObserved {
    Q_OBJECT

private slots:
    // "As of" is the age of what is shown: nothing changes, and it is heard again and again that nothing did.
    void aQuietServerIsHeardAllTheSame()
    {
        QCOMPARE(act({"SET", "orders-lock", token, "PX", "60000"}), "OK");
        observe();
        QVERIFY(firstSnapshot());
        m_sink.looks = 0;
        QVERIFY(eventually([&] { return m_sink.looks >= 2; }));
    }

    void findsWhatIsThere()
    {
        const QByteArray odd("lock with spaces\nand a newline \xff");
        QCOMPARE(act({"SET", "orders-lock", token, "PX", "60000"}), "OK");
        QCOMPARE(act({"SET", "stuck-lock", token}), "OK");
        QCOMPARE(act({"SET", odd, token, "PX", "60000"}), "OK");
        QCOMPARE(act({"SET", "just-a-cache-entry", token, "PX", "60000"}), "OK");
        QCOMPARE(act({"HSET", "user:17", "name", "Ada", "mail", "ada@example.org"}), "2");
        observe();
        QVERIFY(firstSnapshot());
        QCOMPARE(m_observer->snapshots().size(), 3u);

        const auto *orders = lockNamed("orders-lock");
        QVERIFY(orders);
        QCOMPARE(orders->recipe, "redis-set-nx");
        QCOMPARE(orders->holderCount(), 1);
        QCOMPARE(orders->contenders.front().guard.redis().value, token);
        QVERIFY(orders->contenders.front().expiresAt);
        // The server runs on our machine, by our clock.
        QVERIFY(std::chrono::abs(orders->serverAhead) < 5s);
        const auto left = *orders->contenders.front().expiresAt - orders->observed;
        QVERIFY(left > 30s && left <= 60s);

        const auto *stuck = lockNamed("stuck-lock");
        QVERIFY(stuck);
        QVERIFY(!stuck->contenders.front().expiresAt);
        QVERIFY(std::any_of(stuck->findings.begin(), stuck->findings.end(),
                            [](const Finding &finding) { return finding.code == FindingCode::NoTtl; }));
        QVERIFY(lockNamed(odd));
        QTRY_VERIFY(m_sink.coverage.size() == 1 && m_sink.coverage.front().complete);
        QCOMPARE(m_sink.count(ChangeKind::Added, "orders-lock"), 1);
    }

    void seesAcquireRenewalAndRelease()
    {
        observe();
        QVERIFY(firstSnapshot());
        QCOMPARE(m_sink.how(), u"client tracking"_s);
        QCOMPARE(act({"SET", "orders-lock", token, "NX", "PX", "30000"}), "OK");
        QVERIFY(appears("orders-lock"));
        const auto first = lockNamed("orders-lock")->contenders.front();
        QVERIFY(first.heldSince); // seen to come
        QCOMPARE(act({"PEXPIRE", "orders-lock", "90000"}), "1");
        QTRY_VERIFY(*lockNamed("orders-lock")->contenders.front().expiresAt > *first.expiresAt + 30s);
        QCOMPARE(lockNamed("orders-lock")->contenders.front().heldSince, first.heldSince);
        QCOMPARE(act({"DEL", "orders-lock"}), "1");
        QVERIFY(goes("orders-lock"));
        QCOMPARE(m_sink.count(ChangeKind::Added, "orders-lock"), 1);
        QCOMPARE(m_sink.count(ChangeKind::Changed, "orders-lock"), 1);
        QCOMPARE(m_sink.count(ChangeKind::Removed, "orders-lock"), 1);
    }

    void seesExpiryThatNobodyTouches()
    {
        // The server's own search for expired keys may take its time; ours must not depend on it.
        sandbox::RedisOptions options{.moreArguments = {"--enable-debug-command", "yes"}};
        QVERIFY(serve(std::move(options)));
        QCOMPARE(act({"DEBUG", "SET-ACTIVE-EXPIRE", "0"}), "OK");
        observe();
        QVERIFY(firstSnapshot());
        QCOMPARE(act({"SET", "short-lock", token, "PX", "300"}), "OK");
        QVERIFY(appears("short-lock"));
        QVERIFY(goes("short-lock"));
    }

    void aFlushTakesEverything()
    {
        QCOMPARE(act({"MSET", "a-lock", token, "b-lock", token}), "OK");
        observe();
        QVERIFY(firstSnapshot());
        QCOMPARE(m_observer->snapshots().size(), 2u);
        QCOMPARE(act({"FLUSHALL"}), "OK");
        QVERIFY(goes("a-lock"));
        QVERIFY(goes("b-lock"));
    }

    void redissonLockWithItsCompanions()
    {
        QCOMPARE(act({"HSET", "orders", holderField, "1"}), "1");
        QCOMPARE(act({"PEXPIRE", "orders", "30000"}), "1");
        QCOMPARE(act({"RPUSH", "redisson_lock_queue:{orders}", waiterField}), "1");
        QCOMPARE(act({"ZADD", "redisson_lock_timeout:{orders}", "99999999999999", waiterField}), "1");
        observe();
        QVERIFY(firstSnapshot());
        const auto *lock = lockNamed("orders");
        QVERIFY(lock);
        QCOMPARE(m_observer->snapshots().size(), 1u); // companions are no locks
        QVERIFY(lock->find(holderField));
        QVERIFY(lock->find(waiterField));
        QVERIFY(lock->companions.size() >= 1);

        // A change of a companion alone is a change of the lock.
        const QByteArray second = waiterField.chopped(1) + "8";
        QCOMPARE(act({"RPUSH", "redisson_lock_queue:{orders}", second}), "2");
        QTRY_VERIFY(lockNamed("orders")->find(second));
    }

    void waitersOfARedissonLockAreCounted()
    {
        QCOMPARE(act({"HSET", "orders", holderField, "1"}), "1");
        QCOMPARE(act({"PEXPIRE", "orders", "60000"}), "1");
        observe();
        QVERIFY(firstSnapshot());
        const auto waiters = [&] {
            const auto *lock = lockNamed("orders");
            return lock ? lock->waiterCount() : -1;
        };
        QCOMPARE(waiters(), 0);
        auto waiter = m_other->subscribe("redisson_lock__channel:{orders}", [](const redis::Message &) {});
        QTRY_COMPARE(waiters(), 1);
        waiter = {};
        QTRY_COMPARE(waiters(), 0);
    }

    void aRegistryIsKnownByWhatItsLocksHaveInCommon()
    {
        const QByteArray process("9b2f4c1d-1111-4222-8333-444455556666");
        QCOMPARE(act({"SET", "lock-registry:orders", process, "PX", "60000"}), "OK");
        QCOMPARE(act({"SET", "lock-registry:stock", process, "PX", "60000"}), "OK");
        observe();
        QVERIFY(firstSnapshot());
        const auto client = [&] {
            const auto *lock = lockNamed("lock-registry:stock");
            return lock ? lock->client.value_or(u"nobody"_s) : u"no lock"_s;
        };
        QCOMPARE(client(), u"Spring Integration"_s);
        // Read again alone, it stays known.
        QCOMPARE(act({"PEXPIRE", "lock-registry:stock", "90000"}), "1");
        QTRY_VERIFY(m_sink.count(ChangeKind::Changed, "lock-registry:stock") >= 2);
        QCOMPARE(client(), u"Spring Integration"_s);
    }

    void findsThreeAmongFiftyThousand()
    {
        std::vector<redis::Command> commands;
        for (int i = 0; i < 50'000; ++i)
            commands.push_back({"SET", "cache:" + QByteArray::number(i), "x"});
        for (const char *name : {"first-lock", "second-lock", "third-lock"})
            commands.push_back({"SET", name, token, "PX", "60000"});
        QVERIFY(answerOf(m_other->pipeline(std::move(commands), soon())));
        const auto before = commandsProcessed();
        observe();
        QVERIFY(firstSnapshot());
        QCOMPARE(m_observer->snapshots().size(), 3u);
        const auto sent = commandsProcessed() - before;
        QVERIFY2(before > 50'000 && sent < 10'000, qPrintable(QString::number(sent)));
        const auto &steps = m_sink.steps;
        QVERIFY(std::any_of(steps.begin(), steps.end(), [](const Progress &step) {
            return step.running && step.total == 50'003 && step.done < step.total;
        }));
        QCOMPARE(steps.back().done, 50'003);
        QVERIFY(!steps.back().running);
        QVERIFY(steps.back().firstSnapshotComplete);
    }

    // A Redis with Celery, Laravel and sessions, and three keys that look like claims.
    void unexplainedKeysAreReportedInAFewLines()
    {
        std::vector<redis::Command> commands;
        constexpr int each = 500;
        for (int i = 0; i < each; ++i) {
            const auto n = QByteArray::number(i);
            const auto hex = n.rightJustified(32, 'a');
            const auto uuid = n.rightJustified(8, '0') + "-97a1-4d7e-8c55-2f8f2a0d9b11";
            commands.push_back({"SET", "celery-task-meta-" + uuid, "{\"task_id\":\"" + uuid + "\"}", "EX", "86400"});
            commands.push_back({"SET", "laravel_database_laravel_cache:" + hex, "s:5:\"hello\";", "EX", "600"});
            commands.push_back({"SET", "laravel_database_laravel_cache:user:" + n, "i:17;", "EX", "7200"});
            commands.push_back({"SET", "PHPREDIS_SESSION:" + hex, "user|i:17;", "EX", "1440"});
            commands.push_back({"HSET", "sess_" + hex, "data", "x", "lock", "0", "wait", "0", "pid", "web1|" + n});
            commands.push_back({"SET", "rate:10.0.0." + n, "3", "EX", "60"});
            commands.push_back({"INCR", "stat:processed:" + n});
            commands.push_back({"SET", "user:" + n + ":session", hex});
        }
        commands.push_back({"LPUSH", "celery", "{}"});
        commands.push_back({"SADD", "_kombu.binding.celery", "celery"});
        commands.push_back({"SET", "orders:7", "0f3c2a14-97a1-4d7e-8c55-2f8f2a0d9b11"});
        commands.push_back({"SET", "laravel_database_laravel_cache:foo",
                            QByteArray("\xef\x10\x00\x00\x00\xf0\x01", 7) + "1r2fM79GOE1goTTj", "EX", "600"});
        commands.push_back({"HSET", "huey.results.shop", "shop.lock.nightly", "1"});
        QVERIFY(answerOf(m_other->pipeline(std::move(commands), soon())));
        const auto before = commandsProcessed();
        observe({.follow = false});
        QVERIFY(firstSnapshot());
        const auto sent = commandsProcessed() - before;
        QCOMPARE(m_observer->snapshots().size(), 0u);
        const auto coverage = m_observer->coverage();
        QCOMPARE(coverage.front().hidden.count, 0);
        QByteArrayList examples;
        for (const auto &group : coverage.front().unexplained)
            examples << group.example;
        std::ranges::sort(examples);
        QCOMPARE(examples, (QByteArrayList{"huey.results.shop", "laravel_database_laravel_cache:foo", "orders:7"}));
        // What ends within 15 minutes, and hashes, were read before, too.
        QVERIFY2(sent < 40 * each, qPrintable(QString::number(sent)));
    }

    // Its name is that of thousands that are no locks; what the server counts as ending tells that there is one more.
    void findsOneThatIsNamedAsThousandsThatAreNoLocks()
    {
        std::vector<redis::Command> commands;
        for (int i = 0; i < 3000; ++i)
            commands.push_back({"SET", "stock:" + QByteArray::number(i), "x"});
        commands.push_back({"SET", "stock:2777", "HOST_77_" + token, "PX", "800000"});
        QVERIFY(answerOf(m_other->pipeline(std::move(commands), soon())));
        ObserverOptions options{.follow = false};
        observe(options);
        QVERIFY(firstSnapshot());
        QCOMPARE(m_observer->snapshots().size(), 1u);
        QVERIFY(lockNamed("stock:2777"));
    }

    void oneSnapshotWithoutFollowing()
    {
        QCOMPARE(act({"SET", "orders-lock", token}), "OK");
        ObserverOptions options{.follow = false};
        observe(options);
        QVERIFY(firstSnapshot());
        QVERIFY(lockNamed("orders-lock"));
        QVERIFY(!act({"CLIENT", "LIST"}).contains("flags=t"));
        QCOMPARE(m_sink.how(), u"SCAN"_s);
    }

    void aLockThatIsNotCalledOneIsFoundByWhatItDoes()
    {
        const QByteArray random("0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29");
        QCOMPARE(act({"SET", "stock:7", random, "PX", "600000"}), "OK");
        QCOMPARE(act({"SET", "account:1", "5d41402abc4b2a76b9719d911017c592", "PX", "20000"}), "OK");
        QCOMPARE(act({"HSET", "checkout", random + ":42", "1"}), "1");
        observe();
        QVERIFY(firstSnapshot());
        QTRY_VERIFY(lockNamed("account:1"));
        QTRY_VERIFY2(lockNamed("checkout"), "Redisson's, without a TTL");
        QVERIFY(!lockNamed("stock:7"));
        // Somebody keeps it alive.
        int times = 0;
        const auto isKeptAlive = [&] {
            act({"PEXPIRE", "stock:7", ++times % 2 == 1 ? "590000" : "600000"});
            return lockNamed("stock:7") != nullptr;
        };
        QVERIFY(eventuallyAsking(300ms, isKeptAlive));
        QCOMPARE(lockNamed("stock:7")->confidence, Confidence::Medium);
    }

    // Written at that moment and not touched since: it says since when.
    void theMomentOfTakingItIsNotItsEnd()
    {
        QCOMPARE(act({"SET", "lock:report", QByteArray::number(QDateTime::currentSecsSinceEpoch())}), "OK");
        observe();
        QVERIFY(firstSnapshot());
        QTRY_VERIFY(lockNamed("lock:report"));
        QCOMPARE(lockNamed("lock:report")->state, LockState::Held);
        QVERIFY(!lockNamed("lock:report")->find(FindingCode::ExpiredValue));
    }

    void longHeldIsFoundWhenItsTimeComes()
    {
        QCOMPARE(act({"SET", "old-lock", token}), "OK");
        ObserverOptions options;
        options.thresholds->usual.longHeld = 200ms;
        observe(options);
        QVERIFY(firstSnapshot());
        const auto isLongHeld = [&] {
            const auto *lock = lockNamed("old-lock");
            return lock && std::any_of(lock->findings.begin(), lock->findings.end(), [](const Finding &finding) {
                       return finding.code == FindingCode::LongHeld;
                   });
        };
        QTRY_VERIFY(isLongHeld());
    }

    void readsOneLockAfresh()
    {
        QCOMPARE(act({"SET", "orders-lock", token, "PX", "60000"}), "OK");
        observe();
        QVERIFY(firstSnapshot());
        const auto there = testing::finish(m_loop, m_observer->readNow("orders-lock", soon()));
        QVERIFY(there);
        QCOMPARE(there->contenders.front().guard.redis().value, token);
        const auto absent = testing::finish(m_loop, m_observer->readNow("absent-lock", soon()));
        QVERIFY(!absent);
        QCOMPARE(static_cast<int>(absent.error().code), code(ErrorCode::NoNode));
    }

    void otherClientsAreListed()
    {
        QCOMPARE(act({"CLIENT", "SETNAME", "worker-7"}), "OK");
        observe();
        QVERIFY(firstSnapshot());
        QCOMPARE(m_observer->sessions().size(), 1u); // ours are left out
        QCOMPARE(m_observer->sessions().front().client, u"worker-7"_s);
        QVERIFY(m_observer->sessions().front().endpoint->startsWith(u"127.0.0.1:"_s));
    }

    void aWaiterThatListensIsItsConnection()
    {
        QCOMPARE(act({"HSET", "orders-lock", holderField, "1"}), "1");
        QCOMPARE(act({"PEXPIRE", "orders-lock", "60000"}), "1");
        observe();
        QVERIFY(firstSnapshot());
        const auto waiting =
            m_other->subscribe("redisson_lock__channel:{orders-lock}", [](const redis::Message &) {});
        QVERIFY(eventually([&] {
            const auto *lock = lockNamed("orders-lock");
            return lock && lock->waiterCount() == 1 && lock->contenders[1].endpoint;
        }));
        const auto waiter = lockNamed("orders-lock")->contenders[1];
        const auto sessions = m_observer->sessions();
        const auto its = std::ranges::find(sessions, *waiter.session, &SessionSnapshot::session);
        QVERIFY(its != sessions.end());
        QCOMPARE(its->endpoint, waiter.endpoint);
        QVERIFY(eventually([&] {
            const auto listed = m_observer->sessions();
            return std::ranges::any_of(
                listed, [](const auto &one) { return one.waits == std::vector<QByteArray>{"orders-lock"}; });
        }));
        // One look, before anything was swept, tells as much, once ours listens no more.
        m_observer.reset();
        RedisObserver once(*m_connection, ConnectionName("redis"), {}, m_sink);
        QVERIFY(eventually([&] {
            const auto looked = testing::finish(m_loop, once.readNow("orders-lock", soon()));
            return looked && looked->waiterCount() == 1 && looked->contenders[1].endpoint == waiter.endpoint;
        }));
    }

    void destroyedInTheMiddleOfEverything()
    {
        std::vector<redis::Command> commands;
        for (int i = 0; i < 20'000; ++i)
            commands.push_back({"SET", "lock:" + QByteArray::number(i), token});
        QVERIFY(answerOf(m_other->pipeline(std::move(commands), soon())));
        for (size_t atLeast : {0u, 1u, 500u, 5000u}) {
            observe();
            QTRY_VERIFY(m_connection->state() == ConnectionState::Connected);
            QTRY_VERIFY(m_sink.changes.size() >= atLeast);
            m_observer.reset();
            m_connection.reset();
        }
    }
};

LOCKSCOPE_TEST(TestRedisObserver)
#include "tst_redis_observer.moc"
