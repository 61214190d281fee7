// SPDX-License-Identifier: Apache-2.0
// The background thread of the library: one event loop for all clients of a process, with a QCoreApplication where
// the process has none. It runs while an owner of it lives.
#pragma once

#include "core/async/scope.h"

#include <thread>

namespace lockscope::client {

// Any thread, unless noted.
class IoThread {
public:
    // The one of this process, which is started if it does not run.
    [[nodiscard]] static std::shared_ptr<IoThread> shared();
    IoThread();
    // Waits for what lingers, and for sessions that close.
    ~IoThread();
    IoThread(const IoThread &) = delete;
    IoThread &operator=(const IoThread &) = delete;

    void post(Call call) { m_loop->post(std::move(call)); }
    [[nodiscard]] bool isCurrent() const { return std::this_thread::get_id() == m_id; }
    [[nodiscard]] Loop &loop() { return *m_loop; }
    // Loop thread. What still runs when the thread ends is cancelled.
    void launch(Task<void> task) { m_scope->launch(std::move(task)); }
    // Loop thread. Keeps the function, and all it owns, while it answers true, at most that long.
    void linger(std::function<bool()> isBusy, std::chrono::milliseconds atMost);

private:
    [[nodiscard]] Task<void> waitWhile(std::function<bool()> isBusy, Deadline deadline);
    void run(const std::function<void()> &started);

    Loop *m_loop = nullptr; // lives on the thread
    Scope *m_scope = nullptr;
    std::thread::id m_id;
    int m_lingering = 0;                      // loop thread
    bool m_isEnding = false;                  // loop thread
    std::function<void()> m_quit;             // loop thread
    std::chrono::milliseconds m_closeTime{0}; // loop thread, until it has ended
    std::thread m_thread;
};

} // namespace lockscope::client
