// SPDX-License-Identifier: Apache-2.0
// Contenders for a lock on a real Redis: processes that count and fail, each with a connection of its
// own, their locks, and what came of what was asked of them.
#pragma once

#include "core/async/scope.h"
#include "core/async/sleep.h"
#include "core/recipes/make.h"
#include "redis_fixture.h"
#include "tests/support/countingredis.h"

#include <algorithm>

namespace lockscope::testing {

class RedisContender {
public:
    RedisContender(Loop &loop, std::unique_ptr<recipes::Lock> itsLock) : lock(std::move(itsLock)), m_loop(loop), m_scope(loop)
    {
    }

    void acquire(Deadline deadline = Deadline::never())
    {
        granted.reset();
        m_scope.launch(acquiring(deadline));
    }
    void acquireFor(std::chrono::milliseconds wait) { acquire(Deadline::after(m_loop, wait)); }
    void tryOnce() { acquire(Deadline::at(m_loop.now())); }
    void giveBack(std::chrono::milliseconds patience = 2s)
    {
        released.reset();
        m_scope.launch(releasing(patience));
    }
    void askWhether()
    {
        mine.reset();
        m_scope.launch(asking());
    }
    void heed() { m_scope.launch(heeding()); }
    // Lets go of what this object waits for, not of the lock.
    void cancelWaits() { m_scope.cancelAll(); }

    [[nodiscard]] bool holds() const { return granted && *granted; }
    [[nodiscard]] bool gaveBack() const { return released && *released; }
    [[nodiscard]] QByteArray id() const { return (*granted)->id; }
    // -1: no error.
    [[nodiscard]] int acquireCode() const { return *granted ? -1 : code(granted->error().code); }
    [[nodiscard]] int releaseCode() const { return *released ? -1 : code(released->error().code); }

    std::unique_ptr<recipes::Lock> lock;
    std::optional<Result<recipes::Grant>> granted;
    std::optional<Result<bool>> released;
    std::optional<Result<bool>> mine;
    std::optional<recipes::Loss> loss;

private:
    Task<void> acquiring(Deadline deadline)
    {
        auto result = co_await lock->acquire(deadline);
        granted.emplace(std::move(result));
    }
    Task<void> releasing(std::chrono::milliseconds patience)
    {
        const auto deadline = Deadline::after(m_loop, patience);
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

// What is guarded: how many are inside, and a number that only one at a time may change.
struct Guarded {
    int inside = 0;
    int most = 0;
    int number = 0;
    int failed = 0;
};

inline Task<void> addUnderLock(recipes::Lock *lock, Loop *loop, int rounds, Guarded *guarded)
{
    const auto never = Deadline::never();
    for (int i = 0; i < rounds; ++i) {
        const auto grant = co_await lock->acquire(never);
        if (!grant) {
            ++guarded->failed;
            co_return;
        }
        guarded->most = std::max(guarded->most, ++guarded->inside);
        const int seen = guarded->number;
        auto pause = sleepFor(*loop, 1ms);
        co_await pause;
        guarded->number = seen + 1;
        --guarded->inside;
        const auto released = co_await lock->release(never);
        if (!released)
            ++guarded->failed;
    }
}

class RedisRecipeFixture : public QObject {
protected:
    QtLoop m_loop;
    std::unique_ptr<sandbox::Server> m_server;
    std::unique_ptr<redis::Connection> m_admin;
    std::vector<std::unique_ptr<redis::Connection>> m_connections;
    std::vector<std::unique_ptr<CountingRedis>> m_processes;
    std::vector<std::unique_ptr<RedisContender>> m_contenders;
    QByteArray m_recipe;
    QByteArray m_key = "orders";

    redis::Value ask(redis::Command command)
    {
        return valueOf(m_admin->command(std::move(command), Deadline::after(m_loop, 10s)));
    }
    bool exists(const QByteArray &key) { return ask({"EXISTS", key}).integer == 1; }
    // Keys and values one after the other, as the server tells them; a hash's in the order of its fields.
    QByteArrayList list(redis::Command command)
    {
        QByteArrayList texts;
        for (const auto &item : ask(std::move(command)).items)
            texts << item.text;
        return texts;
    }
    QByteArrayList keys()
    {
        auto all = list({"KEYS", "*"});
        std::sort(all.begin(), all.end());
        return all;
    }
    qint64 listeners(const QByteArray &channel) { return ask({"PUBSUB", "NUMSUB", channel}).items.back().integer; }

    // A process of its own.
    CountingRedis &process()
    {
        m_connections.push_back(redis::openConnection(m_loop, optionsFor(m_server->address())));
        if (!becomes(*m_connections.back(), redis::ConnectionState::Connected))
            qFatal("the server does not answer");
        m_processes.push_back(std::make_unique<CountingRedis>(*m_connections.back()));
        return *m_processes.back();
    }
    RedisContender &add(CountingRedis &redis, const recipes::AcquireOptions &options = {})
    {
        auto made = recipes::makeLock(m_recipe, redis, RedisKey(m_key), options, Random(1000 + m_contenders.size()));
        if (!made)
            qFatal("%s", qPrintable(made.error().message));
        return add(std::move(*made));
    }
    RedisContender &add(std::unique_ptr<recipes::Lock> lock)
    {
        m_contenders.push_back(std::make_unique<RedisContender>(m_loop, std::move(lock)));
        return *m_contenders.back();
    }
    static recipes::AcquireOptions withTtl(std::chrono::milliseconds ttl)
    {
        recipes::AcquireOptions options;
        options.ttl = ttl;
        return options;
    }
    // One and the same key, as many contenders, spread over two processes.
    bool countTogether(int contenders, int rounds, const recipes::AcquireOptions &options, int mostInside = 1)
    {
        auto &first = process();
        auto &second = process();
        Guarded guarded;
        Scope scope(m_loop);
        for (int i = 0; i < contenders; ++i)
            scope.launch(addUnderLock(add(i % 2 == 0 ? first : second, options).lock.get(), &m_loop, rounds, &guarded));
        const bool ended = eventually([&] { return scope.isIdle(); });
        const bool isExact = mostInside > 1 || guarded.number == contenders * rounds;
        if (!ended || guarded.failed > 0 || guarded.most > mostInside || !isExact)
            qWarning("ended %d, failed %d, most inside %d, number %d", ended, guarded.failed, guarded.most, guarded.number);
        return ended && guarded.failed == 0 && guarded.most <= mostInside && isExact;
    }

    // What went wrong; empty if it answers. Without a server to start there is no m_server afterwards.
    QString startServer()
    {
        auto made = sandbox::makeRedis();
        if (!made)
            return made.error().message;
        m_server = std::move(*made);
        const auto started = m_server->start(20s);
        if (!started)
            return started.error().message;
        m_admin = redis::openConnection(m_loop, optionsFor(m_server->address()));
        return becomes(*m_admin, redis::ConnectionState::Connected) ? QString() : QStringLiteral("no connection");
    }
    void forgetContenders()
    {
        m_contenders.clear();
        m_processes.clear();
        m_connections.clear();
        ask({"FLUSHALL"});
    }
};

} // namespace lockscope::testing
