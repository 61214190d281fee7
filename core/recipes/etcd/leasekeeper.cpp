// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/etcd/leasekeeper.h"

#include "core/async/sleep.h"

#include <algorithm>

namespace lockscope::recipes {

using namespace std::chrono_literals;

LeaseKeeper::LeaseKeeper(etcd::Client &client, etcd::LeaseId id, std::chrono::seconds ttl, Instant asked,
                         std::function<void()> onEnd)
    : m_client(client), m_id(id), m_onEnd(std::move(onEnd)), m_keeping(client.loop())
{
    granted(ttl, asked);
    m_keeping.launch(keep());
}

// For 1 % less than its time, as clocks differ.
void LeaseKeeper::granted(std::chrono::seconds ttl, Instant asked)
{
    m_ttl = ttl;
    m_next = asked + m_ttl / 3;
    m_validUntil = asked + m_ttl - m_ttl / 100;
}

Task<void> LeaseKeeper::keep()
{
    auto &loop = m_client.loop();
    for (;;) {
        const auto until = std::min(m_next, m_validUntil);
        auto pause = sleepUntil(loop, until);
        co_await pause;
        if (loop.now() < until)
            continue;
        if (loop.now() >= m_validUntil)
            break;
        const auto asked = loop.now();
        auto asking = m_client.keepAlive(m_id, Deadline::at(std::min(m_validUntil, asked + m_ttl / 3)));
        const auto kept = co_await asking;
        const bool isGone = kept ? kept->ttl <= 0s : kept.error().code == ErrorCode::NoNode;
        if (isGone) {
            m_wasRevoked = loop.now() < m_validUntil;
            break;
        }
        if (kept)
            granted(kept->ttl, asked);
        else
            m_next = loop.now() + std::max<Duration>(m_ttl / 20, 50ms); // trouble: there is time to try again
    }
    end();
}

void LeaseKeeper::end()
{
    m_isEnded = true;
    m_onEnd();
}

} // namespace lockscope::recipes
