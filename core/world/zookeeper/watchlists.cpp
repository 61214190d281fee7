// SPDX-License-Identifier: Apache-2.0
#include "core/world/zookeeper/watchlists.h"

#include <algorithm>

namespace lockscope::world::zookeeper {

void WatchLists::sort(std::vector<quint64> &watchers)
{
    std::sort(watchers.begin(), watchers.end());
    watchers.erase(std::unique(watchers.begin(), watchers.end()), watchers.end());
}

void WatchLists::tidy(std::vector<quint64> &watchers) const
{
    sort(watchers);
    std::erase_if(watchers, [this](quint64 connection) { return !m_isOpen(connection); });
}

void WatchLists::add(const ZPath &path, quint64 connection)
{
    if (!m_last || m_last->first != path) {
        const auto [at, isNew] = m_lists.try_emplace(path);
        m_last = &*at;
        if (isNew)
            at->second.tidyAt = m_tidyAt;
    }
    auto &list = m_last->second;
    list.watchers.push_back(connection);
    if (list.watchers.size() < list.tidyAt)
        return;
    tidy(list.watchers);
    list.tidyAt = std::max(leastTidy, 2 * list.watchers.size());
}

void WatchLists::remove(const ZPath &path, quint64 connection)
{
    const auto at = m_lists.find(path);
    if (at == m_lists.end())
        return;
    std::erase(at->second.watchers, connection);
    if (!at->second.watchers.empty())
        return;
    m_last = nullptr;
    m_lists.erase(at);
}

std::vector<quint64> WatchLists::take(const ZPath &path)
{
    if (m_lists.empty())
        return {};
    const auto at = m_lists.find(path);
    if (at == m_lists.end())
        return {};
    auto watchers = std::move(at->second.watchers);
    m_last = nullptr;
    m_lists.erase(at);
    sort(watchers);
    m_tidyAt = std::max(leastTidy, 2 * watchers.size());
    return watchers;
}

std::vector<quint64> WatchLists::of(const ZPath &path) const
{
    const auto at = m_lists.find(path);
    if (at == m_lists.end())
        return {};
    auto watchers = at->second.watchers;
    tidy(watchers);
    return watchers;
}

qint64 WatchLists::count() const
{
    qint64 count = 0;
    for (const auto &[path, list] : m_lists) {
        auto watchers = list.watchers;
        tidy(watchers);
        count += static_cast<qint64>(watchers.size());
    }
    return count;
}

std::vector<zk::WatchEvent> watchAgain(const Hello &hello, quint64 connection, const Tree &tree, WatchLists &data,
                                       WatchLists &children)
{
    std::vector<zk::WatchEvent> events;
    for (const auto &path : hello.dataWatches) {
        const auto *const node = tree.find(path);
        if (!node)
            events.push_back({zk::EventKind::Deleted, path});
        else if (node->mzxid > hello.lastZxidSeen)
            events.push_back({zk::EventKind::DataChanged, path});
        else
            data.add(path, connection);
    }
    for (const auto &path : hello.missingWatches) {
        if (tree.find(path))
            events.push_back({zk::EventKind::Created, path});
        else
            data.add(path, connection);
    }
    for (const auto &path : hello.childWatches) {
        const auto *const node = tree.find(path);
        if (!node)
            events.push_back({zk::EventKind::Deleted, path});
        else if (node->pzxid > hello.lastZxidSeen)
            events.push_back({zk::EventKind::ChildrenChanged, path});
        else
            children.add(path, connection);
    }
    return events;
}

} // namespace lockscope::world::zookeeper
