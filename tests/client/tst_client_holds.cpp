// SPDX-License-Identifier: Apache-2.0
// What a hold of the C++ library guarantees when something fails: it is lost once, ends in time, and nothing blocks.
#include "tests/client/clientfixture.h"

#include "core/async/qtloop.h"
#include "core/redis/client.h"
#include "core/zookeeper/client.h"

namespace {

struct Place {
    sandbox::Server *server;
    std::string uri;
    const char *recipe;
    const char *lock;
};

} // namespace

class TestClientHolds : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::Server> m_redis, m_zookeeper, m_mariadb, m_etcd;

    [[nodiscard]] Place place(const QByteArray &backend) const
    {
        if (backend == "redis")
            return {m_redis.get(), uriOf("redis://", *m_redis), "redis-set-nx", "client:hold"};
        if (backend == "zookeeper")
            return {m_zookeeper.get(), uriOf("zk://", *m_zookeeper), "zk-mutex", "/client/hold"};
        if (backend == "mariadb")
            return {m_mariadb.get(), uriOf("mariadb://root@", *m_mariadb), "sql-get-lock", "GET_LOCK#hold"};
        return {m_etcd.get(), uriOf("etcd://", *m_etcd), "etcd-mutex", "client/hold"};
    }
    static void addPlaces()
    {
        addRows<QByteArray>(
            "backend", {{"redis", "redis"}, {"zookeeper", "zookeeper"}, {"mariadb", "mariadb"}, {"etcd", "etcd"}});
    }
    void deleteRedisKey(const char *key)
    {
        QtLoop loop;
        const auto admin = redis::openConnection(loop, {.host = m_redis->address()});
        QVERIFY(eventually([&] { return admin->state() == redis::ConnectionState::Connected; }));
        QVERIFY(answerOf(admin->command({"DEL", key}, Deadline::after(loop, 10s))));
    }
    static v0::ConnectOptions hasty() { return {.timeout = 30s, .closeTimeout = 500ms, .sessionTimeout = 2s}; }

