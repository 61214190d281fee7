// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/news.h"

#include <algorithm>

namespace lockscope {

using inspect::ChangeKind;

namespace {

constexpr std::size_t mostLogKept = 5000; // the window keeps no more than the log does

// Moves the values out.
template <class Key, class Value>
std::vector<Value> valuesOf(std::map<Key, Value> &map)
{
    std::vector<Value> values;
    values.reserve(map.size());
    for (auto &[key, value] : std::exchange(map, {}))
        values.push_back(std::move(value));
    return values;
}

} // namespace

void News::add(inspect::SnapshotChange change, WallTime now)
{
    const auto at = m_locks.find(change.lock.lock);
    if (at == m_locks.end()) {
        m_order.push_back({change.lock.lock, now, m_next++});
        m_locks.emplace(change.lock.lock, std::move(change));
        return;
    }
    // Added and changed before it is told is still added; added and removed is still told (harmless).
    if (at->second.kind == ChangeKind::Added && change.kind == ChangeKind::Changed)
        change.kind = ChangeKind::Added;
    at->second = std::move(change);
}

void News::add(operate::LogEntry entry)
{
    m_log.insert_or_assign({entry.number, entry.connection}, std::move(entry));
    if (m_log.size() > mostLogKept)
        m_log.erase(m_log.begin());
}

void News::add(const Batch &batch)
{
    const auto addAll = [this](const auto &values) {
        for (const auto &value : values)
            add(value);
    };
    addAll(batch.locks);
    addAll(batch.connections);
    addAll(batch.sessions);
    addAll(batch.coverage);
    addAll(batch.log);
}

Batch News::take(std::size_t mostLocks)
{
    Batch batch;
    while (!m_order.empty() && batch.locks.size() < mostLocks) {
        batch.locks.push_back(std::move(m_locks.extract(m_order.front().lock).mapped()));
        m_order.pop_front();
    }
    batch.connections = valuesOf(m_statuses);
    batch.sessions = valuesOf(m_sessions);
    batch.coverage = valuesOf(m_coverage);
    batch.log = valuesOf(m_log);
    return batch;
}

void News::forget(const ConnectionName &name)
{
    std::erase_if(m_order, [&name](const Waiting &waiting) { return waiting.lock.connection == name; });
    std::erase_if(m_locks, [&name](const auto &entry) { return entry.first.connection == name; });
    m_statuses.erase(name);
    m_sessions.erase(name);
    m_coverage.erase(name);
}

bool News::isEmpty() const
{
    return m_locks.empty() && m_statuses.empty() && m_sessions.empty() && m_coverage.empty() && m_log.empty();
}

std::optional<WallTime> News::oldestOf(const ConnectionName &name) const
{
    const auto at =
        std::ranges::find_if(m_order, [&name](const Waiting &waiting) { return waiting.lock.connection == name; });
    return at == m_order.end() ? std::nullopt : std::optional(at->since);
}

bool News::isTakenBefore(quint64 number) const
{
    return m_order.empty() || m_order.front().number >= number;
}

} // namespace lockscope
