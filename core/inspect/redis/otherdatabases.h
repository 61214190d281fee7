// SPDX-License-Identifier: Apache-2.0
// Reads from INFO what a connection to one database of a Redis does not show: keys in the other databases, and that
// two databases were swapped, which no invalidation message reports.
#pragma once

#include "core/inspect/redis/observerreader.h"

#include <optional>

namespace lockscope::inspect {

// From the answer to INFO keyspace: which databases but `own` have keys. Empty: none. Of a cluster all nodes count.
// `withCounts`: how many keys, too. They change all the time, so that a view that lasts leaves them out.
[[nodiscard]] QString otherDatabasesIn(const redis::Value &keyspace, int own, bool withCounts);
// Says so among what is not seen.
class OtherDatabases {
public:
    OtherDatabases(Refusals &refusals, int own, bool withCounts)
        : m_refusals(refusals), m_own(own), m_withCounts(withCounts)
    {
    }
    void note(const redis::Value &keyspace)
    {
        m_refusals.say(QStringLiteral("databases"), otherDatabasesIn(keyspace, m_own, m_withCounts));
    }

private:
    Refusals &m_refusals;
    const int m_own;
    const bool m_withCounts;
};
// From the answer to INFO commandstats: how often SWAPDB was called. Empty: the server does not say, or is a cluster,
// which has no SWAPDB.
[[nodiscard]] std::optional<qint64> swapsIn(const redis::Value &commandStats);

} // namespace lockscope::inspect