private slots:
    void initTestCase()
    {
        START_OR_SKIP(m_redis, sandbox::makeRedis());
        START_OR_SKIP(m_zookeeper, sandbox::makeZooKeeper());
        START_OR_SKIP(m_mariadb, sandbox::makeMariaDb());
        START_OR_SKIP(m_etcd, sandbox::makeEtcd());
    }

    // Whatever ends, ends on the background thread, also where this thread is the last to let go of it.
    void clientsComeAndGo()
    {
        for (int round = 0; round < 60; ++round) {
            GOT(auto client, v0::connect(place("redis").uri));
            GOT(auto lock, client.lock("client:again", "redis-set-nx"));
            GOT(auto hold, lock.acquire(5s));
            QVERIFY(hold.isHeld());
        }
    }

    void releaseIsSentOnce_data() { addPlaces(); }
    void releaseIsSentOnce()
    {
        QFETCH(QByteArray, backend);
        const auto at = place(backend);
        GOT(auto client, v0::connect(at.uri));
        GOT(auto lock, client.lock(at.lock, at.recipe));
        GOT(auto hold, lock.acquire(20s));
        Losses losses;
        losses.watch(hold);
        std::vector<std::future<int>> releases;
        for (int i = 0; i < 4; ++i)
            releases.push_back(std::async(std::launch::async, [&hold] { return codeOf(hold.release()); }));
        for (auto &release : releases)
            QCOMPARE(release.get(), -1);
        QCOMPARE(codeOf(hold.release()), -1);
        QVERIFY(!hold.isHeld());
        QCOMPARE(losses.count.load(), 0);
        GOT(auto next, lock.acquire(20s));
        QVERIFY(next.isHeld());
    }

    void objectsOutliveTheirClient()
    {
        std::optional<v0::Hold> hold;
        {
            GOT(auto client, v0::connect(place("zookeeper").uri));
            GOT(auto lock, client.lock("/client/outlives", "zk-mutex"));
            GOT(hold, lock.acquire(20s));
        }
        QVERIFY(hold->isHeld());
        QVERIFY(hold->release());
    }

    void asynchronousFormsAnswer()
    {
        GOT(auto client, v0::connect(place("redis").uri));
        GOT(auto lock, client.lock("client:async", "redis-set-nx"));
        GOT(auto other, client.lock("client:async", "redis-set-nx"));
        auto future = lock.acquireAsync();
        GOT(auto hold, future.get());
        std::promise<int> answered;
        std::promise<int> inside;
        other.acquireAsync(v0::Clock::time_point::max(), [&](v0::Result<v0::Hold> got) {
            inside.set_value(codeOf(other.acquire(1s))); // would wait for itself
            answered.set_value(codeOf(got));
        });
        QVERIFY(hold.release());
        QCOMPARE(inside.get_future().get(), code(v0::ErrorCode::Refused));
        QCOMPARE(answered.get_future().get(), -1);
        GOT(auto next, lock.acquire(20s)); // the callback's hold was released with it
        QVERIFY(next.isHeld());
    }

    void waitingEndsWithTheLock_data() { addPlaces(); }
    void waitingEndsWithTheLock()
    {
        QFETCH(QByteArray, backend);
        const auto at = place(backend);
        GOT(auto client, v0::connect(at.uri));
        GOT(auto lock, client.lock(at.lock, at.recipe));
        GOT(auto hold, lock.acquire(20s));
        std::future<v0::Result<v0::Hold>> cancelled, destroyed;
        {
            GOT(auto second, client.lock(at.lock, at.recipe));
            GOT(auto third, client.lock(at.lock, at.recipe));
            cancelled = second.acquireAsync();
            destroyed = third.acquireAsync();
            QCOMPARE(codeOf(second.acquireAsync().get()), code(v0::ErrorCode::BadInput)); // one at a time
            second.cancel();
            QCOMPARE(codeOf(cancelled.get()), code(v0::ErrorCode::Cancelled));
        }
        QCOMPARE(codeOf(destroyed.get()), code(v0::ErrorCode::Cancelled));
        QVERIFY(hold.isHeld());
        QVERIFY(hold.release());
        GOT(auto next, lock.acquire(20s)); // nothing of them is in the way
        QVERIFY(next.isHeld());
    }

    void blockedThreadIsCancelledByAnother()
    {
        GOT(auto client, v0::connect(place("etcd").uri));
        GOT(auto lock, client.lock("client/blocked"));
        GOT(auto waiter, client.lock("client/blocked"));
        GOT(auto hold, lock.acquire(20s));
        auto blocked = std::async(std::launch::async, [&waiter] { return codeOf(waiter.acquire()); });
        QVERIFY(blocked.wait_for(200ms) == std::future_status::timeout);
        waiter.cancel();
        QCOMPARE(blocked.get(), code(v0::ErrorCode::Cancelled));
    }

    void deletedHoldIsLostOnce_data()
    {
        addRows<QByteArray>("backend", {{"redis", "redis"}, {"zookeeper", "zookeeper"}});
    }
    void deletedHoldIsLostOnce()
    {
        QFETCH(QByteArray, backend);
        const auto at = place(backend);
        GOT(auto client, v0::connect(at.uri));
        GOT(auto lock, client.lock(at.lock, at.recipe));
        GOT(auto hold, lock.acquire(20s));
        Losses losses;
        losses.watch(hold);
        if (backend == "redis") {
            deleteRedisKey(at.lock);
        } else {
            QtLoop loop;
            const auto admin = zk::openSession(loop, {.hosts = {at.server->address()}});
            QVERIFY(eventually([&] { return admin->state() == zk::SessionState::Connected; }));
            const ZPath folder(at.lock);
            const auto nodes = answerOf(admin->children(folder, std::nullopt, Deadline::after(loop, 10s)));
            QVERIFY(nodes && nodes->names.size() == 1);
            const auto node = folder.child(*nodes->names.begin());
            QVERIFY(answerOf(admin->remove(node, zk::anyVersion, Deadline::after(loop, 10s))));
        }
        QCOMPARE(int(losses.next().code), code(v0::ErrorCode::NotHeld));
        QVERIFY(!hold.isHeld());
        QCOMPARE(codeOf(hold.release()), code(v0::ErrorCode::NotHeld));
        QCOMPARE(losses.count.load(), 1);
        Losses late; // after it was lost: told at once, but not after its release
        GOT(auto next, lock.acquire(20s));
        late.watch(next);
        QVERIFY(next.isHeld());
        QVERIFY(next.release());
        QCOMPARE(late.count.load(), 0);
    }

    // A server that neither answers nor closes its connections.
    void silentServerBlocksNothing_data() { addPlaces(); }
    void silentServerBlocksNothing()
    {
        QFETCH(QByteArray, backend);
        const auto at = place(backend);
        GOT(auto client, v0::connect(at.uri, hasty()));
        GOT(auto lock, client.lock(at.lock, at.recipe, {.ttl = 2s}));
        GOT(auto waiter, client.lock(at.lock, at.recipe, {.ttl = 2s}));
        Losses losses;
        std::optional<v0::Hold> hold;
        GOT(hold, lock.acquire(20s));
        QCOMPARE(codeOf(waiter.acquire(Millis(100))), code(v0::ErrorCode::TimedOut));
        losses.watch(*hold);
        const auto begun = v0::Clock::now();
        at.server->pause();
        const auto resume = qScopeGuard([&] { at.server->resume(); });

        const auto refused = waiter.acquire(Millis(300));
        QVERIFY2(!refused, "acquired from a server that answers nothing");
        QVERIFY2(since(begun) < 4s, QByteArray::number(qint64(since(begun).count())).constData());
        auto waiting = waiter.acquireAsync();
        const bool ends =
            backend != "mariadb"; // a named lock lasts for as long as the server believes in the session
        if (ends) {
            const auto why = losses.next();
            QVERIFY2(!why.message.empty(), "not lost");
            QVERIFY(!hold->isHeld());
        }
        if (backend == "redis" || backend == "etcd")
            QVERIFY2(since(begun) < 3s, QByteArray::number(qint64(since(begun).count())).constData());
        const auto closing = v0::Clock::now();
        hold.reset();
        QVERIFY2(since(closing) < 3s, QByteArray::number(qint64(since(closing).count())).constData());
        {
            const auto destroyed = std::move(waiter);
        }
        QCOMPARE(codeOf(waiting.get()), code(v0::ErrorCode::Cancelled));
        QCOMPARE(losses.count.load(), ends ? 1 : 0);
    }

    // The client's last objects are destroyed while the server is silent.
    void silentServerDoesNotKeepTheProcess_data() { addPlaces(); }
    void silentServerDoesNotKeepTheProcess()
    {
        QFETCH(QByteArray, backend);
        const auto at = place(backend);
        v0::Clock::time_point begun;
        {
            GOT(auto client, v0::connect(at.uri, hasty()));
            GOT(auto lock, client.lock(at.lock, at.recipe, {.ttl = 2s}));
            GOT(auto hold, lock.acquire(20s));
            at.server->pause();
            begun = v0::Clock::now();
        }
        const auto took = since(begun);
        at.server->resume();
        QVERIFY2(took < 6s, QByteArray::number(qint64(took.count())).constData());
    }

    // By the clock alone: whatever the background thread does, it is over when the lease is.
    void leaseEndsByTheClock()
    {
        GOT(auto client, v0::connect(place("redis").uri, hasty()));
        GOT(auto lock, client.lock("client:clock", "redis-set-nx", {.ttl = 1s}));
        GOT(auto hold, lock.acquire(20s));
        std::promise<void> entered, leave;
        auto left = leave.get_future();
        GOT(auto other, client.lock("client:other", "redis-set-nx"));
        other.acquireAsync(v0::Clock::time_point::max(), [&](v0::Result<v0::Hold>) {
            entered.set_value();
            left.wait(); // a callback that blocks, which it must not: nothing is renewed
        });
        entered.get_future().wait();
        const auto blocked = v0::Clock::now();
        while (hold.isHeld() && since(blocked) < 5s)
            std::this_thread::yield();
        const auto held = since(blocked);
        leave.set_value();
        QVERIFY2(held < 1s, QByteArray::number(qint64(held.count())).constData());
        QVERIFY(!hold.isHeld());
        Losses losses;
        losses.watch(hold);
        QCOMPARE(int(losses.next().code), code(v0::ErrorCode::NotHeld)); // told at once, as it was lost before
        QVERIFY(!hold.isHeld());
        GOT(auto next, lock.acquire(20s));
        QVERIFY(next.isHeld());
    }

    void renewedLeaseLasts()
    {
        GOT(auto client, v0::connect(place("redis").uri));
        GOT(auto lock, client.lock("client:renewed", "redis-set-nx", {.ttl = 500ms}));
        GOT(auto hold, lock.acquire(20s));
        const auto begun = v0::Clock::now();
        while (since(begun) < 1500ms) {
            QVERIFY2(hold.isHeld(), QByteArray::number(qint64(since(begun).count())).constData());
            std::this_thread::yield();
        }
        QVERIFY(hold.release());
    }

    void expiredSessionIsLost()
    {
        const auto at = place("zookeeper");
        GOT(auto client, v0::connect(at.uri, hasty()));
        GOT(auto lock, client.lock("/client/expired", "zk-mutex"));
        GOT(auto hold, lock.acquire(20s));
        Losses losses;
        losses.watch(hold);
        at.server->stop();
        QCOMPARE(int(losses.next().code), code(v0::ErrorCode::SessionLost));
        QVERIFY(!hold.isHeld());
        const auto begun = v0::Clock::now();
        QCOMPARE(codeOf(lock.acquire(Millis(200))), code(v0::ErrorCode::TimedOut));
        QVERIFY(since(begun) < 3s);
        QVERIFY(at.server->start(60s));
        GOT(auto next, lock.acquire(60s)); // in the same session or in a new one
        QVERIFY(next.isHeld());
        QCOMPARE(losses.count.load(), 1);
    }

    // Also where the last objects were destroyed there.
    void connectIsRefusedInCallback()
    {
        std::optional<v0::Client> client;
        std::optional<v0::Lock> lock;
        std::optional<v0::Hold> hold;
        GOT(client, v0::connect(place("redis").uri));
        GOT(lock, client->lock("client:inside", "redis-set-nx"));
        GOT(hold, lock->acquire(20s));
        std::promise<int> inside;
        hold->onLost([&](const v0::Error &) {
            hold.reset();
            lock.reset();
            client.reset();
            inside.set_value(codeOf(v0::connect(place("redis").uri)));
        });
        deleteRedisKey("client:inside");
        QCOMPARE(inside.get_future().get(), code(v0::ErrorCode::Refused));
    }

    void destroyedHoldIsNotReported()
    {
        GOT(auto client, v0::connect(place("redis").uri));
        GOT(auto lock, client.lock("client:twice", "redisson-lock"));
        GOT(auto first, lock.acquire(20s));
        std::optional<v0::Hold> second;
        GOT(second, lock.acquire(20s));
        Losses losses, silent;
        silent.watch(*second);
        first.onLost([&](const v0::Error &why) {
            second.reset();
            losses.first.set_value(why);
        });
        deleteRedisKey("client:twice");
        QVERIFY(!losses.next().message.empty());
        drain(first);
        QCOMPARE(silent.count.load(), 0);
    }

    // The next acquire begins while the release is on its way.
    void callbackAcquiresAgain_data() { addPlaces(); }
    void callbackAcquiresAgain()
    {
        QFETCH(QByteArray, backend);
        const auto at = place(backend);
        GOT(auto client, v0::connect(at.uri));
        GOT(auto lock, client.lock(at.lock, at.recipe));
        int left = 50;
        std::promise<QByteArray> done;
        std::function<void(v0::Result<v0::Hold>)> again = [&](v0::Result<v0::Hold> got) {
            if (!got || --left == 0)
                return done.set_value(textOf(got));
            got = v0::Error{}; // drops the hold
            lock.acquireAsync(v0::Clock::now() + 20s, again);
        };
        lock.acquireAsync(v0::Clock::now() + 20s, again);
        QCOMPARE(done.get_future().get(), QByteArray("no error"));
    }

    void cancelledReentryLeavesNothing()
    {
        const auto at = place("mariadb");
        GOT(auto client, v0::connect(at.uri));
        for (int i = 0; i < 5; ++i) {
            GOT(auto lock, client.lock(at.lock, at.recipe));
            GOT(auto other, client.lock(at.lock, at.recipe));
            GOT(auto hold, lock.acquire(20s));
            auto again = lock.acquireAsync();
            lock.cancel();
            if (auto second = again.get())
                QVERIFY(second->release());
            QVERIFY(hold.release());
            GOT(auto next, other.acquire(20s));
            QVERIFY(next.isHeld());
        }
    }

    // The node is there still: what takes the lock next deletes it first.
    void refusedReleaseIsCleanedUp()
    {
        QtLoop loop;
        const auto admin = zk::openSession(loop, {.hosts = {m_zookeeper->address()}});
        QVERIFY(eventually([&] { return admin->state() == zk::SessionState::Connected; }));
        GOT(auto client, v0::connect(place("zookeeper").uri));
        GOT(auto lock, client.lock("/client/kept", "zk-mutex"));
        GOT(auto hold, lock.acquire(20s));
        const ZPath folder("/client/kept");
        const zk::Acls noDelete{{zk::perms::all & ~zk::perms::remove, "world", "anyone"}};
        QVERIFY(answerOf(admin->setAcls(folder, noDelete, zk::anyVersion, Deadline::after(loop, 10s))));
        QCOMPARE(codeOf(hold.release()), code(v0::ErrorCode::NoPermission));
        QVERIFY(answerOf(admin->setAcls(folder, zk::openAcl(), zk::anyVersion, Deadline::after(loop, 10s))));
        GOT(auto next, lock.acquire(20s));
        QVERIFY(next.isHeld());
    }

    void longestSpanIsNoDeadline()
    {
        GOT(auto client, v0::connect(place("redis").uri));
        GOT(auto lock, client.lock("client:long", "redis-set-nx"));
        GOT(auto other, client.lock("client:long", "redis-set-nx"));
        GOT(auto hold, lock.acquire(Millis::max()));
        auto waiting = std::async(std::launch::async, [&other] { return other.acquire(Millis::max()); });
        QVERIFY(waiting.wait_for(200ms) == std::future_status::timeout);
        QVERIFY(hold.release(Millis::max()));
        GOT(auto next, waiting.get());
        QVERIFY(next.isHeld());
    }

    void assignmentEndsWhatWasThere()
    {
        GOT(auto client, v0::connect(place("redis").uri));
        GOT(auto lock, client.lock("client:assigned", "redis-set-nx"));
        GOT(auto waiter, client.lock("client:assigned", "redis-set-nx"));
        GOT(auto hold, lock.acquire(20s));
        auto &same = hold;
        hold = std::move(same);
        QVERIFY(hold.isHeld());
        auto waiting = waiter.acquireAsync();
        GOT(auto replacement, client.lock("client:replaced", "redis-set-nx"));
        waiter = std::move(replacement);
        QCOMPARE(codeOf(waiting.get()), code(v0::ErrorCode::Cancelled));
        GOT(auto replaced, waiter.acquire(20s));
        QVERIFY(hold.release());
        std::promise<int> known;
        lock.acquireAsync(v0::Clock::now() + 20s, [&](const v0::Result<v0::Hold> &) {
            known.set_value(codeOf(hold.release())); // a callback learns it, too
        });
        QCOMPARE(known.get_future().get(), -1);
    }

    void majorityOfRedlockSuffices()
    {
        std::unique_ptr<sandbox::Server> second, third;
        START_OR_SKIP(second, sandbox::makeRedis());
        START_OR_SKIP(third, sandbox::makeRedis());
        const auto others = uriOf(",", *second) + uriOf(",", *third);
        m_redis->pause();
        const auto resume = qScopeGuard([&] { m_redis->resume(); });
        const auto begun = v0::Clock::now();
        GOT(auto client, v0::connect(place("redis").uri + others, {.timeout = 20s}));
        QVERIFY2(since(begun) < 5s, QByteArray::number(qint64(since(begun).count())).constData());
        second->pause();
        const auto refused = v0::connect(place("redis").uri + others, {.timeout = 1s});
        second->resume();
        QCOMPARE(codeOf(refused), code(v0::ErrorCode::NotConnected));
    }

    void failuresToConnectKeepSecrets()
    {
        const auto redis = uriOf("", *m_redis);
        const v0::ConnectOptions brief{.timeout = 3s};
        const auto secret = [](const v0::Result<Client> &refused) {
            return textOf(refused).contains("s3cr3t") || textOf(refused).contains("s3c");
        };
        const auto wrong = v0::connect("redis://:s3cr3t@" + redis, brief);
        QCOMPARE(codeOf(wrong), code(v0::ErrorCode::AuthFailed));
        QVERIFY2(!secret(wrong), textOf(wrong).constData());
        for (const auto *scheme : {"redis://", "zk://", "etcd://", "mariadb://", "postgresql://"}) {
            const auto begun = v0::Clock::now();
            const auto refused = v0::connect(scheme + std::string("me:s3cr3t@127.0.0.1:1"), brief);
            QCOMPARE(codeOf(refused), code(v0::ErrorCode::NotConnected));
            QVERIFY2(!secret(refused), textOf(refused).constData());
            QVERIFY(since(begun) < 6s);
        }
        for (const auto *unread : {"redis://:s3c/r3t@127.0.0.1:1", "nonsense://me:s3cr3t@host", "sim:", ""}) {
            const auto refused = v0::connect(unread, brief);
            QVERIFY(codeOf(refused) == code(v0::ErrorCode::BadInput)
                    || codeOf(refused) == code(v0::ErrorCode::Unsupported));
            QVERIFY2(!secret(refused), textOf(refused).constData());
        }
    }
};

LOCKSCOPE_TEST(TestClientHolds)
#include "tst_client_holds.moc"
