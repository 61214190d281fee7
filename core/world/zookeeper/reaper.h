// SPDX-License-Identifier: Apache-2.0
// Takes away containers that were used and are empty, and nodes whose time to live is over. The servers look at them
// again and again; here they are looked at when there may be something to do.
#pragma once

#include "core/async/virtualloop.h"
#include "core/world/zookeeper/tree.h"

#include <functional>
#include <optional>

namespace lockscope::world::zookeeper {

class Reaper {
public:
    // The leader's tree, and its wall clock. `remove` is a transaction of its own.
    Reaper(VirtualLoop &world, const Tree &tree, Duration interval,
           std::function<std::chrono::milliseconds()> wallNow, std::function<void(const ZPath &)> remove)
        : m_world(world), m_tree(tree), m_interval(interval), m_wallNow(std::move(wallNow)),
          m_remove(std::move(remove))
    {
    }

    void noteChange(const Change &change);
    void lookAgain(); // the clock has jumped

private:
    void plan(Instant due);
    void reap();

    VirtualLoop &m_world;
    const Tree &m_tree;
    const Duration m_interval;
    const std::function<std::chrono::milliseconds()> m_wallNow;
    const std::function<void(const ZPath &)> m_remove;
    std::optional<Instant> m_dueAt;
    Timer m_timer;
};

} // namespace lockscope::world::zookeeper
