// SPDX-License-Identifier: Apache-2.0
// Queues and sets of a real Redis with more members than are asked for at first: none is left out, none is said to be
// gone because it was not read, and of what is too large to be read that is said.
#include "tests/live/redisobserved.h"
#include "tests/support/testmain.h"

namespace {

#ifdef LOCKSCOPE_SANITIZED
constexpr int fairWaiters = 1'500; // more than are asked for at first
#else
constexpr int fairWaiters = 10'000;
#endif
const QByteArray fairLock = "orders";
const QByteArray fairQueueKey = "redisson_lock_queue:{orders}";
const QByteArray fairDeadlinesKey = "redisson_lock_timeout:{orders}";

QByteArray fairMember(int number)
{
    return "00000000-0000-4000-8000-" + QByteArray::number(number).rightJustified(12, '0') + ":1";
}

} // namespace

class TestRedisLongQueue : public RedisObserved {
    Q_OBJECT

    // Whoever came last is asked for first: the order of the deadlines is not that of the queue.
    void queueUp(int from, int to)
    {
        const auto later = QDateTime::currentMSecsSinceEpoch() + 3'600'000;
        redis::Command list{"RPUSH", fairQueueKey};
        redis::Command set{"ZADD", fairDeadlinesKey};
        for (int i = from; i < to; ++i) {
            list.push_back(fairMember(i));
            set.push_back(QByteArray::number(later - i));
            set.push_back(fairMember(i));
        }
        act(std::move(list));
        act(std::move(set));
    }
    bool isHeldBy(int number, int waiting)
    {
        const auto *lock = lockNamed(fairLock);
        return lock && lock->contenders.front().id == fairMember(number)
               && lock->contenders.front().role == Role::Holder && lock->waiterCount() == waiting;
    }
    // As the next of a fair lock does, in one step.
    void handOver(int from, int to)
    {
        act({"EVAL",
             "redis.call('del', KEYS[1]); redis.call('lpop', KEYS[2]); redis.call('zrem', KEYS[3], ARGV[2]);"
             "redis.call('hset', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], 600000); return ARGV[1]",
             "3", fairLock, fairQueueKey, fairDeadlinesKey, fairMember(from), fairMember(to)});
    }

private slots:
    void everyWaiterOfAFairLockIsSeen()
    {
        act({"HSET", fairLock, fairMember(0), "1"});
        act({"PEXPIRE", fairLock, "600000"});
        queueUp(1, fairWaiters + 1);
        observe();
        QVERIFY(firstSnapshot());
        QVERIFY(appears(fairLock));
        const auto *lock = lockNamed(fairLock);
        QCOMPARE(lock->recipe, "redisson-fair-lock");
        QCOMPARE(lock->waiterCount(), fairWaiters);
        QVERIFY(lock->waitersKnown);
        QCOMPARE(lock->contenders.back().id, fairMember(fairWaiters));
        QVERIFY(lock->contenders.back().expiresAt.has_value());
        QCOMPARE(lock->findings.size(), std::size_t(1));
        QCOMPARE(lock->findings[0].severity, inspect::Severity::Info); // no client listens for the first
        QCOMPARE(lock->findings[0].code, FindingCode::LostWakeup);

        constexpr int handOvers = 5;
        const auto before = commandsProcessed();
        for (int i = 0; i < handOvers; ++i) {
            handOver(i, i + 1);
            QTRY_VERIFY(isHeldBy(i + 1, fairWaiters - i - 1));
        }
        // A look asks as much as it does of a queue of one, and twice for what is long.
        const auto asked = commandsProcessed() - before;
        QVERIFY2(asked <= handOvers * 40, qPrintable(u"%1 commands"_s.arg(asked)));
    }

    void tooLongQueueIsReported()
    {
        act({"HSET", fairLock, fairMember(0), "1"});
        act({"PEXPIRE", fairLock, "600000"});
        for (int from = 1; from < 20'002; from += 5000)
            queueUp(from, std::min(from + 5000, 20'002));
        observe();
        QVERIFY(firstSnapshot());
        QVERIFY(appears(fairLock));
        const auto *lock = lockNamed(fairLock);
        QCOMPARE(lock->recipe, "redisson-fair-lock");
        QVERIFY(!lock->waitersKnown);
        QCOMPARE(lock->waiterCount(), 1000);
        QCOMPARE(lock->contenders[1].id, fairMember(1));
        QVERIFY(!lock->contenders[1].expiresAt);
        QVERIFY(!lock->find(FindingCode::StaleQueue)); // their deadlines were not read
    }

    // The moment of the last refresh is the highest score: without it the end of the whole would be another's.
    void everyPermitOfASemaphoreIsSeen()
    {
        constexpr int permits = 1500;
        const auto now = QDateTime::currentMSecsSinceEpoch();
        redis::Command set{"ZADD", "semaphore:db"};
        for (int i = 0; i < permits; ++i) {
            set.push_back(QByteArray::number(now - 10'000 + i));
            set.push_back("00000000-0000-4000-8000-" + QByteArray::number(i).rightJustified(12, '0'));
        }
        act(std::move(set));
        act({"PEXPIRE", "semaphore:db", "600000"});
        observe();
        QVERIFY(firstSnapshot());
        QVERIFY(appears("semaphore:db"));
        const auto *lock = lockNamed("semaphore:db");
        QCOMPARE(lock->holderCount(), permits);
        for (const auto &holder : lock->contenders)
            QCOMPARE(holder.expiresAt.has_value(), holder.id.endsWith("000000001499"));
    }
};

LOCKSCOPE_TEST(TestRedisLongQueue)
#include "tst_redis_longqueue.moc"
