// SPDX-License-Identifier: Apache-2.0
// The script that takes a Redisson lock from one holder, on a real Redis: what is left, and who is told.
#include "core/rules/redissonkeys.h"
#include "tests/support/redisfixture.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;
using namespace Qt::StringLiterals;
using redis::Command;

namespace {

const QByteArray alice = "0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29:1";
const QByteArray bob = "11111111-7c8e-4b6e-9a3e-2f5d1c4b3a29:2";
const QByteArray carol = "22222222-7c8e-4b6e-9a3e-2f5d1c4b3a29:3";

} // namespace

class TestForceReleaseRedisson : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<redis::Connection> m_connection;
    QByteArrayList m_heard; // "channel payload"

    Deadline soon() const { return Deadline::after(m_loop, 15s); }
    redis::Value send(const Command &command) { return valueOf(m_connection->command(command, soon())); }

    struct Done {
        qint64 outcome = -99;
        qint64 told = -99;
        bool operator==(const Done &) const = default;
    };
    Done release(const QByteArray &lock, const QByteArray &field)
    {
        const redis::RedissonKeys names(lock);
        const auto answer = valueOf(m_connection->script(
            redis::loadScript("redisson-force-release"),
            {lock, names.channel(), names.readWriteChannel(), names.fairQueue(), names.fairDeadlines()},
            {field, names.readerTimeoutPrefix()}, soon()));
        if (answer.items.size() != 2) {
            qWarning().noquote() << answer.text;
            return {};
        }
        return {answer.items[0].integer, answer.items[1].integer};
    }
    Subscription listen(const QByteArray &channel)
    {
        auto subscription = m_connection->subscribe(
            channel, [this](const redis::Message &message) { m_heard << message.channel + ' ' + message.payload; });
        // Confirmed before anything is published.
        QTest::qWait(0);
        (void)answerOf(m_connection->subscriberId(soon()));
        return subscription;
    }
    bool exists(const QByteArray &key) { return send({"EXISTS", key}).integer == 1; }

