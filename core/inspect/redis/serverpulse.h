// SPDX-License-Identifier: Apache-2.0
// Asks a Redis once a second whether it answers, by how often databases were swapped: no invalidation message reports
// that all keys are others since. Every few times also how many commands it was sent, to know how large a share of
// them the observer's are, and which databases have keys. Loop thread only.
#pragma once

#include "core/inspect/redis/observerreader.h"

namespace lockscope::inspect {

// From INFO stats: how many commands the server was sent so far. Empty where it does not say, or where many nodes do:
// what all of them are asked is one request of ours.
[[nodiscard]] std::optional<qint64> commandsServedIn(const QByteArray &info);

// Reads from INFO what a connection to one database of a Redis does not show: keys in the other databases, and that
// two databases were swapped, which no invalidation message reports.

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

class ServerPulse {
public:
    // All outlive the tasks. `wentSilent`: some seconds after an answer is due.
    ServerPulse(Loop &loop, KeyReader &reader, OtherDatabases &databases, std::function<void()> wentSilent)
        : m_loop(loop), m_reader(reader), m_databases(databases), m_wentSilent(std::move(wentSilent))
    {
    }

    struct Heard {
        bool isAnswered = false;
        bool isSwapped = false; // a database, since the last beat that was answered
    };

    void connected() // rights may have changed, and the server may be another one
    {
        m_tellsServed = m_tellsSwaps = true;
        m_swaps.reset();
        broke();
    }
    void broke() // what is out is not waited for
    {
        m_silence.cancel();
        m_isSilent = false;
    }
    // Connected, and does not answer: keys may have ended since.
    [[nodiscard]] bool isSilent() const { return m_isSilent; }
    Task<Heard> beat();
    [[nodiscard]] Cost cost() const;

private:
    [[nodiscard]] std::vector<redis::Command> questions(bool isCount) const;

    Loop &m_loop;
    KeyReader &m_reader;
    OtherDatabases &m_databases;
    const std::function<void()> m_wentSilent;
    Timer m_silence;
    bool m_isSilent = false;
    AskedRate m_asked;
    int m_beats = 0;
    bool m_tellsServed = true; // until it was asked and did not
    bool m_tellsSwaps = true;
    std::optional<qint64> m_swaps; // as told last
};

} // namespace lockscope::inspect
