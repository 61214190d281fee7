// SPDX-License-Identifier: Apache-2.0
// The thread of all transports. One of its own: at the end of a program the I/O thread is gone while sessions still
// say farewell through what is here.
#pragma once

#include <QString>

#include <chrono>
#include <functional>
#include <mutex>

namespace lockscope::transport {

// Any thread. Runs there, in this order.
void onTransportThread(std::function<void()> work);

// Whoever may still open what is carried, and what is carried. Any thread.
class InUse {
public:
    enum class By { Owner, ForwardedConnection };
    explicit InUse(By by);
    ~InUse();
    Q_DISABLE_COPY(InUse)

private:
    const By m_by;
};

// Waits, at most that long, until nothing is carried any more; then the thread ends. While somebody still goes
// through a passage it goes on, and nobody waits; at the latest it ends with the application object.
void waitForTransports(std::chrono::milliseconds atMost);

// What last went wrong behind a door: written by the transports' thread, read by any.
class Problem {
public:
    // Empty: it goes well. Of TLS: somebody is there.
    void set(const QString &text, bool isOfTls = false)
    {
        const std::lock_guard lock(m_mutex);
        m_text = text;
        m_isOfTls = isOfTls;
    }
    [[nodiscard]] QString text() const
    {
        const std::lock_guard lock(m_mutex);
        return m_text;
    }

    [[nodiscard]] bool isOfTls() const
    {
        const std::lock_guard lock(m_mutex);
        return m_isOfTls;
    }

private:
    mutable std::mutex m_mutex;
    QString m_text;
    bool m_isOfTls = false;
};

} // namespace lockscope::transport
