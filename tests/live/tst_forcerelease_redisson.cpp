// SPDX-License-Identifier: Apache-2.0
// The script that takes a Redisson lock from one holder, on a real Redis: what is left, and who is told; and whom the
// lease tells from who had it before, by the same id.
#include "core/operate/releasemethod.h"
#include "core/rules/turn.h"
#include "redisalone.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;
using namespace Qt::StringLiterals;
using redis::Command;

namespace {

const QByteArray alice = "0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29:1";
const QByteArray bob = "11111111-7c8e-4b6e-9a3e-2f5d1c4b3a29:2";
const QByteArray carol = "22222222-7c8e-4b6e-9a3e-2f5d1c4b3a29:3";
const QByteArray pythons = "cHl0aG9uLXJlZGlzLWxvY2sx"; // python-redis-lock's, of one object of it
constexpr qint64 leaseMs = 30'000;

} // namespace

class TestForceReleaseRedisson : public RedisAlone {
    Q_OBJECT

    QByteArrayList m_heard;  // "channel payload"
    Subscription m_onlooker; // is no waiter, and never counted as told

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
        (void)answerOf(m_connection->subscriberId(soon()));
        return subscription;
    }
    bool exists(const QByteArray &key) { return send({"EXISTS", key}).integer == 1; }

    // Gone, or soon.
    bool isEnding(const QByteArray &lock) { return send({"PTTL", lock}).integer <= operate::shortenedTo.count(); }

    // Of Redisson's thread or python-redis-lock's object, and with how much of its lease left.
    void take(const QByteArray &lock, qint64 left)
    {
        send(lock == "orders" ? Command{"HSET", lock, alice, "1"} : Command{"SET", lock, pythons});
        send({"PEXPIRE", lock, QByteArray::number(left)});
    }
    void takeAgain(const QByteArray &lock)
    {
        send({"DEL", lock});
        take(lock, leaseMs);
    }

