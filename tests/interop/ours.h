// SPDX-License-Identifier: Apache-2.0
// One contender of ours beside other people's.
#pragma once

#include "core/async/scope.h"
#include "core/recipes/lock.h"
#include "core/zookeeper/session.h"

namespace lockscope::interop {

using namespace std::chrono_literals;

// A lock, and what came of what was asked of it.
class Ours {
public:
    Ours(std::unique_ptr<zk::Session> session, std::unique_ptr<recipes::Lock> lock, Loop &loop)
        : m_loop(loop), m_session(std::move(session)), m_lock(std::move(lock)), m_scope(loop)
    {
    }

    void acquire() { m_scope.launch(acquiring()); }
    void release() { m_scope.launch(releasing()); }
    void ask() { m_scope.launch(asking()); }
    recipes::Lock *lock() { return m_lock.get(); }

    [[nodiscard]] bool holds() const { return granted && *granted && !released; }
    [[nodiscard]] QByteArray id() const { return (*granted)->id; }

    std::optional<Result<recipes::Grant>> granted;
    std::optional<Result<void>> released;
    std::optional<Result<bool>> mine;

private:
    Task<void> acquiring()
    {
        const auto never = Deadline::never();
        auto result = co_await m_lock->acquire(never);
        granted.emplace(std::move(result));
    }
    Task<void> releasing()
    {
        const auto soon = Deadline::after(m_loop, 10s);
        auto result = co_await m_lock->release(soon);
        released.emplace(std::move(result));
    }
    Task<void> asking()
    {
        const auto soon = Deadline::after(m_loop, 10s);
        auto result = co_await m_lock->isStillMine(soon);
        mine.emplace(std::move(result));
    }

    Loop &m_loop;
    std::unique_ptr<zk::Session> m_session; // none for Redis
    std::unique_ptr<recipes::Lock> m_lock;
    Scope m_scope; // last: its coroutines use the lock
};

} // namespace lockscope::interop
