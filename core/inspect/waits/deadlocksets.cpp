// SPDX-License-Identifier: Apache-2.0
// Deadlocks: the smallest sets of agents that keep themselves from going on.
#include "core/inspect/waits/waitanalysis.h"

#include <algorithm>
#include <map>
#include <set>

namespace lockscope::inspect {

namespace {

std::size_t index(int number)
{
    return static_cast<std::size_t>(number);
}

// Tarjan's, without recursion: a chain of waiters may be long.
class StrongComponents {
public:
    explicit StrongComponents(const std::vector<std::vector<int>> &next)
        : m_next(next), m_number(next.size(), -1), m_low(next.size(), 0), m_onStack(next.size(), 0)
    {
        for (int node = 0; node < static_cast<int>(next.size()); ++node) {
            if (m_number[index(node)] < 0)
                walk(node);
        }
    }
    // Those of two or more.
    std::vector<std::vector<int>> found;

private:
    struct Step {
        int node;
        std::size_t edge;
    };

    void enter(int node)
    {
        m_number[index(node)] = m_low[index(node)] = m_count++;
        m_stack.push_back(node);
        m_onStack[index(node)] = 1;
        m_steps.push_back({node, 0});
    }
    void walk(int root)
    {
        enter(root);
        while (!m_steps.empty()) {
            auto &[node, edge] = m_steps.back();
            if (edge < m_next[index(node)].size()) {
                const int target = m_next[index(node)][edge++];
                if (m_number[index(target)] < 0)
                    enter(target);
                else if (m_onStack[index(target)])
                    m_low[index(node)] = std::min(m_low[index(node)], m_number[index(target)]);
                continue;
            }
            leave(node);
        }
    }
    void leave(int node)
    {
        m_steps.pop_back();
        if (!m_steps.empty()) {
            auto &low = m_low[index(m_steps.back().node)];
            low = std::min(low, m_low[index(node)]);
        }
        if (m_low[index(node)] != m_number[index(node)])
            return;
        std::vector<int> component;
        int last = -1;
        while (last != node) {
            last = m_stack.back();
            m_stack.pop_back();
            m_onStack[index(last)] = 0;
            component.push_back(last);
        }
        if (component.size() > 1)
            found.push_back(std::move(component));
    }

    const std::vector<std::vector<int>> &m_next;
    std::vector<int> m_number, m_low;
    std::vector<char> m_onStack;
    std::vector<int> m_stack;
    std::vector<Step> m_steps;
    int m_count = 0;
};

std::vector<char> onlyThese(const std::vector<int> &agents, std::size_t of)
{
    std::vector<char> involved(of, 0);
    for (const int agent : agents)
        involved[index(agent)] = 1;
    return involved;
}

} // namespace

std::vector<std::vector<int>> WaitAnalysis::components(const Flags &free) const
{
    std::vector<std::vector<int>> next(m_waits.size());
    for (std::size_t agent = 0; agent < m_waits.size(); ++agent) {
        for (const auto &wait : m_waits[agent]) {
            if (free[index(wait.contest)][index(wait.request)])
                continue;
            for (const auto &blocker : inTheWay(wait, free, nullptr))
                next[agent].push_back(request(blocker).agent);
        }
    }
    return StrongComponents(next).found;
}

std::vector<DeadlockSet> WaitAnalysis::deadlockSets() const
{
    std::vector<DeadlockSet> all;
    for (const auto &component : components(freed(nullptr))) {
        // As long as something in it keeps itself stuck: the smallest of that, and then without one of it.
        auto rest = component;
        std::ranges::sort(rest);
        for (;;) {
            auto kernel = stuckAmong(onlyThese(rest, m_waits.size()));
            if (kernel.empty())
                break;
            for (std::size_t i = 0; i < kernel.size();) {
                auto without = kernel;
                without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
                auto smaller = stuckAmong(onlyThese(without, m_waits.size()));
                if (smaller.empty()) {
                    ++i;
                    continue;
                }
                kernel = std::move(smaller); // whoever was needed before is in it still, and at the same place
            }
            all.push_back(deadlockSetOf(kernel));
            std::erase_if(rest, [&kernel](int agent) { return std::ranges::find(kernel, agent) != kernel.end(); });
        }
    }
    std::ranges::sort(all, {}, [](const DeadlockSet &knot) { return knot.agents.size(); });
    return all;
}

DeadlockSet WaitAnalysis::deadlockSetOf(std::vector<int> agents) const
{
    DeadlockSet knot;
    const auto involved = onlyThese(agents, m_waits.size());
    const auto flags = freed(&involved);
    std::map<int, std::vector<int>> next;
    std::map<int, std::vector<RequestAt>> waits, holds;
    for (const int agent : agents) {
        for (const auto &wait : m_waits[index(agent)]) {
            if (flags[index(wait.contest)][index(wait.request)])
                continue;
            waits[agent].push_back(wait);
            for (const auto &blocker : inTheWay(wait, flags, &involved)) {
                const int who = request(blocker).agent;
                next[agent].push_back(who);
                holds[who].push_back(blocker);
            }
        }
    }
    // Along the waits, so that the sentence about it reads as a chain.
    std::set<int> seen;
    int at = agents.front();
    while (seen.insert(at).second) {
        knot.agents.push_back(at);
        const auto &candidates = next[at];
        const auto unseen = std::ranges::find_if(candidates, [&seen](int one) { return !seen.contains(one); });
        if (unseen != candidates.end()) {
            at = *unseen;
            continue;
        }
        const auto left = std::ranges::find_if(agents, [&seen](int one) { return !seen.contains(one); });
        if (left != agents.end())
            at = *left;
    }
    for (const int agent : knot.agents) {
        std::ranges::copy(waits[agent], std::back_inserter(knot.waits));
        for (const auto &hold : holds[agent]) {
            if (std::ranges::find(knot.holds, hold) == knot.holds.end())
                knot.holds.push_back(hold);
        }
    }
    return knot;
}

} // namespace lockscope::inspect
