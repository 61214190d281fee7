// SPDX-License-Identifier: Apache-2.0
// How much Lockscope asks of a connection's servers in a second, and how much all their clients ask together, by the
// servers' own count: both between the same two moments, so that the one can be held against the other. Pure.
#pragma once

#include "core/async/loop.h"
#include "core/inspect/snapshot.h"

namespace lockscope::inspect {

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

    Count m_told; // where the last span of ours ended
    std::optional<Count> m_counted;
    double m_ours = 0;
    std::optional<double> m_all;
};

} // namespace lockscope::inspect
