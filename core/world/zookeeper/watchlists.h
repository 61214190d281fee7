// SPDX-License-Identifier: Apache-2.0
// Who watches what on one server: the connections, by path. A watch fires once; a connection that watches a
// path twice is told once. Connections that are gone are left in place until the list is used or grows.
#pragma once

#include "core/world/zookeeper/protocol.h"
#include "core/world/zookeeper/tree.h"

#include <functional>
#include <unordered_map>
#include <vector>

namespace lockscope::world::zookeeper {

class WatchLists {
public:
    using IsOpen = std::function<bool(quint64 connection)>;
    explicit WatchLists(IsOpen isOpen) : m_isOpen(std::move(isOpen)) {}

    void add(const ZPath &path, quint64 connection);
    void remove(const ZPath &path, quint64 connection);
    // Those that are to be told, as they connected, also who is gone since; the list is empty afterwards.
    [[nodiscard]] std::vector<quint64> take(const ZPath &path);
    [[nodiscard]] bool isEmpty() const { return m_lists.empty(); }
    // Of open connections, each once.
    [[nodiscard]] std::vector<quint64> of(const ZPath &path) const;
    // Of open connections, each counted once per path.
    [[nodiscard]] qint64 count() const;

private:
    static constexpr std::size_t leastTidy = 16;
    struct List {
        std::vector<quint64> watchers;
        std::size_t tidyAt = leastTidy;
    };
    // Sorted, each once.
    static void sort(std::vector<quint64> &watchers);
    void tidy(std::vector<quint64> &watchers) const;

    IsOpen m_isOpen;
    // Never walked where the order would show.
    using Lists = freelist::UnorderedMap<ZPath, List>;
    Lists m_lists;
    Lists::value_type *m_last = nullptr; // added to last: that of a herd is added to again and again
    std::size_t m_tidyAt = leastTidy;    // of a new list: a herd comes back as large as it was told last
};

// What a client that connects again watches there: what it is told of at once, since it has changed after the last
// that it heard of; the rest is watched again.
[[nodiscard]] std::vector<zk::WatchEvent> watchAgain(const Hello &hello, quint64 connection, const Tree &tree,
                                                     WatchLists &data, WatchLists &children);

} // namespace lockscope::world::zookeeper