private slots:
    void initTestCase()
    {
        auto made = sandbox::makeRedis();
        if (!made)
            QSKIP("redis-server is not installed");
        m_server = std::move(*made);
        const auto started = m_server->start(10s);
        QVERIFY2(bool(started), started ? "" : qPrintable(started.error().message));
        m_connection = redis::openConnection(m_loop, optionsFor(m_server->address()));
        QVERIFY(becomes(*m_connection, redis::ConnectionState::Connected));
    }
    void init()
    {
        send({"FLUSHALL"});
        m_heard.clear();
    }
    void cleanupTestCase()
    {
        m_connection.reset();
        m_server.reset();
    }

    void aPlainLockIsDeletedAndItsWaitersTold()
    {
        const auto subscription = listen("redisson_lock__channel:{orders}");
        send({"HSET", "orders", alice, "2"});
        QCOMPARE(release("orders", alice), (Done{1, 1}));
        QVERIFY(!exists("orders"));
        QVERIFY(eventually([&] { return !m_heard.isEmpty(); }));
        QCOMPARE(m_heard, QByteArrayList{"redisson_lock__channel:{orders} 0"});
    }

    void anothersHoldIsLeftAlone()
    {
        const auto subscription = listen("redisson_lock__channel:{orders}");
        send({"HSET", "orders", bob, "1"});
        QCOMPARE(release("orders", alice), (Done{0, 0}));
        QVERIFY(exists("orders"));
        QCOMPARE(release("gone", alice), (Done{-1, 0}));
        QCOMPARE(m_heard, QByteArrayList());
    }

    void aHashThatIsNoLockIsLeftAlone()
    {
        send({"HSET", "basket", alice, "1", "apples", "3"});
        QCOMPARE(release("basket", alice), (Done{-2, 0}));
        QCOMPARE(send({"HLEN", "basket"}).integer, 2);
        send({"HSET", "rw", "mode", "read", alice, "1"});
        QCOMPARE(release("rw", "mode"), (Done{0, 0}));
        QVERIFY(exists("rw"));
    }

    void oneValueOfAGroupIsTakenFromItsHolderOnly()
    {
        const auto subscription = listen("redisson_lock__channel:{group}");
        for (const auto &value : {"YWJj", "ZGVm"})
            send({"HSET", "group", value, alice, value + (':' + alice) + ":expire_time", "1900000000000",
                  value + (':' + alice) + ":lock_count", "1"});
        const auto take = [this](const QByteArray &value, const QByteArray &holder) {
            const auto answer =
                valueOf(m_connection->script(redis::loadScript("redisson-group-release"),
                                             {"group", "redisson_lock__channel:{group}"}, {value, holder}, soon()));
            return answer.items.size() == 2 ? Done{answer.items[0].integer, answer.items[1].integer} : Done{};
        };
        QCOMPARE(take("YWJj", bob), (Done{0, 0}));
        QCOMPARE(take("YWJj", alice), (Done{2, 1}));
        QCOMPARE(send({"HLEN", "group"}).integer, 3);
        QCOMPARE(take("YWJj", alice), (Done{-1, 0}));
        QCOMPARE(take("ZGVm", alice), (Done{1, 1}));
        QVERIFY(!exists("group"));
        QTRY_COMPARE(m_heard.size(), 2);
    }

    void aStringIsAnError()
    {
        send({"SET", "text", "x"});
        const redis::RedissonKeys names("text");
        const auto answer = answerOf(m_connection->script(
            redis::loadScript("redisson-force-release"),
            {"text", names.channel(), names.readWriteChannel(), names.fairQueue(), names.fairDeadlines()},
            {alice, names.readerTimeoutPrefix()}, soon()));
        QVERIFY(!answer);
        QVERIFY(exists("text"));
    }

    void aNameWithATagKeepsIt()
    {
        const auto subscription = listen("redisson_lock__channel:{shop}:orders");
        send({"HSET", "{shop}:orders", alice, "1"});
        QCOMPARE(release("{shop}:orders", alice), (Done{1, 1}));
    }

    void aFairLockTellsTheFirstWaiterThatStillWaits()
    {
        const auto channel = redis::RedissonKeys("orders").channel();
        const auto stale = listen(channel + ':' + bob);
        const auto live = listen(channel + ':' + carol);
        const auto now = QDateTime::currentMSecsSinceEpoch();
        send({"HSET", "orders", alice, "1"});
        send({"RPUSH", "redisson_lock_queue:{orders}", bob, carol});
        send({"ZADD", "redisson_lock_timeout:{orders}", QByteArray::number(now - 60'000), bob,
              QByteArray::number(now + 60'000), carol});
        QCOMPARE(release("orders", alice), (Done{1, 1}));
        QVERIFY(!exists("orders"));
        QVERIFY(eventually([&] { return !m_heard.isEmpty(); }));
        QCOMPARE(m_heard, QByteArrayList{channel + ':' + carol + " 0"});
        QCOMPARE(send({"LLEN", "redisson_lock_queue:{orders}"}).integer, 1);
        QCOMPARE(send({"ZCARD", "redisson_lock_timeout:{orders}"}).integer, 1);
    }

    void oneReaderOfTwoLosesOnlyItsShare()
    {
        const auto subscription = listen("redisson_rwlock:{book}");
        send({"HSET", "book", "mode", "read", alice, "2", bob, "1"});
        send({"PEXPIRE", "book", "60000"});
        for (const QByteArray &key : {alice + ":rwlock_timeout:1", alice + ":rwlock_timeout:2"})
            send({"SET", "{book}:" + key, "1", "PX", "60000"});
        send({"SET", "{book}:" + bob + ":rwlock_timeout:1", "1", "PX", "20000"});
        QCOMPARE(release("book", alice), (Done{2, 0}));
        QVERIFY(!exists("{book}:" + alice + ":rwlock_timeout:1"));
        QVERIFY(!exists("{book}:" + alice + ":rwlock_timeout:2"));
        QVERIFY(exists("{book}:" + bob + ":rwlock_timeout:1"));
        QCOMPARE(send({"HGET", "book", bob}).text, QByteArray("1"));
        QCOMPARE(send({"HEXISTS", "book", alice}).integer, 0);
        const auto left = send({"PTTL", "book"}).integer;
        QVERIFY2(left > 0 && left <= 20'000, QByteArray::number(left).constData());
        QCOMPARE(m_heard, QByteArrayList());
    }

    void theLastReaderFreesTheLock()
    {
        const auto subscription = listen("redisson_rwlock:{book}");
        send({"HSET", "book", "mode", "read", alice, "1"});
        send({"SET", "{book}:" + alice + ":rwlock_timeout:1", "1", "PX", "60000"});
        QCOMPARE(release("book", alice), (Done{1, 1}));
        QCOMPARE(send({"DBSIZE"}).integer, 0);
        QVERIFY(eventually([&] { return !m_heard.isEmpty(); }));
        QCOMPARE(m_heard, QByteArrayList{"redisson_rwlock:{book} 0"});
    }

    void theWriterFreesTheLockAndAllAreTold()
    {
        const auto subscription = listen("redisson_rwlock:{book}");
        send({"HSET", "book", "mode", "write", alice + ":write", "1"});
        QCOMPARE(release("book", alice + ":write"), (Done{1, 1}));
        QVERIFY(!exists("book"));
        QVERIFY(eventually([&] { return !m_heard.isEmpty(); }));
        QCOMPARE(m_heard, QByteArrayList{"redisson_rwlock:{book} 1"});
    }

    void aWriterThatAlsoReadsKeepsReading()
    {
        const auto subscription = listen("redisson_rwlock:{book}");
        send({"HSET", "book", "mode", "write", alice + ":write", "1", alice, "1"});
        QCOMPARE(release("book", alice + ":write"), (Done{2, 1}));
        QCOMPARE(send({"HGET", "book", "mode"}).text, QByteArray("read"));
        QCOMPARE(send({"HGET", "book", alice}).text, QByteArray("1"));
    }
};

LOCKSCOPE_TEST(TestForceReleaseRedisson)
#include "tst_forcerelease_redisson.moc"
