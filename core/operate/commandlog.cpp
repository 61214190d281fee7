// SPDX-License-Identifier: Apache-2.0
#include "core/operate/commandlog.h"

namespace lockscope::operate {

quint64 CommandLog::add(LogEntry entry)
{
    entry.number = m_next++;
    m_entries.push_back(std::move(entry));
    const auto number = m_entries.back().number;
    if (m_listener)
        m_listener(m_entries.back());
    while (m_entries.size() > m_capacity)
        m_entries.pop_front();
    return number;
}

void CommandLog::finish(quint64 number, const QString &outcome, std::chrono::microseconds took)
{
    // Numbers run without a gap, so the place follows from the number.
    if (m_entries.empty() || number < m_entries.front().number || number > m_entries.back().number)
        return; // pushed out by newer ones meanwhile
    auto &entry = m_entries[static_cast<std::size_t>(number - m_entries.front().number)];
    entry.outcome = outcome;
    entry.took = took;
    if (m_listener)
        m_listener(entry);
}

} // namespace lockscope::operate
