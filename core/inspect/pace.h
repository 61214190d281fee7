// SPDX-License-Identifier: Apache-2.0
// How hard observers press their servers.
#pragma once

#include "core/async/loop.h"
#include "core/inspect/snapshot.h"

namespace lockscope::inspect {

// After work a rest of so many times as long: at most a tenth of one server's (and our) time.
inline constexpr int restPerWork = 9;

// Measures one kind of work that is done again and again, and the rest that it earns. A stall, the server's or ours,
// makes one turn seem long although the server did nothing: of two turns the shorter one counts. Work that failed is
// not to be measured.
class WorkMeter {
public:
    [[nodiscard]] Duration restAfter(Duration took)
    {
        return std::min(took, std::exchange(m_before, took)) * restPerWork;
    }

private:
    Duration m_before{};
};

// How much Lockscope asks of a connection's servers in a second, and how much all their clients ask together, by the
// servers' own count: both between the same two moments, so that the one can be held against the other. Pure.
class AskedRate {
public:
    // So many requests of ours are sent by now. While the servers tell their counts, those say when a span ends.
    void note(Instant now, qint64 asked);
    // And what so many servers had been asked in all; empty: not all of them say.
    void noteServed(Instant now, qint64 asked, std::optional<qint64> served, int servers = 1);

    void putInto(Cost &cost) const
    {
        cost.requestsPerSecond = m_ours;
        cost.servedPerSecond = m_all;
    }

private:
    struct Count {
        Instant at{};
        qint64 asked = 0;
        qint64 served = 0;
        int servers = 0;
    };

    // A rate over a few milliseconds would be a burst, called a load.
    static constexpr double shortestSpan = 0.9;
    [[nodiscard]] static double secondsBetween(Instant from, Instant to)
    {
        return std::chrono::duration<double>(to - from).count();
    }

    Count m_told; // where the last span of ours ended
    std::optional<Count> m_counted;
    double m_ours = 0;
    std::optional<double> m_all;
};

inline void AskedRate::note(Instant now, qint64 asked)
{
    const double seconds = secondsBetween(m_told.at, now);
    if (m_all || seconds < shortestSpan)
        return;
    m_ours = static_cast<double>(asked - m_told.asked) / seconds;
    m_told.at = now;
    m_told.asked = asked;
}

inline void AskedRate::noteServed(Instant now, qint64 asked, std::optional<qint64> served, int servers)
{
    const auto before = m_counted;
    // A server that began anew, or is another one, counts from elsewhere.
    const bool isComparable = served && before && before->servers == servers && before->served <= *served;
    if (isComparable && secondsBetween(before->at, now) < shortestSpan)
        return;
    m_all.reset();
    m_counted.reset();
    if (served)
        m_counted = Count{now, asked, *served, servers};
    if (!isComparable)
        return;
    const double seconds = secondsBetween(before->at, now);
    m_ours = static_cast<double>(asked - before->asked) / seconds;
    m_all = static_cast<double>(*served - before->served) / seconds;
    m_told = *m_counted;
}

} // namespace lockscope::inspect
