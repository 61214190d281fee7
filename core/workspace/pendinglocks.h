// SPDX-License-Identifier: Apache-2.0
// Changes of locks on their way to the window: of each lock the newest, in the order in which they came to wait, so
// many at a time, so that no frame waits for all of a flood. Any one thread.
#pragma once

#include "core/inspect/snapshot.h"

#include <chrono>
#include <deque>
#include <map>
#include <optional>

namespace lockscope {

class PendingLocks {
public:
    using WallTime = std::chrono::system_clock::time_point;

    void add(inspect::SnapshotChange change, WallTime now);
    // At most so many, the longest waiting first.
    [[nodiscard]] std::vector<inspect::SnapshotChange> take(std::size_t most);
    [[nodiscard]] bool isEmpty() const { return m_order.empty(); }
    // Since when something of that connection is not told: what its locks look like in the window is of then.
    [[nodiscard]] std::optional<WallTime> oldestOf(const ConnectionName &connection) const;
    // What comes to wait from now on has this number or a higher one.
    [[nodiscard]] quint64 next() const { return m_next; }
    // Whether all that had a lower one is taken.
    [[nodiscard]] bool isTakenBefore(quint64 number) const;

private:
    struct Waiting {
        inspect::LockName lock;
        WallTime since;
        quint64 number = 0;
    };
    std::map<inspect::LockName, inspect::SnapshotChange> m_newest;
    std::deque<Waiting> m_order;
    quint64 m_next = 0;
};

} // namespace lockscope
