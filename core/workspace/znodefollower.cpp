// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/znodefollower.h"

#include "core/async/sleep.h"

#include <algorithm>
#include <set>

namespace lockscope {

constexpr std::size_t mostListed = 64;

void ZnodeFollower::follow(const ConnectionName &name, const std::vector<ZPath> &paths)
{
    auto &followed = m_followed[name];
    const std::set<ZPath> wanted(paths.begin(), paths.end());
    std::erase_if(followed, [&](const auto &entry) { return !wanted.contains(entry.first); });
    for (const auto &path : wanted) {
        auto &scope = followed[path];
        if (scope)
            continue;
        scope = std::make_unique<Scope>(m_workspace.loop());
        scope->launch(followOne(name, path));
    }
}

void ZnodeFollower::listed(const ConnectionName &name, const ZPath &path, const zk::Stat &folder)
{
    std::erase_if(m_listed, [&](const Listed &one) { return one.name == name && one.path == path; });
    m_listed.push_front({name, path, folder.pzxid});
    if (m_listed.size() > mostListed)
        m_listed.pop_back();
}

void ZnodeFollower::forget(const ConnectionName &name)
{
    stop(name);
    std::erase_if(m_listed, [&name](const Listed &one) { return one.name == name; });
}

// What changed between the list that the window has and the watch is told as well: a list of 300,000 children is on
// its way, and being sorted in, for seconds.
bool ZnodeFollower::isAsListed(const ConnectionName &name, const ZPath &path, const zk::Stat &folder) const
{
    return std::ranges::any_of(m_listed, [&](const Listed &one) {
        return one.name == name && one.path == path && one.pzxid == folder.pzxid;
    });
}

// Tells of every change of the children of one path, through reconnects.
Task<void> ZnodeFollower::followOne(ConnectionName name, ZPath path)
{
    auto &loop = m_workspace.loop();
    bool first = true;
    for (;;) {
        const auto connected = co_await m_workspace.whenConnected(name, Deadline::never());
        auto *session = zooKeeperOf(m_workspace.find(name));
        if (!session)
            co_return;
        bool watching = false;
        if (connected) {
            zk::Watch watch(loop);
            const auto listed = co_await session->children(path, watch, Deadline::never());
            watching = static_cast<bool>(listed);
            if (watching && (!first || !isAsListed(name, path, listed->stat)))
                m_changed(name, path);
            first = false;
            if (watching)
                co_await watch.event();
        }
        // A busy directory is told of at most ten times a second.
        auto pause = sleepFor(loop, watching ? 100ms : 1000ms);
        co_await pause;
    }
}

} // namespace lockscope
