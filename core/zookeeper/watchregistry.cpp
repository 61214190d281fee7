// SPDX-License-Identifier: Apache-2.0
#include "core/zookeeper/watchregistry.h"

namespace lockscope::zk {

bool WatchRegistry::reserve(const ZPath &path, WatchKind kind)
{
    const auto at = m_places.find({path, kind});
    if (at != m_places.end()) {
        ++at->second.reserved;
        return true;
    }
    if (m_bytes + bytesOf(path) > m_budgetBytes)
        return false;
    m_bytes += bytesOf(path);
    m_places.emplace(Key{path, kind}, Place{1, {}});
    return true;
}

void WatchRegistry::arm(const ZPath &path, WatchKind kind, Watch listener)
{
    const auto at = m_places.find({path, kind});
    if (at == m_places.end())
        return;
    --at->second.reserved;
    // Listeners of earlier reads that gave up by themselves need not be kept.
    std::erase_if(at->second.listeners, [](const Watch &earlier) { return earlier.event().isComplete(); });
    at->second.listeners.push_back(std::move(listener));
}

void WatchRegistry::release(const ZPath &path, WatchKind kind)
{
    const auto at = m_places.find({path, kind});
    if (at == m_places.end())
        return;
    --at->second.reserved;
    dropIfEmpty(at);
}

void WatchRegistry::fire(const ZPath &path, WatchKind kind, EventKind event)
{
    const auto at = m_places.find({path, kind});
    if (at == m_places.end())
        return;
    const auto listeners = std::exchange(at->second.listeners, {});
    dropIfEmpty(at);
    for (const auto &listener : listeners)
        listener.event().complete({event, path});
}

void WatchRegistry::remove(const ZPath &path, WatchKind kind)
{
    const auto at = m_places.find({path, kind});
    if (at == m_places.end())
        return;
    at->second.listeners.clear();
    dropIfEmpty(at);
}

void WatchRegistry::endSession()
{
    const auto places = std::exchange(m_places, {});
    m_bytes = 0;
    for (const auto &[key, place] : places)
        for (const auto &listener : place.listeners)
            listener.event().complete({EventKind::SessionOver, key.path});
}

void WatchRegistry::dropIfEmpty(Places::iterator at)
{
    if (at->second.reserved > 0 || !at->second.listeners.empty())
        return;
    m_bytes -= bytesOf(at->first.path);
    m_places.erase(at);
}

} // namespace lockscope::zk
