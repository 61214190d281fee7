// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/keepalive.h"

#include "core/async/completion.h"

#include <algorithm>

namespace lockscope::recipes {

KeepAlive::KeepAlive(Loop &loop, std::chrono::milliseconds ttl, Instant asked, Prolong prolong,
                     std::function<void(Loss)> onEnd)
    : m_loop(&loop), m_prolong(std::move(prolong)), m_onEnd(std::move(onEnd)), m_keeping(loop)
{
    restart(ttl, asked);
}

void KeepAlive::restart(std::chrono::milliseconds ttl, Instant asked)
{
    m_keeping.cancelAll();
    m_ttl = ttl;
    m_validUntil = validUntil(asked, ttl);
    m_next = m_prolong ? asked + ttl / 3 : m_validUntil;
    m_keeping.launch(keep());
}

Instant KeepAlive::validUntil(Instant asked, std::chrono::milliseconds ttl)
{
    return asked + ttl - ttl / 100 - 2ms;
}

Task<void> KeepAlive::keep()
{
    for (;;) {
        const auto until = std::min(m_next, m_validUntil);
        co_await sleepUntil(*m_loop, until);
        if (m_loop->now() < until)
            continue; // a clock whose rate changed: woken early
        if (m_loop->now() >= m_validUntil) {
            end(Loss::LeaseOver);
            co_return;
        }
        const auto sent = m_loop->now();
        const auto prolonged = co_await m_prolong(m_ttl, Deadline::at(m_validUntil));
        if (!prolonged) {
            m_next = m_loop->now() + std::max<Duration>(m_ttl / 20, 1ms); // trouble: there is time to try again
        } else if (*prolonged) {
            m_validUntil = validUntil(sent, m_ttl);
            m_next = sent + m_ttl / 3;
        } else {
            end(Loss::TakenAway);
            co_return;
        }
    }
}

void KeepAlive::end(Loss loss)
{
    m_isEnded = true;
    m_onEnd(loss);
}

} // namespace lockscope::recipes
