// SPDX-License-Identifier: Apache-2.0
// Asks a Redis once a second whether it answers, by how often databases were swapped: no invalidation message reports
// that all keys are others since. Every few times also how many commands it was sent, to know how large a share of
// them the observer's are, and which databases have keys. Loop thread only.
#pragma once

#include "core/inspect/pace.h"
#include "core/inspect/redis/observerreader.h"
#include "core/inspect/redis/otherdatabases.h"

#include <functional>

namespace lockscope::inspect {

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
