// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/waits/waitanalysis.h"
#include "core/base/text.h"

#include <map>

namespace lockscope::inspect {

namespace {

std::size_t index(int number)
{
    return static_cast<std::size_t>(number);
}

bool conflict(const LockRequest &a, const LockRequest &b)
{
    return !(a.reads && b.reads);
}

bool isLater(const LockRequest &hold, const LockRequest &wait)
{
    return hold.made && wait.made && hold.clock == wait.clock && *hold.made > *wait.made;
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

WaitAnalysis::WaitAnalysis(std::vector<LockWaits> contests, int agents)
    : m_lockWaits(std::move(contests)), m_waits(index(agents)), m_holds(index(agents))
{
    for (int c = 0; c < static_cast<int>(m_lockWaits.size()); ++c) {
        const auto &requests = m_lockWaits[index(c)].requests;
        for (int i = 0; i < static_cast<int>(requests.size()); ++i)
            (requests[index(i)].holds ? m_holds : m_waits)[index(requests[index(i)].agent)].push_back({c, i});
    }
    m_binding.resize(m_lockWaits.size());
    for (int c = 0; c < static_cast<int>(m_lockWaits.size()); ++c)
        m_binding[index(c)].resize(m_lockWaits[index(c)].requests.size());
    for (int agent = 0; agent < agents; ++agent) {
        const auto held =
            mapped<std::set<int>>(m_holds[index(agent)], [&](const auto &hold) { return hold.contest; });
        const auto &waits = m_waits[index(agent)];
        if (std::ranges::any_of(waits, [&](const RequestAt &wait) { return held.contains(wait.contest); }))
            continue;
        for (const auto &hold : m_holds[index(agent)]) {
            auto &bound = m_binding[index(hold.contest)][index(hold.request)];
            const bool isOthers = std::ranges::any_of(
                waits, [&](const RequestAt &wait) { return isLater(request(hold), request(wait)); });
            if (!isOthers)
                bound = waits;
        }
    }
}

const std::vector<RequestAt> &WaitAnalysis::binding(RequestAt holder) const
{
    return m_binding[index(holder.contest)][index(holder.request)];
}

// `involved`: agents that count; all others have gone on, and what they hold is free.
bool WaitAnalysis::leaves(RequestAt where, const Flags &free, const std::vector<char> *involved) const
{
    const auto &one = request(where);
    if (involved && !(*involved)[index(one.agent)])
        return true;
    if (!one.holds)
        return free[index(where.contest)][index(where.request)];
    const auto &bound = binding(where);
    // One way out of several is enough: which of its threads holds is not known.
    return bound.empty() || std::ranges::any_of(bound, [&free](const RequestAt &wait) {
               return free[index(wait.contest)][index(wait.request)] != 0;
           });
}

std::vector<RequestAt> WaitAnalysis::told(RequestAt waiter) const
{
    std::vector<RequestAt> all;
    for (const int other : request(waiter).behind) {
        const RequestAt one{waiter.contest, other};
        if (request(one).agent != request(waiter).agent)
            all.push_back(one);
    }
    return all;
}

void WaitAnalysis::freeAsTold(int contest, Flags &free, const std::vector<char> *involved,
                              std::vector<int> &news) const
{
    const auto &requests = m_lockWaits[index(contest)].requests;
    const auto goesAway = [&](RequestAt one) { return leaves(one, free, involved); };
    for (bool isNew = true; isNew;) {
        isNew = false;
        for (int i = 0; i < static_cast<int>(requests.size()); ++i) {
            if (requests[index(i)].holds || free[index(contest)][index(i)]
                || !std::ranges::all_of(told({contest, i}), goesAway))
                continue;
            free[index(contest)][index(i)] = 1;
            news.push_back(requests[index(i)].agent);
            isNew = true;
        }
    }
}

void WaitAnalysis::free(int contest, Flags &free, const std::vector<char> *involved, std::vector<int> &news) const
{
    const auto &lock = m_lockWaits[index(contest)];
    if (lock.isTold)
        return freeAsTold(contest, free, involved, news);
    struct Ahead {
        int all = 0;
        int writers = 0;
    };
    Ahead ahead;
    std::map<int, Ahead> own;
    for (int i = 0; i < static_cast<int>(lock.requests.size()); ++i) {
        const auto &one = lock.requests[index(i)];
        const RequestAt here{contest, i};
        if (!one.holds && !free[index(contest)][index(i)]) {
            const auto mine = own.contains(one.agent) ? own[one.agent] : Ahead();
            const int inTheWay = one.reads ? ahead.writers - mine.writers : ahead.all - mine.all;
            if (inTheWay < lock.permits) {
                free[index(contest)][index(i)] = 1;
                news.push_back(one.agent);
            }
        }
        if ((one.holds || lock.ordered) && !leaves(here, free, involved)) {
            for (auto *count : {&ahead, &own[one.agent]}) {
                ++count->all;
                count->writers += one.reads ? 0 : 1;
            }
        }
    }
}

WaitAnalysis::Flags WaitAnalysis::freed(const std::vector<char> *involved) const
{
    auto flags =
        mapped<Flags>(m_lockWaits, [](const auto &contest) { return std::vector<char>(contest.requests.size(), 0); });
    std::vector<int> waiting;
    std::vector<char> isQueued(m_lockWaits.size(), 1);
    for (int c = static_cast<int>(m_lockWaits.size()) - 1; c >= 0; --c)
        waiting.push_back(c);
    while (!waiting.empty()) {
        const int contest = waiting.back();
        waiting.pop_back();
        isQueued[index(contest)] = 0;
        std::vector<int> news;
        free(contest, flags, involved, news);
        for (const int agent : news) {
            for (const auto &hold : m_holds[index(agent)]) {
                if (!std::exchange(isQueued[index(hold.contest)], 1))
                    waiting.push_back(hold.contest);
            }
        }
    }
    return flags;
}

std::vector<RequestAt> WaitAnalysis::stuck() const
{
    const auto flags = freed(nullptr);
    std::vector<RequestAt> all;
    for (const auto &waits : m_waits) {
        for (const auto &wait : waits) {
            if (!flags[index(wait.contest)][index(wait.request)])
                all.push_back(wait);
        }
    }
    std::ranges::sort(all);
    return all;
}

// Those of them that would be stuck with all others gone.
std::vector<int> WaitAnalysis::stuckAmong(const std::vector<char> &involved) const
{
    const auto flags = freed(&involved);
    std::vector<int> agents;
    for (int agent = 0; agent < static_cast<int>(m_waits.size()); ++agent) {
        const auto isStuck = [&flags](const RequestAt &wait) {
            return !flags[index(wait.contest)][index(wait.request)];
        };
        if (involved[index(agent)] && std::ranges::any_of(m_waits[index(agent)], isStuck))
            agents.push_back(agent);
    }
    return agents;
}

std::vector<RequestAt> WaitAnalysis::blockers(RequestAt waiter) const
{
    const auto &lock = m_lockWaits[index(waiter.contest)];
    if (lock.isTold)
        return told(waiter);
    const auto &me = request(waiter);
    const auto isMine = [&me](const LockRequest &one) { return one.agent == me.agent; };
    std::vector<RequestAt> found;
    int i = lock.ordered ? waiter.request - 1 : static_cast<int>(lock.requests.size()) - 1;
    for (; i >= 0; --i) {
        const auto &one = lock.requests[index(i)];
        if (isMine(one) || !conflict(one, me) || (!lock.ordered && !one.holds))
            continue;
        // Behind the nearest writer, or the nearest waiter for a permit, all others are that one's business.
        const bool isBehindReader = !found.empty() && lock.ordered && !me.reads;
        if (isBehindReader && lock.permits == 1 && !one.reads && !one.holds)
            break;
        found.push_back({waiter.contest, i});
        const bool isLast = lock.permits == 1 ? !one.reads : !one.holds;
        if (lock.ordered && isLast)
            break;
    }
    return found;
}

// Who keeps a stuck waiter out for good: holders where that is enough, else those before it in the queue, too.
std::vector<RequestAt> WaitAnalysis::inTheWay(RequestAt waiter, const Flags &free,
                                              const std::vector<char> *involved) const
{
    const auto &lock = m_lockWaits[index(waiter.contest)];
    if (lock.isTold) {
        auto all = told(waiter);
        std::erase_if(all, [&](RequestAt one) { return leaves(one, free, involved); });
        return all;
    }
    const auto &me = request(waiter);
    std::vector<RequestAt> holders, queued;
    for (int i = 0; i < static_cast<int>(lock.requests.size()); ++i) {
        const auto &one = lock.requests[index(i)];
        const RequestAt here{waiter.contest, i};
        if (!one.holds && (!lock.ordered || i >= waiter.request))
            break;
        if (one.agent == me.agent || !conflict(one, me) || leaves(here, free, involved))
            continue;
        (one.holds ? holders : queued).push_back(here);
    }
    if (static_cast<int>(holders.size()) >= lock.permits)
        return holders;
    // The nearest is enough: it waits for those before it.
    for (auto one = queued.rbegin(); one != queued.rend(); ++one) {
        holders.push_back(*one);
        if (static_cast<int>(holders.size()) >= lock.permits)
            break;
    }
    return holders;
}

// Deadlocks: the smallest sets of agents that keep themselves from going on.

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
