// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/duetimes.h"

namespace lockscope::sim {

void DueTimes::Waiter::stopWaiting()
{
    if (!m_after)
        return;
    m_before->m_after = m_after;
    m_after->m_before = m_before;
    m_before = m_after = nullptr;
}

void DueTimes::put(Waiter &waiter, Instant due)
{
    waiter.stopWaiting();
    auto *before = m_ends.m_before;
    while (before != &m_ends && before->m_due > due)
        before = before->m_before;
    waiter.m_due = due;
    waiter.m_before = before;
    waiter.m_after = std::exchange(before->m_after, &waiter);
    waiter.m_after->m_before = &waiter;
    if (due >= m_next)
        return;
    m_next = due;
    m_timer = m_world.callAt(due, [this] { look(); });
}

// Who had what it waited for is not in the list any more, so that this may be before the earliest.
void DueTimes::look()
{
    m_next = Instant::max();
    while (m_ends.m_after != &m_ends && m_ends.m_after->m_due <= m_world.now()) {
        auto *const first = m_ends.m_after;
        first->stopWaiting();
        first->isDue();
    }
    if (m_ends.m_after == &m_ends || m_ends.m_after->m_due >= m_next)
        return;
    m_next = m_ends.m_after->m_due;
    m_timer = m_world.callAt(m_next, [this] { look(); });
}

} // namespace lockscope::sim
