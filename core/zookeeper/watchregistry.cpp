// SPDX-License-Identifier: Apache-2.0
#include "core/zookeeper/clientsession.h"

namespace lockscope::zk {

bool WatchRegistry::reserve(const ZPath &path, WatchKind kind)
{
    const auto at = m_slots.find({path, kind});
    if (at != m_slots.end()) {
        ++at->second.reserved;
        return true;
    }
    if (m_bytes + bytesOf(path) > m_budgetBytes)
        return false;
    m_bytes += bytesOf(path);
    m_slots.emplace(Key{path, kind}, WatchSlot{1, {}});
    return true;
}

void WatchRegistry::arm(const ZPath &path, WatchKind kind, Watch listener)
{
    const auto at = m_slots.find({path, kind});
    if (at == m_slots.end())
        return;
    --at->second.reserved;
    // Listeners of earlier reads that gave up by themselves need not be kept.
    std::erase_if(at->second.listeners, [](const Watch &earlier) { return earlier.event().isComplete(); });
    at->second.listeners.push_back(std::move(listener));
}

void WatchRegistry::release(const ZPath &path, WatchKind kind)
{
    const auto at = m_slots.find({path, kind});
    if (at == m_slots.end())
        return;
    --at->second.reserved;
    dropIfEmpty(at);
}

void WatchRegistry::fire(const ZPath &path, WatchKind kind, EventKind event)
{
    const auto at = m_slots.find({path, kind});
    if (at == m_slots.end())
        return;
    const auto listeners = std::exchange(at->second.listeners, {});
    dropIfEmpty(at);
    for (const auto &listener : listeners)
        listener.event().complete({event, path});
}

void WatchRegistry::remove(const ZPath &path, WatchKind kind)
{
    const auto at = m_slots.find({path, kind});
    if (at == m_slots.end())
        return;
    at->second.listeners.clear();
    dropIfEmpty(at);
}

void WatchRegistry::endSession()
{
    const auto all = std::exchange(m_slots, {});
    m_bytes = 0;
    for (const auto &[key, slot] : all)
        for (const auto &listener : slot.listeners)
            listener.event().complete({EventKind::SessionOver, key.path});
}

void WatchRegistry::dropIfEmpty(WatchSlots::iterator at)
{
    if (at->second.reserved > 0 || !at->second.listeners.empty())
        return;
    m_bytes -= bytesOf(at->first.path);
    m_slots.erase(at);
}

} // namespace lockscope::zk
