// SPDX-License-Identifier: Apache-2.0
#include "core/async/workers.h"

#include <utility>

namespace lockscope {

void Workers::start(std::function<void()> work)
{
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.push_back(std::move(work));
    }
    m_threads.start([this] { runNext(); });
}

void Workers::runNext()
{
    std::function<void()> work;
    {
        const std::lock_guard lock(m_mutex);
        if (m_waiting.empty())
            return; // cleared meanwhile
        work = std::move(m_waiting.front());
        m_waiting.pop_front();
    }
    work();
}

void Workers::clear()
{
    std::deque<std::function<void()>> dropped; // ended without the lock: it may hold anything
    const std::lock_guard lock(m_mutex);
    m_threads.clear();
    dropped.swap(m_waiting);
}

} // namespace lockscope
