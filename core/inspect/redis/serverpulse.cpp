// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/serverpulse.h"

namespace lockscope::inspect {

namespace {

constexpr int servedEvery = 5; // beats

} // namespace

Task<bool> ServerPulse::beat()
{
    const bool isCount = m_tellsServed && ++m_beats % servedEvery == 0;
    auto asking = isCount ? m_reader.askStats() : m_reader.ping();
    const auto heard = co_await asking;
    const auto now = m_loop.now();
    if (isCount) {
        std::optional<qint64> served;
        if (heard && !heard->front().isError())
            served = commandsServedIn(heard->front().text);
        m_tellsServed = served || !heard;
        m_asked.noteServed(now, m_reader.requests(), served);
    }
    m_asked.note(now, m_reader.requests());
    co_return static_cast<bool>(heard);
}

Cost ServerPulse::cost() const
{
    Cost cost;
    m_asked.putInto(cost);
    return cost;
}

} // namespace lockscope::inspect
