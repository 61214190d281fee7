// SPDX-License-Identifier: Apache-2.0
#include "ui/graph/graphfacts.h"

#include <algorithm>
#include <map>

namespace lockscope::ui {

using inspect::FindingCode;
using inspect::LockSnapshot;
using inspect::WaitCycle;
using inspect::WaitGraph;

namespace {

using LocksByName = std::map<inspect::LockName, const LockSnapshot *>;

// A deadlock is said once it was seen twice: the findings know.
bool isSaid(const WaitGraph &graph, const WaitCycle &cycle, const LocksByName &locks)
{
    return std::ranges::all_of(cycle.seats, [&](const inspect::GraphSeat &seat) {
        const auto &lock = *locks.at(graph.locks[static_cast<std::size_t>(seat.lock)].name);
        return std::ranges::any_of(lock.findings, [&seat](const inspect::Finding &finding) {
            return finding.code == FindingCode::Deadlock
                   && std::ranges::find(finding.contenders, seat.contender) != finding.contenders.end();
        });
    });
}

} // namespace

GraphFacts graphFactsOf(const std::vector<LockSnapshot> &locks, const std::vector<inspect::ClientLabel> &labels,
                        std::chrono::system_clock::time_point now)
{
    GraphFacts facts;
    facts.graph = inspect::waitGraphOf(locks, labels, now);
    auto &graph = facts.graph;
    LocksByName byName;
    for (const auto &lock : locks)
        byName.emplace(lock.lock, &lock);
    const auto found = graph.cycles.size();
    std::erase_if(graph.cycles, [&](const WaitCycle &cycle) { return !isSaid(graph, cycle, byName); });
    facts.isCycleOpen = graph.cycles.size() < found;
    for (const auto &lock : graph.locks) {
        facts.isElection.push_back(recipes::recipeOf(byName.at(lock.name)->recipe).electsLeader ? 1 : 0);
        facts.unseenWaiters += lock.waitersKnown ? 0 : 1;
    }
    facts.sessions.resize(graph.clients.size());
    for (const auto &edge : graph.edges) {
        const auto &lock = *byName.at(graph.locks[static_cast<std::size_t>(edge.lock)].name);
        const auto *contender = lock.find(edge.contender);
        if (!contender || !contender->session)
            continue;
        auto &sessions = facts.sessions[static_cast<std::size_t>(edge.client)];
        const GraphFacts::Session session{lock.lock.connection, contender->session->toUtf8()};
        if (std::ranges::find(sessions, session) == sessions.end())
            sessions.push_back(session);
    }
    return facts;
}

} // namespace lockscope::ui
