// SPDX-License-Identifier: Apache-2.0
// A contender for a lock on a real ZooKeeper: its own session behind ports that count and fail.
#pragma once

#include "core/async/scope.h"
#include "core/recipes/make.h"
#include "tests/live/zookeeperfixture.h"
#include "tests/support/countingsession.h"
#include "tests/support/faultysession.h"

namespace lockscope::test {

// A session with its ports; several contenders may share one.
struct Client {
    Client(Loop &loop, const HostPort &server, std::chrono::milliseconds timeout = std::chrono::seconds(10))
    {
        zk::SessionOptions options;
        options.hosts = {server};
        options.timeout = timeout;
        real = zk::openSession(loop, options);
        faulty = std::make_unique<testing::FaultySession>(*real);
        counting = std::make_unique<testing::CountingSession>(*faulty);
    }

    std::unique_ptr<zk::Session> real;
    std::unique_ptr<testing::FaultySession> faulty;
    std::unique_ptr<testing::CountingSession> counting;
};

class Contender {
public:
    Contender(Client &client, const QByteArray &recipe, const ZPath &path, quint64 seed,
              const recipes::AcquireOptions &options = {})
        : m_loop(client.real->loop()), m_scope(m_loop)
    {
        auto made = recipes::makeLock(recipe, *client.counting, path, options, Random(seed));
        if (!made)
            qFatal("%s", qPrintable(made.error().message));
        lock = std::move(*made);
    }

    Contender(Loop &loop, std::unique_ptr<recipes::Lock> made) : lock(std::move(made)), m_loop(loop), m_scope(loop) {}

    void acquire(Deadline deadline = Deadline::never())
    {
        granted.reset();
        m_scope.launch(acquiring(deadline));
    }
    void release()
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
    // Lets go of what this object waits for, not of the lock.
    void cancelWaits() { m_scope.cancelAll(); }

    [[nodiscard]] bool holds() const { return granted && *granted; }
    [[nodiscard]] QString error() const
    {
        return granted && !*granted ? granted->error().message : QStringLiteral("no error");
    }

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
    Task<void> releasing()
    {
        const auto deadline = Deadline::after(m_loop, std::chrono::seconds(5));
        auto result = co_await lock->release(deadline);
        released.emplace(std::move(result));
    }
    Task<void> asking()
    {
        const auto deadline = Deadline::after(m_loop, std::chrono::seconds(5));
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

} // namespace lockscope::test
