// SPDX-License-Identifier: Apache-2.0
// Who can still go on? Locks reduced to what decides that: requests in a queue, each of an agent (whoever does one
// thing after the other: a session, a thread, a connection). Pure; the wait-for graph and its deadlocks stand on it.
//
// A waiter gets in as soon as fewer conflicting requests than there are permits are ahead of it. A request ahead goes
// away if it waits itself and gets in; or if it holds, and what its agent waits for meanwhile can be had. What never
// happens by these rules, whatever the order of events, is stuck.
#pragma once

#include "core/inspect/waits/waitgraph.h"

#include <QtGlobal>

namespace lockscope::inspect {

struct LockRequest {
    int agent = 0;
    bool holds = false;
    bool reads = false;
    // The server's number of the moment the request was made, where it has one. Who waits cannot make another: a
    // later one is another thread's of the same session.
    std::optional<qint64> made;
    int clock = 0;             // only moments of one clock can be compared
    std::vector<int> behind{}; // of a waiter, where the contest is told: the requests that it waits for
};

struct LockWaits {
    std::vector<LockRequest> requests; // holders first, then in the order of the queue
    bool ordered = true;               // a waiter is in the way of those behind it
    int permits = 1;                   // so many conflicting requests may hold at once
    // The server says who waits for whom (LockRequest::behind), and each for all of those: neither order nor permits
    // nor modes say more.
    bool isTold = false;
};

struct RequestAt {
    int contest = 0;
    int request = 0;
    friend bool operator==(const RequestAt &, const RequestAt &) = default;
    friend auto operator<=>(const RequestAt &, const RequestAt &) = default;
};

// Agents that cannot go on by themselves, in the smallest set that keeps itself stuck: with everybody else gone it
// would be stuck still, and without any of them it would not.
struct DeadlockSet {
    std::vector<int> agents;      // each waits for one after it, as far as they are a cycle
    std::vector<RequestAt> waits; // of each agent: what it waits for
    std::vector<RequestAt> holds; // what the others wait for
};

class WaitAnalysis {
public:
    WaitAnalysis(std::vector<LockWaits> contests, int agents);

    // The waits that nobody but somebody outside can end.
    [[nodiscard]] std::vector<RequestAt> stuck() const;
    // All of it, each with different agents, the smallest first where they overlap.
    [[nodiscard]] std::vector<DeadlockSet> deadlockSets() const;
    // The requests that keep this waiter out as its recipe has it: the one before it, the readers before a writer,
    // the writer before a reader, any of the permits; not its agent's own.
    [[nodiscard]] std::vector<RequestAt> blockers(RequestAt waiter) const;

    [[nodiscard]] const LockRequest &request(RequestAt at) const
    {
        return m_lockWaits[static_cast<std::size_t>(at.contest)].requests[static_cast<std::size_t>(at.request)];
    }
    // What its agent waits for that keeps this holder from letting go. None where the agent waits for a lock that it
    // holds: then it has several threads, and which of them holds is not known.
    [[nodiscard]] const std::vector<RequestAt> &binding(RequestAt holder) const;

private:
    using Flags = std::vector<std::vector<char>>;
    [[nodiscard]] Flags freed(const std::vector<char> *involved) const;
    [[nodiscard]] std::vector<int> stuckAmong(const std::vector<char> &involved) const;
    void free(int contest, Flags &free, const std::vector<char> *involved, std::vector<int> &news) const;
    void freeAsTold(int contest, Flags &free, const std::vector<char> *involved, std::vector<int> &news) const;
    // Whom it waits for as the server says it; not its agent's own.
    [[nodiscard]] std::vector<RequestAt> told(RequestAt waiter) const;
    [[nodiscard]] bool leaves(RequestAt at, const Flags &free, const std::vector<char> *involved) const;
    [[nodiscard]] std::vector<std::vector<int>> components(const Flags &free) const;
    [[nodiscard]] std::vector<RequestAt> inTheWay(RequestAt waiter, const Flags &free,
                                                  const std::vector<char> *involved) const;
    [[nodiscard]] DeadlockSet deadlockSetOf(std::vector<int> agents) const;

    std::vector<LockWaits> m_lockWaits;
    std::vector<std::vector<RequestAt>> m_waits; // by agent
    std::vector<std::vector<RequestAt>> m_holds;
    std::vector<std::vector<std::vector<RequestAt>>> m_binding; // by contest and request
};

// What the making of a wait-for graph is divided into.
struct GraphSources {
    const std::vector<LockSnapshot> &locks;
    const ClientsOfLocks &clients;
    const WaitAnalysis &contests;
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

[[nodiscard]] std::vector<WaitCycle> cyclesOf(const WaitGraph &graph, const GraphSources &sources);

} // namespace lockscope::inspect
