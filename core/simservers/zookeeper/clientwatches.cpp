// SPDX-License-Identifier: Apache-2.0
#include "core/simservers/zookeeper/simulatedsession.h"

namespace lockscope::sim::zookeeper {

bool ClientWatches::reserve(const ZPath &path, zk::WatchKind kind)
{
    const auto at = m_slots.find(Sought{path, kind});
    if (at != m_slots.end()) {
        ++at->second.reserved;
        return true;
    }
    if (m_bytes + path.bytes().size() > m_budgetBytes)
        return false;
    m_bytes += path.bytes().size();
    if (m_spare && m_spare.key().kind == kind && m_spare.key().path == path) {
        auto &slot = m_spare.mapped();
        slot.reserved = 1;
        slot.onNode = slot.onMissing = false;
        m_slots.insert(std::move(m_spare));
    } else {
        m_slots[{path, kind}].reserved = 1;
    }
    return true;
}

void ClientWatches::arm(const ZPath &path, zk::WatchKind kind, bool isMissing, zk::Watch listener)
{
    const auto at = m_slots.find(Sought{path, kind});
    if (at == m_slots.end())
        return;
    auto &slot = at->second;
    --slot.reserved;
    (isMissing ? slot.onMissing : slot.onNode) = true;
    // Listeners of earlier reads that gave up by themselves need not be kept.
    std::erase_if(slot.listeners, [](const zk::Watch &earlier) { return earlier.event().isComplete(); });
    slot.listeners.push_back(std::move(listener));
}

void ClientWatches::release(const ZPath &path, zk::WatchKind kind)
{
    const auto at = m_slots.find(Sought{path, kind});
    if (at == m_slots.end())
        return;
    --at->second.reserved;
    dropIfEmpty(at);
}

void ClientWatches::fire(const zk::WatchEvent &event)
{
    if (event.kind != zk::EventKind::ChildrenChanged)
        fireOne(event, zk::WatchKind::Data);
    if (event.kind == zk::EventKind::ChildrenChanged || event.kind == zk::EventKind::Deleted)
        fireOne(event, zk::WatchKind::Children);
}

void ClientWatches::fireOne(const zk::WatchEvent &event, zk::WatchKind kind)
{
    const auto at = m_slots.find(Sought{event.path, kind});
    if (at == m_slots.end())
        return;
    const auto listeners = std::exchange(at->second.listeners, {});
    at->second.onNode = at->second.onMissing = false;
    dropIfEmpty(at);
    for (const auto &listener : listeners)
        listener.event().complete(event);
}

void ClientWatches::endSession()
{
    const auto all = std::exchange(m_slots, {});
    m_bytes = 0;
    for (const auto &[key, slot] : all) {
        for (const auto &listener : slot.listeners)
            listener.event().complete({zk::EventKind::SessionOver, key.path});
    }
}

void ClientWatches::putInto(Hello &hello) const
{
    for (const auto &[key, slot] : m_slots) {
        const auto &[path, kind] = key;
        if (slot.onNode)
            (kind == zk::WatchKind::Data ? hello.dataWatches : hello.childWatches).push_back(path);
        if (slot.onMissing)
            hello.missingWatches.push_back(path);
    }
}

void ClientWatches::dropIfEmpty(WatchSlots::iterator at)
{
    if (at->second.reserved > 0 || !at->second.listeners.empty())
        return;
    m_bytes -= at->first.path.bytes().size();
    if (at->first.kind == zk::WatchKind::Children)
        m_spare = m_slots.extract(at);
    else
        m_slots.erase(at);
}

} // namespace lockscope::sim::zookeeper
