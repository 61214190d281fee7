// SPDX-License-Identifier: Apache-2.0
// What the making of a wait-for graph is divided into.
#pragma once

#include "core/inspect/waits/contest.h"
#include "core/inspect/waits/waitgraph.h"

namespace lockscope::inspect {

struct GraphSources {
    const std::vector<LockSnapshot> &locks;
    const ClientsOfLocks &clients;
    const Contests &contests;
    std::chrono::system_clock::time_point now;

    [[nodiscard]] const LockSnapshot &lock(int number) const { return locks[static_cast<std::size_t>(number)]; }
    [[nodiscard]] const Contender &contender(RequestAt at) const
    {
        return lock(at.contest).contenders[static_cast<std::size_t>(at.request)];
    }
    [[nodiscard]] int client(RequestAt at) const
    {
        return clients.client[static_cast<std::size_t>(at.contest)][static_cast<std::size_t>(at.request)];
    }
    // How long it holds or waits.
    [[nodiscard]] std::optional<std::chrono::milliseconds> age(RequestAt at) const;
};

[[nodiscard]] std::vector<Contest> contestsOf(const std::vector<LockSnapshot> &locks, const ClientsOfLocks &clients);
[[nodiscard]] std::vector<RootBlocker> rootsOf(const WaitGraph &graph);
[[nodiscard]] std::vector<WaitCycle> cyclesOf(const WaitGraph &graph, const GraphSources &sources);

} // namespace lockscope::inspect
