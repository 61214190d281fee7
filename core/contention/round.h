// SPDX-License-Identifier: Apache-2.0
// One round of a scenario, on whatever servers: everybody joins, and in the end everybody is done.
//
// Queued: the first contender takes the lock, the others join while it holds, and when all of them have come to
// rest it begins to release. Spread: they come when the seed says. Belongs to the thread of `loop`.
#pragma once

#include "core/base/random.h"
#include "core/contention/contenderactor.h"
#include "core/contention/trace.h"

#include <map>

namespace lockscope::contention {

// What must hold, checked while a run goes on: reads the trace, and writes into it what does not hold.
//
//   exclusion    never more believe to hold than may (a writer alone; so many permits)
//   order        of a fair recipe: granted in the order of the queue's numbers
//   tokens       a later grant has a larger fencing token
// Beside these: "effect" (contenderactor.h: the guarded resource), "progress" and "cleanliness" (simulation.cpp: at
// the end). An optimistic lock keeps nobody out: of it only these.
class Checkers {
public:
    Checkers(const Scenario &scenario, Trace &trace);

    // How long at most more believed to hold than may.
    [[nodiscard]] Moment longestOverlap() const { return m_longestOverlap; }
    void see(const Event &event);

private:
    void begins(const Event &event);
    void ends(const Event &event);
    [[nodiscard]] bool isTooMany() const;

    const Scenario m_scenario;
    Trace &m_trace;
    bool m_isFair = false;
    const bool m_isOptimistic;   // its holders exclude nobody
    std::vector<bool> m_readers; // by contender: how it joined last
    std::map<int, Moment> m_believers;
    std::optional<Moment> m_overlapSince;
    Moment m_longestOverlap{};
    std::optional<qint64> m_lastSequence;
    qint64 m_highestToken = 0;
};

class Round {
public:
    struct Pace {
        Duration apart; // between two that join a queue, so that it stands in the order of the lanes
        Duration quiet; // with nothing asked or answered: all have come to rest; longer than an answer takes
    };
    Round(Loop &loop, const Scenario &scenario, Trace &trace, Resource &resource, Pace pace);

    // Before join(): contender `number`, whose lock lives on `loop` (its process's).
    void add(int number, Loop &loop, std::unique_ptr<recipes::Lock> lock);
    // It died, or could not be made: it does not come to an end otherwise.
    void remove(int number);

    // Until all have joined; the Round outlives it.
    [[nodiscard]] Task<void> join(Random random);
    // True when the last one is done; waited for by one at a time.
    [[nodiscard]] Completion<bool> allDone() const { return m_allDone; }
    [[nodiscard]] int notDone() const { return m_notDone; }
    [[nodiscard]] bool isDone(int number) const { return m_isDone[std::size_t(number)]; }
    [[nodiscard]] bool holds(int number) const;
    void stopWorking(int number);

private:
    Task<void> joinQueued();
    Task<void> joinSpread(Random random);
    Task<void> untilQuiet();
    void done(int number);
    [[nodiscard]] bool reads(int number) const;

    Loop &m_loop;
    const Scenario m_scenario;
    Trace &m_trace;
    Resource &m_resource;
    const Pace m_pace;
    Completion<bool> m_allDone;
    int m_notDone;
    std::vector<bool> m_isDone;
    std::vector<std::unique_ptr<ContenderActor>> m_contenders; // empty where one died
};

// Whether this contender of a read/write lock reads.
[[nodiscard]] bool isReader(const Scenario &scenario, int contender);

} // namespace lockscope::contention
