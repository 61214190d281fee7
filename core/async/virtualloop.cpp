// SPDX-License-Identifier: Apache-2.0
#include "core/async/virtualloop.h"

namespace lockscope {

std::chrono::system_clock::time_point VirtualLoop::wallNow() const
{
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(m_now.time_since_epoch()));
}

Timer VirtualLoop::callAt(Instant when, Call call)
{
    return m_timers.add(when, std::move(call));
}

void VirtualLoop::runReady()
{
    while (!m_queue.isEmpty()) {
        auto next = m_queue.take();
        if (next.hook)
            next.hook->pass(std::move(next.call));
        else
            next.call();
    }
}

void VirtualLoop::advance(Duration span)
{
    const auto until = m_now + span;
    for (;;) {
        runReady();
        Instant when;
        const auto due = m_timers.takeDue(until, &when);
        if (!due)
            break;
        m_now = std::max(m_now, when);
        due();
    }
    m_now = until;
}

void VirtualLoop::runUntilIdle()
{
    for (;;) {
        runReady();
        Instant when;
        const auto due = m_timers.takeDue(Instant::max(), &when);
        if (!due)
            break;
        m_now = std::max(m_now, when);
        due();
    }
}

} // namespace lockscope
