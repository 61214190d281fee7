// SPDX-License-Identifier: Apache-2.0
// SoleTask: owns one coroutine at a time, for whoever never has two. A Scope that takes no more than a pointer: of
// 100,000 contenders each has two of them.
//
// Destroying it, or launching the next, cancels what still runs. Loop thread only. As with a Scope: never from inside
// the coroutine, a frame must not be destroyed on its own stack. What is done stays until then, an empty frame.
#pragma once

#include <version>

#include "core/async/task.h"

#include <optional>

namespace lockscope {

class SoleTask {
public:
    SoleTask() = default;
    ~SoleTask() { cancel(); }
    SoleTask(const SoleTask &) = delete;
    SoleTask &operator=(const SoleTask &) = delete;

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

} // namespace lockscope
