// SPDX-License-Identifier: Apache-2.0
// The background thread of the library: one event loop for all clients of a process, with a QCoreApplication where
// the process has none. The first connect() starts it. It is never ended, as Qt cannot be ended and begun again: it
// idles while there is no client.
#pragma once

#include "core/async/scope.h"

namespace lockscope::client {

// Any thread, unless noted.
class IoThread {
public:
    // The only one of this process, which is started if it does not run. Not on itself.
    [[nodiscard]] static IoThread &shared();
    // Whether this is its thread.
    [[nodiscard]] static bool isCurrent();

    void post(Call call) { m_loop->post(std::move(call)); }
    [[nodiscard]] Loop &loop() { return *m_loop; }
    // Loop thread.
    void launch(Task<void> task) { m_scope->launch(std::move(task)); }
    // Loop thread. Keeps the function, and all it owns, while it answers true, at most that long.
    void linger(std::function<bool()> isBusy, std::chrono::milliseconds atMost);

private:
    IoThread();
    [[nodiscard]] Task<void> waitWhile(std::function<bool()> isBusy, Deadline deadline);
    void run(const std::function<void()> &started);

    Loop *m_loop = nullptr; // lives on the thread
    Scope *m_scope = nullptr;
};

} // namespace lockscope::client
