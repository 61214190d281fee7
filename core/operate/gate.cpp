// SPDX-License-Identifier: Apache-2.0
#include "core/operate/gate.h"

#include "core/base/text.h"

namespace lockscope::operate {

Gate::Gate(ConnectionName connection, bool readOnly, bool production, CommandLog &log)
    : m_connection(std::move(connection)), m_readOnly(readOnly), m_production(production), m_log(log)
{
}

void Gate::setReadOnly(bool readOnly)
{
    if (m_readOnlyForGood)
        readOnly = true;
    if (readOnly == m_readOnly)
        return;
    m_readOnly = readOnly;
    state(readOnly ? u"made read-only"_s : u"armed: writes are allowed from now on"_s);
}

void Gate::lockReadOnly()
{
    setReadOnly(true);
    m_readOnlyForGood = true;
}

QString Gate::remedy() const
{
    return m_readOnlyForGood
               ? u"start without --read-only to allow writes"_s
               : u"allow writes on it first (lockscopectl: --allow-writes %1)"_s.arg(escaped(m_connection.bytes()));
}

LogEntry Gate::entryOf(LogEntry::Kind kind, const QString &text) const
{
    LogEntry entry;
    entry.time = std::chrono::system_clock::now();
    entry.connection = m_connection;
    entry.kind = kind;
    entry.text = text;
    return entry;
}

Result<quint64> Gate::enter(const QString &text, bool write)
{
    auto entry = entryOf(LogEntry::Kind::Sent, text);
    entry.write = write;
    if (write && m_readOnly) {
        entry.refused = true;
        entry.outcome = u"refused: read-only, nothing was sent"_s;
        m_log.add(std::move(entry));
        return Error{ErrorCode::Refused, u"%1 is read-only: \"%2\" was refused and nothing was sent; %3"_s.arg(
                                             escaped(m_connection.bytes()), text, remedy())};
    }
    ++m_requestsSent;
    if (write)
        ++m_writesSent;
    return m_log.add(std::move(entry));
}

void Gate::leave(quint64 entry, const QString &outcome, Duration took)
{
    m_latency = took;
    m_log.finish(entry, outcome, took);
}

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
