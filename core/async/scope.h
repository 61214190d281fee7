// SPDX-License-Identifier: Apache-2.0
// Scope: owns the coroutines it launched and destroys (cancels) what still runs when it dies.
//
// A member of whatever object the coroutines work for. Loop thread only. Never destroy a Scope from
// inside one of its own coroutines: a frame must not be destroyed on its own stack.
#pragma once

#include <version>

#include "core/async/loop.h"
#include "core/async/task.h"

#include <QtGlobal>

#include <map>

namespace lockscope {

class Scope {
public:
    explicit Scope(Loop &loop) : m_state(std::make_shared<State>(State{&loop, 0, {}})) {}
    ~Scope() { cancelAll(); }
    Q_DISABLE_COPY(Scope)

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

// SoleTask: owns one coroutine at a time, for whoever never has two. A Scope that takes no more than a pointer: of
// 100,000 contenders each has two of them.
//
// Destroying it, or launching the next, cancels what still runs. Loop thread only. As with a Scope: never from inside
// the coroutine, a frame must not be destroyed on its own stack. What is done stays until then, an empty frame.
class SoleTask {
public:
    SoleTask() = default;
    ~SoleTask() { cancel(); }
    Q_DISABLE_COPY(SoleTask)

    // Starts the task at once; it runs here until its first wait.
    void launch(Task<void> task)
    {
        cancel();
        m_task.emplace(std::move(task));
        m_task->start();
    }
    void cancel()
    {
        // Moved out first: a destructor in the cancelled frame may launch or cancel again.
        const auto ended = std::exchange(m_task, std::nullopt);
    }

private:
    std::optional<Task<void>> m_task;
};

// Sessions that were destroyed say farewell in the background. At its end a program waits for that, so that what they
// hold is free; each port that has such sessions says here how.

using WaitForClosing = void (*)(std::chrono::milliseconds atMost);

// Sessions are waited for first: what they go through carries their farewells.
enum class ClosePhase { Sessions, Ways };

// Any thread; the same one any number of times.
void addClosing(WaitForClosing wait, ClosePhase what = ClosePhase::Sessions);
// On a thread that is not the loop's: until all have closed, each port's at most that long.
void waitForClosing(std::chrono::milliseconds atMost);

} // namespace lockscope
