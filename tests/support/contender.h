// SPDX-License-Identifier: Apache-2.0
// One contender for a lock of any recipe, and what came of what was asked of it.
#pragma once

#include "core/async/scope.h"
#include "core/recipes/lock.h"

#include <QTest>

#include <optional>

namespace lockscope::testing {

class Contender {
public:
    Contender(Loop &loop, std::unique_ptr<recipes::Lock> made) : lock(std::move(made)), m_loop(loop), m_scope(loop) {}

    void acquire(Deadline deadline = Deadline::never())
    {
        granted.reset();
        m_scope.launch(acquiring(deadline));
    }
    void acquireFor(std::chrono::milliseconds wait) { acquire(Deadline::after(m_loop, wait)); }
    void tryOnce() { acquire(Deadline::at(m_loop.now())); }
    void release(std::chrono::milliseconds atMost = std::chrono::seconds(5))
    {
        released.reset();
        m_scope.launch(releasing(atMost));
    }
    void askWhether()
    {
        mine.reset();
        m_scope.launch(asking());
    }
    // Listens for the loss.
    void heed()
    {
        loss.reset();
        m_scope.launch(heeding());
    }
    // Lets go of what this object waits for, not of the lock.
    void cancelWaits() { m_scope.cancelAll(); }

    // The same, until it has come to its end. false: it did not go well, or never ended.
    bool takes(Deadline deadline = Deadline::never())
    {
        acquire(deadline);
        return comes(granted) && *granted;
    }
    bool givesBack()
    {
        release();
        return comes(released) && *released;
    }
    bool saysItIsMine()
    {
        askWhether();
        return comes(mine) && *mine && **mine;
    }
    bool saysItIsNotMine()
    {
        askWhether();
        return comes(mine) && *mine && !**mine;
    }
    // -1: no error, or no end.
    int codeOfAcquire(Deadline deadline = Deadline::never())
    {
        acquire(deadline);
        return comes(granted) ? acquireCode() : -1;
    }
    int codeOfRelease()
    {
        release();
        return comes(released) ? releaseCode() : -1;
    }

    [[nodiscard]] bool holds() const { return granted && *granted; }
    [[nodiscard]] bool gaveBack() const { return released && *released; }
    [[nodiscard]] const recipes::Grant &grant() const { return **granted; }
    [[nodiscard]] QByteArray id() const { return grant().id; }
    // -1: no error.
    [[nodiscard]] int acquireCode() const { return *granted ? -1 : static_cast<int>(granted->error().code); }
    [[nodiscard]] int releaseCode() const { return *released ? -1 : static_cast<int>(released->error().code); }
    [[nodiscard]] QString error() const
    {
        return granted && !*granted ? granted->error().message : QStringLiteral("no error");
    }

    std::unique_ptr<recipes::Lock> lock;
    std::optional<Result<recipes::Grant>> granted;
    std::optional<Result<void>> released;
    std::optional<Result<bool>> mine;
    std::optional<recipes::Loss> loss;

protected:
    Loop &m_loop;

private:
    template <class T>
    static bool comes(const std::optional<T> &result)
    {
        return QTest::qWaitFor([&] { return result.has_value(); }, 30'000);
    }
    Task<void> acquiring(Deadline deadline)
    {
        auto result = co_await lock->acquire(deadline);
        granted.emplace(std::move(result));
    }
    Task<void> releasing(std::chrono::milliseconds atMost)
    {
        const auto deadline = Deadline::after(m_loop, atMost);
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

    Scope m_scope; // last: its coroutines use the lock
};

} // namespace lockscope::testing
