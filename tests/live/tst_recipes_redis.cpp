// SPDX-License-Identifier: Apache-2.0
// redis-set-nx on a real Redis: exact requests, exclusion, whose key it is, the lease and its end.
#include "core/async/scope.h"
#include "core/async/sleep.h"
#include "core/recipes/make.h"
#include "redis_fixture.h"
#include "tests/support/countingredis.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;
using recipes::Loss;
using Fault = CountingRedis::Fault;

namespace {

const QByteArray releaseScript("compare-and-delete");
const QByteArray prolongScript("compare-and-expire");

// A contender: a lock, and what came of what was asked of it.
class PlainRedisContender {
public:
    PlainRedisContender(redis::Connection &connection, const QByteArray &key, std::chrono::milliseconds ttl, quint64 seed)
        : m_loop(connection.loop()), m_scope(m_loop)
    {
        recipes::AcquireOptions options;
        options.ttl = ttl;
        auto made = recipes::makeLock("redis-set-nx", connection, RedisKey(key), options, Random(seed));
        if (!made)
            qFatal("%s", qPrintable(made.error().message));
        lock = std::move(*made);
    }

    void acquire(Deadline deadline = Deadline::never())
    {
        granted.reset();
        m_scope.launch(acquiring(deadline));
    }
    void giveBack()
    {
        released.reset();
        m_scope.launch(releasing());
    }
    void askWhether()
    {
        mine.reset();
        m_scope.launch(asking());
    }
    void heed() { m_scope.launch(heeding()); }
    void cancelWaits() { m_scope.cancelAll(); }
    [[nodiscard]] bool holds() const { return granted && *granted; }
    [[nodiscard]] QByteArray token() const { return (*granted)->id; }

    std::unique_ptr<recipes::Lock> lock;
    std::optional<Result<recipes::Grant>> granted;
    std::optional<Result<bool>> released;
    std::optional<Result<bool>> mine;
    std::optional<Loss> loss;

private:
    Task<void> acquiring(Deadline deadline)
    {
        auto result = co_await lock->acquire(deadline);
        granted.emplace(std::move(result));
    }
    Task<void> releasing()
    {
        const auto deadline = Deadline::after(m_loop, 2s);
        auto result = co_await lock->release(deadline);
        released.emplace(std::move(result));
    }
    Task<void> asking()
    {
        const auto deadline = Deadline::after(m_loop, 2s);
        auto result = co_await lock->isStillMine(deadline);
        mine.emplace(std::move(result));
    }
    Task<void> heeding()
    {
        auto lost = lock->lost();
        const auto why = co_await lost;
        loss = why;
    }

    Loop &m_loop;
    Scope m_scope; // last: its coroutines use the lock
};

Task<void> addUnderRedisLock(recipes::Lock *lock, Loop *loop, int rounds, int *inside, int *most, int *number, int *failed)
{
    const auto never = Deadline::never();
    for (int i = 0; i < rounds; ++i) {
        const auto grant = co_await lock->acquire(never);
        if (!grant) {
            ++*failed;
            co_return;
        }
        *most = std::max(*most, ++*inside);
        const int seen = *number;
        auto pause = sleepFor(*loop, 1ms);
        co_await pause;
        *number = seen + 1;
        --*inside;
        const auto released = co_await lock->release(never);
        if (!released)
            ++*failed;
    }
}

} // namespace

class TestRecipesRedis : public QObject {
    Q_OBJECT

    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<redis::Connection> m_admin;
    std::unique_ptr<redis::Connection> m_connection;
    std::unique_ptr<CountingRedis> m_redis;
    std::unique_ptr<CountingRedis> m_others; // another client
    std::vector<std::unique_ptr<PlainRedisContender>> m_contenders;

