// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/observerqueue.h"

#include "core/async/sleep.h"

#include <algorithm>
#include <utility>

namespace lockscope::inspect {

void ReadQueue::add(const std::vector<RedisKey> &keys)
{
    putBack(keys);
    m_filled.complete(true);
}

void ReadQueue::addPage(std::vector<RedisKey> keys)
{
    m_page = std::move(keys);
    m_filled.complete(true);
}

Task<void> ReadQueue::untilPageRead()
{
    while (!m_page.empty() || m_isBatchOut)
        co_await nextBatchDone();
}

Task<void> ReadQueue::untilAllRead()
{
    while (!m_changed.empty() || !m_page.empty() || m_isBatchOut)
        co_await nextBatchDone();
}

Task<void> ReadQueue::untilFilled()
{
    while (m_changed.empty() && m_page.empty()) {
        m_filled = Completion<bool>(m_loop);
        co_await m_filled;
    }
}

std::vector<RedisKey> ReadQueue::takeBatch()
{
    std::vector<RedisKey> keys;
    while (!m_changed.empty() && keys.size() < changedInBatch)
        keys.push_back(m_changed.extract(m_changed.begin()).value());
    while (!m_page.empty() && keys.size() < batchAtMost) {
        keys.push_back(std::move(m_page.back()));
        m_page.pop_back();
    }
    m_isBatchOut = !keys.empty();
    return keys;
}

void ReadQueue::batchDone()
{
    m_isBatchOut = false;
    for (const auto &waiter : std::exchange(m_batchWaiters, {}))
        waiter.complete(true);
}

void ReadQueue::reset()
{
    m_page.clear();
    m_isBatchOut = false;
    m_batchWaiters.clear();
}

// Sweeps that only make sure: what many inspectors, each looking for ever, may cost a server that is at rest.
constexpr qint64 commandsPerSecond = 100;
constexpr Duration longestRestOfPage = 100s;
constexpr Duration longestRestOfSweep = 15min;
constexpr Duration restStep = 1s;

Task<void> SweepRest::afterPage(Span span, Duration least)
{
    const auto earned = m_pages.restAfter(m_reader.loop().now() - span.begun);
    co_await rest(span, std::max(least, earned), longestRestOfPage);
}

Task<void> SweepRest::afterSweep(Span span, Duration least)
{
    co_await rest(span, least, longestRestOfSweep);
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
        co_await sleepUntil(loop, std::min(atLeast, loop.now() + restStep));
    }
    while (loop.now() < until && m_isOnlyMakingSure()) {
        co_await sleepUntil(loop, std::min(until, loop.now() + restStep));
    }
}

} // namespace lockscope::inspect
