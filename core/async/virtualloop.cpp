// SPDX-License-Identifier: Apache-2.0
#include "core/async/virtualloop.h"

namespace lockscope {

void VirtualLoop::postThrough(LocalPtr<ExecutorHook> hook, Call &&call)
{
    m_queue.push(std::move(call), std::move(hook));
}

std::chrono::system_clock::time_point VirtualLoop::wallNow() const
{
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(m_now.time_since_epoch()));
}

void VirtualLoop::runReady()
{
    while (m_queue.runFirst()) {
    }
}

void VirtualLoop::advance(Duration span)
{
    const auto until = m_now + span;
    do
        runReady();
    while (m_timers.runDue(until, &m_now));
    m_now = until;
}

void VirtualLoop::runUntilIdle()
{
    do
        runReady();
    while (m_timers.runDue(Instant::max(), &m_now));
}

} // namespace lockscope