    redis::Value ask(redis::Command command)
    {
        return valueOf(m_admin->command(std::move(command), Deadline::after(m_loop, 10s)));
    }
    QByteArray stored() { return ask({"GET", "the-lock"}).text; }
    PlainRedisContender &add(CountingRedis &redis, std::chrono::milliseconds ttl = 30s)
    {
        m_contenders.push_back(std::make_unique<PlainRedisContender>(redis, "the-lock", ttl, m_contenders.size()));
        return *m_contenders.back();
    }

private slots:
    void initTestCase()
    {
        auto made = sandbox::makeRedis();
        if (!made)
            QSKIP(qPrintable(made.error().message));
        m_server = std::move(*made);
        const auto started = m_server->start(20s);
        QVERIFY2(started, started ? "" : qPrintable(started.error().message));
        m_admin = redis::openConnection(m_loop, optionsFor(m_server->address()));
        QVERIFY(becomes(*m_admin, redis::ConnectionState::Connected));
    }
    void init()
    {
        m_connection = redis::openConnection(m_loop, optionsFor(m_server->address()));
        QVERIFY(becomes(*m_connection, redis::ConnectionState::Connected));
        m_redis = std::make_unique<CountingRedis>(*m_connection);
        m_others = std::make_unique<CountingRedis>(*m_admin);
        ask({"FLUSHALL"});
    }
    void cleanup()
    {
        m_contenders.clear();
        m_redis.reset();
        m_others.reset();
        m_connection.reset();
    }

