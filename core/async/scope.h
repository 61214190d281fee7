// SPDX-License-Identifier: Apache-2.0
// Scope: owns the coroutines it launched and destroys (cancels) what still runs when it dies.
//
// A member of whatever object the coroutines work for. Loop thread only. Never destroy a Scope from
// inside one of its own coroutines: a frame must not be destroyed on its own stack.
#pragma once

#include "core/async/loop.h"
#include "core/async/task.h"

#include <map>
#include <memory>

namespace lockscope {

class Scope {
public:
    explicit Scope(Loop &loop) : m_state(std::make_shared<State>(State{&loop, 0, {}})) {}
    ~Scope() { cancelAll(); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

    // Starts the task at once; it runs here until its first wait.
    void launch(Task<void> task);
    void cancelAll();
    [[nodiscard]] bool isIdle() const { return m_state->running.empty(); }

private:
    using Id = unsigned long long;
    struct State {
        Loop *loop;
        Id nextId;
        std::map<Id, Task<void>> running;
    };

    static Task<void> drive(Task<void> task, std::weak_ptr<State> scope, Id id);

    std::shared_ptr<State> m_state;
};

// A scope that is made when the first task needs one; until then, a pointer.
class LazyScope {
public:
    [[nodiscard]] Scope &in(Loop &loop)
    {
        if (!m_scope)
            m_scope = std::make_unique<Scope>(loop);
        return *m_scope;
    }

private:
    std::unique_ptr<Scope> m_scope;
};

} // namespace lockscope
