// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/observerqueue.h"

#include <utility>

namespace lockscope::inspect {

// Keys read in one go: a page of a sweep, which is few enough that a changed lock does not wait long.
constexpr std::size_t batchAtMost = 1200;
// The rest of a batch is the sweep's, so that a busy server does not stop it.
constexpr std::size_t changedInBatch = 200;
constexpr std::size_t changedAtMost = 20'000;

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

bool ReadQueue::isOverfull() const
{
    return m_changed.size() >= changedAtMost;
}

Task<void> ReadQueue::untilPageRead()
{
    while (!m_page.empty() || m_isBatchOut) {
        auto done = nextBatchDone();
        co_await done;
    }
}

Task<void> ReadQueue::untilAllRead()
{
    while (!m_changed.empty() || !m_page.empty() || m_isBatchOut) {
        auto done = nextBatchDone();
        co_await done;
    }
}

Task<void> ReadQueue::untilFilled()
{
    while (m_changed.empty() && m_page.empty()) {
        m_filled = Completion<bool>(m_loop);
        auto filled = m_filled;
        co_await filled;
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

bool ReadQueue::isCrowded() const
{
    return m_changed.size() >= changedInBatch;
}

void ReadQueue::putBack(const std::vector<RedisKey> &keys)
{
    m_changed.insert(keys.begin(), keys.end());
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

} // namespace lockscope::inspect
