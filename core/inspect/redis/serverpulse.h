// SPDX-License-Identifier: Apache-2.0
// Asks a Redis once a second whether it answers; every few times by what it says of how many commands it was sent, so
// that nothing more is asked to know how large a share of them the observer's are. Loop thread only.
#pragma once

#include "core/inspect/askedrate.h"
#include "core/inspect/redis/observerreader.h"

namespace lockscope::inspect {

class ServerPulse {
public:
    // Both outlive the tasks.
    ServerPulse(const Loop &loop, KeyReader &reader) : m_loop(loop), m_reader(reader) {}

    void connected() { m_tellsServed = true; } // rights may have changed
    // Whether it was answered.
    Task<bool> beat();
    [[nodiscard]] Cost cost() const;

private:
    const Loop &m_loop;
    KeyReader &m_reader;
    AskedRate m_asked;
    int m_beats = 0;
    bool m_tellsServed = true; // until it was asked and did not
};

} // namespace lockscope::inspect
