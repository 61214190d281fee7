// SPDX-License-Identifier: Apache-2.0
// What must hold, checked while a run goes on: reads the trace, and writes into it what does not hold.
//
//   exclusion    never more believe to hold than may (a writer alone; so many permits)
//   order        of a fair recipe: granted in the order of the queue's numbers
//   tokens       a later grant has a larger fencing token
// Beside these: "effect" (contenderactor.h: the guarded resource), "progress" and "cleanliness" (simulation.cpp: at
// the end). An optimistic lock keeps nobody out: of it only these.
#pragma once

#include "core/contention/trace.h"

#include <map>

namespace lockscope::contention {

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

} // namespace lockscope::contention