private slots:
    void initTestCase()
    {
        if (const auto why = startServer(); !why.isEmpty())
            QSKIP(qPrintable(why));
        m_onlooker = m_connection->subscribePattern("redisson_*", [](const redis::Message &) {});
        (void)answerOf(m_connection->subscriberId(soon()));
    }
    void init()
    {
        send({"FLUSHALL"});
        m_heard.clear();
        WorkspaceOptions options;
        options.observe = false;
        openWorkspace(options);
    }
    void cleanupTestCase()
    {
        m_onlooker = {};
        stopServer();
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

    void newHoldByTheSameIdIsNotReleased_data()
    {
        QTest::addColumn<QByteArray>("lock");
        QTest::addColumn<qint64>("left"); // of the lease, when it was looked at
        QTest::addColumn<QString>("meanwhile");
        QTest::addColumn<bool>("isReleased");
        for (const QByteArray lock : {"orders", "lock:orders"}) {
            const auto row = [&lock](const char *name) -> QTestData & {
                return QTest::addRow("%s: %s", lock.constData(), name);
            };
            row("nothing happened") << lock << qint64(27'000) << u"nothing"_s << true;
            row("taken again") << lock << qint64(27'000) << u"again"_s << false;
            row("taken again for less") << lock << qint64(27'000) << u"for less"_s << false;
            row("renewed, after a third") << lock << qint64(19'000) << u"renewed"_s << true;
        }
        QTest::newRow("once more inside") << QByteArray("orders") << qint64(27'000) << u"inside"_s << true;
    }
    void newHoldByTheSameIdIsNotReleased()
    {
        QFETCH(const QByteArray, lock);
        QFETCH(const qint64, left);
        QFETCH(const QString, meanwhile);
        QFETCH(const bool, isReleased);
        send({"RPUSH", "lock-signal:orders", "1"});
        take(lock, left);
        const inspect::LockName name{ConnectionName("redis"), lock};
        const auto id = lock == "orders" ? alice : pythons;
        const auto plan = finish(m_loop, m_workspace->planForceRelease(name, id, soon()));
        QVERIFY2(plan, plan ? "" : qPrintable(plan.error().message));
        if (meanwhile == "again"_L1)
            takeAgain(lock);
        else if (meanwhile == "for less"_L1)
            take(lock, 5'000);
        else if (meanwhile == "inside"_L1)
            send({"HINCRBY", lock, alice, "1"});
        if (meanwhile != "nothing"_L1 && meanwhile != "for less"_L1)
            send({"PEXPIRE", lock, QByteArray::number(leaseMs)});
        const auto outcome = finish(m_loop, m_workspace->forceRelease(*plan, u"test"_s, soon()));
        QCOMPARE(bool(outcome), isReleased);
        if (!outcome)
            QCOMPARE(outcome.error().code, ErrorCode::Refused);
        QCOMPARE(exists(lock), !isReleased);
    }

    // Between the last look and the act the server itself compares, to the millisecond.
    void newHoldRightBeforeSendingIsNotReleased_data()
    {
        QTest::addColumn<QByteArray>("lock");
        QTest::addColumn<int>("way");
        for (const auto way : {operate::ReleaseAction::Release, operate::ReleaseAction::ShortenTtl}) {
            const auto word = operate::wordOf(way);
            QTest::addRow("Redisson's thread, %s", word.constData()) << QByteArray("orders") << int(way);
            QTest::addRow("an object of python-redis-lock's, %s", word.constData())
                << QByteArray("lock:orders") << int(way);
        }
    }
    void newHoldRightBeforeSendingIsNotReleased()
    {
        QFETCH(const QByteArray, lock);
        QFETCH(const int, way);
        const bool isRelease = way == int(operate::ReleaseAction::Release);
        send({"RPUSH", "lock-signal:orders", "1"});
        take(lock, leaseMs);
        const inspect::LockName name{ConnectionName("redis"), lock};
        const auto id = lock == "orders" ? alice : pythons;
        auto plan =
            finish(m_loop, m_workspace->planForceRelease(name, id, soon(), static_cast<operate::ReleaseAction>(way)));
        QVERIFY2(plan, plan ? "" : qPrintable(plan.error().message));
        plan->leaseEnds = send({"PEXPIRETIME", lock}).integer;
        QCOMPARE(plan->before.contenders.front().expiresAt->time_since_epoch().count(), *plan->leaseEnds);
        takeAgain(lock);
        send({"PEXPIREAT", lock, QByteArray::number(*plan->leaseEnds + 1)});
        const auto send = [&] {
            return finish(m_loop, m_workspace->find(name.connection)->sendRelease(*plan, soon()));
        };
        const auto refused = send();
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::Refused);
        QCOMPARE(isEnding(lock), false);
        ++*plan->leaseEnds;
        QVERIFY(send());
        QCOMPARE(isEnding(lock), true);
        QCOMPARE(exists(lock), !isRelease);
    }

    // As before Redis 7, or for a user who may not ask when a key ends.
    void noExpiryTime_remainingTtlIsCompared()
    {
        send({"ACL", "SETUSER", "default", "-pexpiretime"});
        take("orders", 27'000);
        const inspect::LockName name{ConnectionName("redis"), "orders"};
        auto plan = finish(m_loop, m_workspace->planForceRelease(name, alice, soon()));
        QVERIFY2(plan, plan ? "" : qPrintable(plan.error().message));
        plan->leaseEnds = plan->before.contenders.front().expiresAt->time_since_epoch().count();
        takeAgain("orders");
        const auto sent = [&] {
            return finish(m_loop, m_workspace->find(name.connection)->sendRelease(*plan, soon()));
        };
        QCOMPARE(sent().error().code, ErrorCode::Refused);
        QVERIFY(exists("orders"));
        send({"PEXPIRE", "orders", "27000"});
        *plan->leaseEnds += leaseMs; // far enough for a busy machine
        QVERIFY(sent());
        QVERIFY(!exists("orders"));
        send({"ACL", "SETUSER", "default", "+pexpiretime"});
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

    void readersWhoseLeasesHaveEndedGoWithTheLast()
    {
        const auto subscription = listen("redisson_rwlock:{book}");
        send({"HSET", "book", "mode", "read", alice, "1", bob, "1"});
        send({"PEXPIRE", "book", "60000"});
        send({"SET", "{book}:" + alice + ":rwlock_timeout:1", "1", "PX", "60000"});
        QCOMPARE(release("book", alice), (Done{1, 1}));
        QVERIFY(!exists("book"));
        QVERIFY(eventually([&] { return !m_heard.isEmpty(); }));
        QCOMPARE(m_heard, QByteArrayList{"redisson_rwlock:{book} 0"});
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
