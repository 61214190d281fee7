// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/redis/serverpulse.h"

namespace lockscope::inspect {

namespace {

constexpr int servedEvery = 5; // beats
constexpr std::chrono::seconds silentAfter(2);

} // namespace

std::vector<redis::Command> ServerPulse::questions(bool isCount) const
{
    std::vector<redis::Command> all;
    all.push_back(m_tellsSwaps ? redis::Command{"INFO", "commandstats"} : redis::Command{"PING"});
    if (isCount)
        all.push_back(redis::Command{"INFO", "keyspace"});
    if (isCount && m_tellsServed)
        all.push_back(redis::Command{"INFO", "stats"});
    return all;
}

Task<ServerPulse::Heard> ServerPulse::beat()
{
    const bool isCount = ++m_beats % servedEvery == 0;
    m_silence = m_loop.callAt(m_loop.now() + silentAfter, [this] {
        m_isSilent = true;
        m_wentSilent();
    });
    auto asking = m_reader.send(questions(isCount));
    const auto answers = co_await asking;
    m_silence.cancel();
    m_isSilent = !answers;
    const auto now = m_loop.now();
    Heard heard;
    heard.isAnswered = static_cast<bool>(answers);
    if (answers && m_tellsSwaps) {
        const auto swaps = swapsIn(answers->front());
        m_tellsSwaps = swaps.has_value();
        heard.isSwapped = swaps && m_swaps && *swaps != *m_swaps;
        m_swaps = swaps;
    }
    if (answers && isCount)
        m_databases.note((*answers)[1]);
    if (isCount && m_tellsServed) {
        std::optional<qint64> served;
        if (answers && !answers->back().isError())
            served = commandsServedIn(answers->back().text);
        m_tellsServed = served || !answers;
        m_asked.noteServed(now, m_reader.requests(), served);
    }
    m_asked.note(now, m_reader.requests());
    co_return heard;
}

Cost ServerPulse::cost() const
{
    Cost cost;
    m_asked.putInto(cost);
    return cost;
}

} // namespace lockscope::inspect