    void freeAcquireAndRelease()
    {
        const auto *recipe = recipes::findRecipe("redis-set-nx");
        auto &one = add(*m_redis);
        one.acquire();
        QTRY_VERIFY(one.holds());
        QCOMPARE(m_redis->requests(), recipe->requestsAcquireFree.toInt());
        QCOMPARE(stored(), one.token());
        QVERIFY(!(*one.granted)->fencingToken);
        const auto ttl = ask({"PTTL", "the-lock"}).integer;
        QVERIFY(ttl > 0 && ttl <= 30'000);
        m_redis->reset();
        one.giveBack();
        QTRY_VERIFY(one.released);
        QVERIFY(*one.released);
        QCOMPARE(m_redis->count(releaseScript), recipe->requestsRelease.toInt());
        QCOMPARE(m_redis->requests(), 1);
        QVERIFY(ask({"GET", "the-lock"}).isNil());
    }

    void waitersPollOneRequestPerTry()
    {
        auto &holder = add(*m_others);
        holder.acquire();
        QTRY_VERIFY(holder.holds());
        auto &waiter = add(*m_redis);
        waiter.acquire();
        QTRY_VERIFY(m_redis->count("SET") >= 3);
        QCOMPARE(m_redis->requests(), m_redis->count("SET"));
        QVERIFY(!waiter.granted);
        holder.giveBack();
        QTRY_VERIFY(waiter.holds());
        QCOMPARE(m_redis->requests(), m_redis->count("SET"));
        QCOMPARE(stored(), waiter.token());
    }

    void timeoutLeavesNothing()
    {
        ask({"SET", "the-lock", "somebody"});
        auto &waiter = add(*m_redis);
        waiter.acquire(Deadline::after(m_loop, 150ms));
        QTRY_VERIFY(waiter.granted);
        QCOMPARE(waiter.granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(stored(), QByteArray("somebody"));
        waiter.acquire(Deadline::at(m_loop.now())); // once, without waiting
        const int before = m_redis->count("SET");
        QTRY_VERIFY(waiter.granted);
        QCOMPARE(waiter.granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(m_redis->count("SET"), before);
    }

    void exclusion()
    {
        constexpr int contenders = 4, rounds = 6;
        int inside = 0, most = 0, number = 0, failed = 0;
        for (int i = 0; i < contenders; ++i)
            add(i % 2 == 0 ? *m_redis : *m_others);
        Scope scope(m_loop);
        for (auto &c : m_contenders)
            scope.launch(addUnderRedisLock(c->lock.get(), &m_loop, rounds, &inside, &most, &number, &failed));
        QTRY_VERIFY_WITH_TIMEOUT(scope.isIdle(), 60'000);
        QCOMPARE(failed, 0);
        QCOMPARE(most, 1);
        QCOMPARE(number, contenders * rounds);
    }

    void anotherOwnersKeyIsLeftAlone()
    {
        auto &one = add(*m_redis);
        one.acquire();
        QTRY_VERIFY(one.holds());
        ask({"SET", "the-lock", "another"});
        one.askWhether();
        QTRY_VERIFY(one.mine);
        QVERIFY(*one.mine && !**one.mine);
        one.giveBack();
        QTRY_VERIFY(one.released);
        QCOMPARE(one.released->error().code, ErrorCode::NotHeld);
        QCOMPARE(stored(), QByteArray("another"));
        // It is over for this object: a second release says so without asking.
        m_redis->reset();
        one.giveBack();
        QTRY_VERIFY(one.released);
        QCOMPARE(one.released->error().code, ErrorCode::NotHeld);
        QCOMPARE(m_redis->requests(), 0);
    }

    void theLeaseIsProlonged()
    {
        auto &one = add(*m_redis, 900ms);
        one.heed();
        one.acquire();
        QTRY_VERIFY(one.holds());
        QTRY_VERIFY(m_redis->count(prolongScript) >= 6); // two TTLs, a third at a time
        QVERIFY(!one.loss);
        QCOMPARE(stored(), one.token());
        one.giveBack();
        QTRY_VERIFY(one.released);
        QVERIFY(*one.released);
        const int prolonged = m_redis->count(prolongScript);
        QTest::qWait(400);
        QCOMPARE(m_redis->count(prolongScript), prolonged); // nobody renews what was given back
        QVERIFY(ask({"GET", "the-lock"}).isNil());
    }

    void aLeaseThatCannotBeProlongedEnds()
    {
        auto &one = add(*m_redis, 400ms);
        one.heed();
        one.acquire();
        QTRY_VERIFY(one.holds());
        m_redis->plan(prolongScript, Fault::LoseRequest, 1'000'000);
        auto &other = add(*m_others);
        other.acquire();
        QTRY_VERIFY(one.loss);
        QCOMPARE(*one.loss, Loss::LeaseOver);
        QTRY_VERIFY(other.holds());
        one.giveBack();
        QTRY_VERIFY(one.released);
        QCOMPARE(one.released->error().code, ErrorCode::NotHeld);
        QCOMPARE(stored(), other.token());
        // The same object can try again.
        other.giveBack();
        one.acquire();
        QTRY_VERIFY(one.holds());
    }

    void theLeaseEndsOnTimeWhenTheServerHangs()
    {
        auto &one = add(*m_redis, 400ms);
        one.heed();
        one.acquire();
        QTRY_VERIFY(one.holds());
        m_server->pause();
        QTRY_VERIFY(one.loss);
        m_server->resume();
        QCOMPARE(*one.loss, Loss::LeaseOver);
        QTRY_VERIFY(ask({"GET", "the-lock"}).isNil() || stored() == one.token());
    }

    void theHolderHearsThatItsKeyIsGone()
    {
        auto &one = add(*m_redis, 1500ms);
        one.heed();
        one.acquire();
        QTRY_VERIFY(one.holds());
        ask({"DEL", "the-lock"});
        QTRY_VERIFY(one.loss);
        QCOMPARE(*one.loss, Loss::TakenAway);
        QVERIFY(ask({"GET", "the-lock"}).isNil()); // and it is not made again
    }

    void setReplyLost_data()
    {
        QTest::addColumn<int>("fault");
        QTest::addColumn<int>("sets");
        QTest::newRow("reply lost") << int(Fault::LoseReply) << 1;
        QTest::newRow("request lost") << int(Fault::LoseRequest) << 2;
    }
    void setReplyLost()
    {
        QFETCH(int, fault);
        QFETCH(int, sets);
        m_redis->plan("SET", Fault(fault));
        auto &one = add(*m_redis);
        one.acquire();
        QTRY_VERIFY(one.holds());
        QCOMPARE(m_redis->count("SET"), sets);
        QCOMPARE(m_redis->count("GET"), 1);
        QCOMPARE(stored(), one.token());
        one.askWhether();
        QTRY_VERIFY(one.mine);
        QVERIFY(**one.mine);
    }

    void setReplyLostBehindAnother()
    {
        ask({"SET", "the-lock", "somebody"});
        m_redis->plan("SET", Fault::LoseReply);
        auto &one = add(*m_redis);
        one.acquire(Deadline::after(m_loop, 200ms));
        QTRY_VERIFY(one.granted);
        QCOMPARE(one.granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(stored(), QByteArray("somebody"));
    }

    void releaseIsFollowedUp_data()
    {
        QTest::addColumn<int>("fault");
        QTest::newRow("reply lost") << int(Fault::LoseReply);
        QTest::newRow("request lost") << int(Fault::LoseRequest);
    }
    void releaseIsFollowedUp()
    {
        QFETCH(int, fault);
        auto &one = add(*m_redis);
        one.acquire();
        QTRY_VERIFY(one.holds());
        m_redis->plan(releaseScript, Fault(fault));
        one.giveBack();
        QTRY_VERIFY(one.released);
        QCOMPARE(one.released->error().code, ErrorCode::UnknownOutcome);
        QTRY_VERIFY(ask({"GET", "the-lock"}).isNil());
    }

    void cancelWhileSetIsOut_data()
    {
        QTest::addColumn<bool>("destroyLock");
        QTest::newRow("lock destroyed") << true;
        QTest::newRow("acquire destroyed") << false;
    }
    void cancelWhileSetIsOut()
    {
        QFETCH(bool, destroyLock);
        m_redis->plan("SET", Fault::HoldReply);
        auto &one = add(*m_redis);
        one.acquire();
        QTRY_VERIFY(!stored().isEmpty()); // it is ours, and we do not know yet
        if (destroyLock)
            one.lock.reset();
        else
            one.cancelWaits();
        QTRY_VERIFY(ask({"GET", "the-lock"}).isNil());
        m_redis->letThrough();
        QTRY_COMPARE(one.granted.has_value(), destroyLock);
        if (destroyLock)
            QCOMPARE(one.granted->error().code, ErrorCode::Cancelled);
        QVERIFY(ask({"GET", "the-lock"}).isNil());
    }

    void destroyingTheHolderReleases()
    {
        auto &one = add(*m_redis);
        one.acquire();
        QTRY_VERIFY(one.holds());
        one.lock.reset();
        QTRY_VERIFY(ask({"GET", "the-lock"}).isNil());
    }

    void waitsForTheConnection()
    {
        auto late = redis::openConnection(m_loop, optionsFor(m_server->address()));
        CountingRedis redis(*late);
        PlainRedisContender one(redis, "the-lock", 30s, 99);
        QCOMPARE(redis.state(), redis::ConnectionState::Connecting);
        one.acquire();
        QTRY_VERIFY(one.holds());
    }

    void aKeyOfAnotherTypeIsTaken()
    {
        ask({"LPUSH", "the-lock", "a", "b"});
        auto &one = add(*m_redis);
        one.acquire(Deadline::at(m_loop.now()));
        QTRY_VERIFY(one.granted);
        QCOMPARE(one.granted->error().code, ErrorCode::TimedOut);
        QCOMPARE(ask({"TYPE", "the-lock"}).text, QByteArray("list"));
    }

    void forbiddenIsAnError()
    {
        ask({"ACL", "SETUSER", "reader", "on", "nopass", "~*", "+@read", "+@connection"});
        auto options = optionsFor(m_server->address());
        options.user = "reader";
        options.password = "any";
        auto reader = redis::openConnection(m_loop, options);
        QVERIFY(becomes(*reader, redis::ConnectionState::Connected));
        CountingRedis redis(*reader);
        PlainRedisContender one(redis, "the-lock", 30s, 98);
        one.acquire();
        QTRY_VERIFY(one.granted);
        QCOMPARE(one.granted->error().code, ErrorCode::NoPermission);
    }

    void refusesWhatItCannotDo()
    {
        recipes::AcquireOptions options;
        const auto codeWith = [&](const QByteArray &recipe, const RedisKey &name) {
            const auto made = recipes::makeLock(recipe, *m_connection, name, options, Random(1));
            return made ? -1 : code(made.error().code);
        };
        const RedisKey key("k");
        QCOMPARE(codeWith("redis-set-nx", key), -1);
        QCOMPARE(codeWith("redis-set-nx", RedisKey()), code(ErrorCode::BadInput));
        QCOMPARE(codeWith("redlock", key), code(ErrorCode::BadInput)); // one Redis is no set
        QCOMPARE(codeWith("zk-mutex", key), code(ErrorCode::BadInput));
        QCOMPARE(codeWith("nonsense", key), code(ErrorCode::BadInput));
        options.readMode = true;
        QCOMPARE(codeWith("redis-set-nx", key), code(ErrorCode::BadInput));
        options = {};
        options.limit = 2;
        QCOMPARE(codeWith("redis-set-nx", key), code(ErrorCode::BadInput));
        options = {};
        options.ttl = 0ms;
        QCOMPARE(codeWith("redis-set-nx", key), code(ErrorCode::BadInput));
    }
};

LOCKSCOPE_TEST(TestRecipesRedis)
#include "tst_recipes_redis.moc"
