// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/sweeprest.h"

#include "core/async/sleep.h"

#include <algorithm>

namespace lockscope::inspect {

// Sweeps that only make sure: what many inspectors, each looking for ever, may cost a server that is at rest.
constexpr qint64 commandsPerSecond = 100;
constexpr Duration longestRestOfPage = 100s;
constexpr Duration longestRestOfSweep = 15min;
constexpr Duration restStep = 1s;

Task<void> SweepRest::afterPage(Span span, Duration least)
{
    const auto earned = m_pages.restAfter(m_reader.loop().now() - span.begun);
    auto resting = rest(span, std::max(least, earned), longestRestOfPage);
    co_await resting;
}

Task<void> SweepRest::afterSweep(Span span, Duration least)
{
    auto resting = rest(span, least, longestRestOfSweep);
    co_await resting;
}

// At least `least`; and, while sweeps only make sure, as long as what was sent since then is worth.
Task<void> SweepRest::rest(Span span, Duration least, Duration longest)
{
    auto &loop = m_reader.loop();
    const auto sent = m_reader.requests() - span.requests;
    const Duration worth = Duration(std::chrono::seconds(sent)) / commandsPerSecond;
    const auto atLeast = loop.now() + least;
    const auto until = std::max(atLeast, span.begun + std::min(worth, longest));
    while (loop.now() < atLeast && !m_isCutShort) {
        auto resting = sleepUntil(loop, std::min(atLeast, loop.now() + restStep));
        co_await resting;
    }
    while (loop.now() < until && m_isOnlyMakingSure()) {
        auto more = sleepUntil(loop, std::min(until, loop.now() + restStep));
        co_await more;
    }
}

} // namespace lockscope::inspect
