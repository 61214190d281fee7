// SPDX-License-Identifier: Apache-2.0
// Whose clients sleep until a lock's own release wakes them: giving such a lock back, and taking it away, wakes them
// in the same step. The waiters here are what python-redis-lock and Spring's registry leave on the server.
#include "rediscontender.h"
#include "tests/support/testmain.h"

#include "core/rules/turn.h"

using namespace lockscope;
using namespace lockscope::testing;

class TestReleaseWakes : public RedisRecipeFixture {
    Q_OBJECT

    QByteArrayList m_heard;

    Subscription listen(const QByteArray &channel)
    {
        auto subscription = m_admin->subscribe(
            channel, [this](const redis::Message &message) { m_heard << message.channel + ' ' + message.payload; });
        (void)answerOf(m_admin->subscriberId(Deadline::after(m_loop, 10s)));
        return subscription;
    }
    RedisContender &held(const QByteArray &key)
    {
        m_key = key;
        auto &one = add(process());
        if (!one.takes())
            qFatal("not had");
        return one;
    }
    qint64 forced(const QByteArray &key, const QByteArray &value, const QByteArray &expiry = {})
    {
        const auto arguments = QByteArrayList{value} + recipes::signalArguments(recipes::signalsOf(key), expiry);
        return valueOf(m_admin->script(redis::loadScript("compare-and-delete-and-wake"), {key}, arguments,
                                       Deadline::after(m_loop, 10s)))
            .integer;
    }

private slots:
    void init()
    {
        m_recipe = "redis-set-nx";
        m_heard.clear();
    }

    void ourReleaseWakesAWaiterOfPythonRedisLock()
    {
        auto &one = held("lock:orders");
        auto &waiter = process();
        auto popped = waiter.command({"BLPOP", "lock-signal:orders", "20"}, Deadline::after(m_loop, 20s));
        QTRY_VERIFY(ask({"CLIENT", "LIST"}).text.contains("cmd=blpop"));
        one.release();
        QCOMPARE(valueOf(std::move(popped)).items.size(), size_t(2));
        QTRY_VERIFY(one.released && *one.released);
        QVERIFY(!exists("lock:orders"));
    }

    // Who found it taken and has not begun to wait yet finds the entry; then it is gone.
    void theSignalStaysForASecond()
    {
        auto &one = held("lock:orders");
        one.release();
        QTRY_VERIFY(one.released);
        QCOMPARE(ask({"LRANGE", "lock-signal:orders", "0", "-1"}).items.size(), size_t(1));
        const auto ttl = ask({"PTTL", "lock-signal:orders"}).integer;
        QVERIFY(ttl > 0 && ttl <= 1000);
        QTRY_VERIFY(!exists("lock-signal:orders"));
    }

    void ourReleaseTellsARegistryOfSpring()
    {
        const auto subscription = listen("app-channel");
        auto &one = held("app:orders");
        one.release();
        QTRY_COMPARE(m_heard, QByteArrayList{"app-channel app:orders"});
    }

    // From 6.5.3 on they listen by pattern.
    void ourReleaseTellsALaterRegistryOfSpring()
    {
        const auto subscription = m_admin->subscribePattern("app-channel:*", [this](const redis::Message &message) {
            m_heard << message.channel + ' ' + message.payload;
        });
        (void)answerOf(m_admin->subscriberId(Deadline::after(m_loop, 10s)));
        auto &one = held("app:orders");
        one.release();
        QTRY_COMPARE(m_heard, QByteArrayList{"app-channel:app:orders app:orders"});
    }

    void takenAwayItWakesTheSameClients()
    {
        const auto subscription = listen("app-channel");
        ask({"SET", "app:orders", "token"});
        QCOMPARE(forced("app:orders", "token"), 2);
        QTRY_COMPARE(m_heard.size(), 1);
        ask({"SET", "lock:orders", "me"});
        QCOMPARE(forced("lock:orders", "me"), 1);
        QCOMPARE(ask({"LLEN", "lock-signal:orders"}).integer, 1);
    }

    void anothersHoldIsLeftAloneAndNobodyTold()
    {
        ask({"SET", "lock:orders", "other", "PX", "60000"});
        QCOMPARE(forced("lock:orders", "me"), 0);
        QCOMPARE(forced("lock:orders", "other", "12345"), 0);
        QVERIFY(exists("lock:orders") && !exists("lock-signal:orders"));
        QCOMPARE(forced("lock:gone", "me"), -1);
        QVERIFY(!exists("lock-signal:gone"));
    }

    // A user who may touch the locks and nothing else still gives back what it has.
    void userWithoutSignalRightsMayRelease()
    {
        ask({"ACL", "SETUSER", "narrow", "on", ">pw", "~lock:*", "resetchannels", "+@all"});
        auto options = optionsFor(m_server->address());
        options.user = "narrow";
        options.password = "pw";
        const auto narrow = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*narrow, redis::ConnectionState::Connected));
        ask({"SET", "lock:orders", "me"});
        const auto arguments = QByteArrayList{"me"} + recipes::signalArguments(recipes::signalsOf("lock:orders"));
        const auto done = valueOf(narrow->script(redis::loadScript("compare-and-delete-and-wake"), {"lock:orders"},
                                                 arguments, Deadline::after(m_loop, 10s)));
        QCOMPARE(done.integer, 1);
        QVERIFY(!exists("lock:orders") && !exists("lock-signal:orders"));
    }
};

LOCKSCOPE_TEST(TestReleaseWakes)
#include "tst_release_wakes.moc"
