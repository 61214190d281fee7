// SPDX-License-Identifier: Apache-2.0
// The way from libzookeeper's threads into the loop: callbacks copy what they were given and post it.
//
// The C library calls from threads of its own until zookeeper_close() has returned, which is long after
// the session object is gone. So callbacks know only this mailbox, which outlives them and which the
// session closes when it dies: from then on nothing is posted, and what was posted finds nobody.
#pragma once

#include "core/async/loop.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

typedef struct _zhandle zhandle_t;

namespace lockscope::zk {

class Client;

class Mailbox : public std::enable_shared_from_this<Mailbox> {
public:
    Mailbox(Loop &loop, Client &client) : m_loop(&loop), m_client(&client) {}

    // Any thread. `news` runs in the loop if the session still lives then.
    void post(std::function<void(Client &)> news)
    {
        const std::lock_guard lock(m_mutex);
        if (!m_loop)
            return;
        m_loop->post([self = shared_from_this(), call = std::move(news)] {
            if (self->m_client)
                call(*self->m_client);
        });
    }

    // Any thread. False if the session is gone already: then the caller has to close the handle.
    [[nodiscard]] bool putHandle(zhandle_t *handle)
    {
        const std::lock_guard lock(m_mutex);
        if (!m_loop)
            return false;
        m_handle = handle;
        return true;
    }
    [[nodiscard]] zhandle_t *handle()
    {
        const std::lock_guard lock(m_mutex);
        return m_handle;
    }

    // Loop thread, at the end of the session. Returns the handle that is to be closed, if there is one.
    [[nodiscard]] zhandle_t *close()
    {
        const std::lock_guard lock(m_mutex);
        m_loop = nullptr;
        m_client = nullptr;
        return std::exchange(m_handle, nullptr);
    }

    // Any thread. Calls that the library has not answered yet.
    void callSent() { ++m_callsOut; }
    void callAnswered() { --m_callsOut; }
    [[nodiscard]] bool hasCallsOut() const { return m_callsOut > 0; }

private:
    std::mutex m_mutex;
    std::atomic<int> m_callsOut = 0;
    Loop *m_loop;     // null once closed
    Client *m_client; // touched by the loop's thread only
    zhandle_t *m_handle = nullptr;
};

} // namespace lockscope::zk
