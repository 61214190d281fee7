// SPDX-License-Identifier: Apache-2.0
// Threads for work that blocks or computes for long.
#pragma once

#include <QThreadPool>

#include <deque>
#include <functional>
#include <mutex>

namespace lockscope {

// Work waits in a queue behind a mutex of the standard library; the pool's own lock is Qt's, which a thread sanitizer
// does not see, so that whatever a piece of work holds would look shared without a lock.
// Any thread may call; the work runs on one of `atMost` threads, in the order it was started. Ends when all is done.
class Workers {
public:
    explicit Workers(int atMost) { m_threads.setMaxThreadCount(atMost); }
    ~Workers() { waitForDone(); }
    Q_DISABLE_COPY(Workers)

    void start(std::function<void()> work);
    // What has not begun is dropped; what is under way goes on.
    void clear();
    void waitForDone() { m_threads.waitForDone(); }

private:
    void runNext();

    std::mutex m_mutex;
    std::deque<std::function<void()>> m_waiting;
    QThreadPool m_threads; // last: ends while the queue is there
};

} // namespace lockscope
