// SPDX-License-Identifier: Apache-2.0
// The thread of all passages. One of its own: at the end of a program the I/O thread is gone while sessions still say
// farewell through what is here.
#pragma once

#include <chrono>
#include <functional>

namespace lockscope::passage {

// Any thread. Runs there, in this order.
void onPassageThread(std::function<void()> work);

// Whoever may still open what is carried, and what is carried. Any thread.
class InUse {
public:
    enum class By { Owner, Carried };
    explicit InUse(By by);
    ~InUse();
    InUse(const InUse &) = delete;
    InUse &operator=(const InUse &) = delete;

private:
    const By m_by;
};

// Waits, at most that long, until nothing is carried any more; then the thread ends. While somebody still goes
// through a passage it goes on, and nobody waits; at the latest it ends with the application object.
void waitForPassages(std::chrono::milliseconds atMost);

} // namespace lockscope::passage
